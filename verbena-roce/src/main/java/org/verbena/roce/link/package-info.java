// SPDX-License-Identifier: Apache-2.0
/**
 * Packets on the network: the invariant CRC, and the UDP sockets that carry them.
 *
 * <p>{@link org.verbena.roce.link.UdpWire} is the wire of one context: a socket for each of its GIDs, which needs no
 * privilege. What arrives with a wrong CRC is counted
 * and dropped here; what a packet means is the transport's.
 */
package org.verbena.roce.link;
