// SPDX-License-Identifier: Apache-2.0
/** Registered memory of the transport {@code stream}: control blocks and their words, rings, what is sent from; knows no session. */
package org.verbena.sockets.stream.memory;
