// SPDX-License-Identifier: Apache-2.0
/** The transport {@code stream}: the bytes of a TCP connection, by TCP or through rings in registered memory. */
package org.verbena.sockets.stream;
