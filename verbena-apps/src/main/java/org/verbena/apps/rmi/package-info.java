// SPDX-License-Identifier: Apache-2.0
/** A server and a client of RMI, which stands on classic sockets. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.rmi;
