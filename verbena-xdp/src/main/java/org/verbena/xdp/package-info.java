// SPDX-License-Identifier: Apache-2.0
/**
 * The provider {@code xdp_<netdev>}: queue pairs of type RAW_PACKET, which send and receive whole Ethernet frames by
 * AF_XDP. A queue pair is a socket on one queue of the interface, its receive queue the FILL and RX rings, its send queue
 * the TX and COMPLETION rings, and memory from {@code ProtectionDomain.allocate} the UMEM. It knows nothing of what is
 * inside a frame but where checksums are.
 */
@NullMarked
package org.verbena.xdp;

import org.jspecify.annotations.NullMarked;
