// SPDX-License-Identifier: Apache-2.0
/**
 * Packets on the network: the invariant CRC, and the UDP sockets that carry them.
 *
 * <p>{@link org.verbena.roce.link.UdpWire} is the wire of one context: a socket for each of its GIDs, which needs no
 * privilege. Packets with a wrong CRC are counted and dropped here; the transport interprets the rest.
 */
package org.verbena.roce.link;
