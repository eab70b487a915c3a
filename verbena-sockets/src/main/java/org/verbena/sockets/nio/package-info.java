// SPDX-License-Identifier: Apache-2.0
/** Channels, their socket adaptors, selectors and classic sockets, over {@code org.verbena.sockets.stream}. */
package org.verbena.sockets.nio;
