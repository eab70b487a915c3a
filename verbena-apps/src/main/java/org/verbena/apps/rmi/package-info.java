// SPDX-License-Identifier: Apache-2.0
/** A server and a client of RMI, which uses classic sockets. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.rmi;
