// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.PacketSocket;
import org.verbena.linux.Sys;
import org.verbena.linux.Xsk;
import org.verbena.xdp.program.Spread;

/** Limits of all devices. */
final class XdpLimits {
    /** The unit of memory that a packet, or a part of one, is received into. */
    static final int CHUNK = Sys.pageSize();
    /** Where a packet begins in its chunk. */
    static final int RECEIVE_OFFSET = Xsk.XDP_PACKET_HEADROOM;
    /** Bytes of a packet that fit into a chunk. */
    static final int RECEIVE_BYTES = CHUNK - RECEIVE_OFFSET;
    /** Where a packet that was copied to be sent begins in its chunk: before it is room for metadata. */
    static final int STAGING_OFFSET = 64;
    /** Bytes of a packet that fit into a chunk of those. */
    static final int STAGING_BYTES = CHUNK - STAGING_OFFSET;
    /** Chunks behind each region that the packets of its queue pairs are copied to. */
    static final int STAGING_CHUNKS = 4096;
    /** A frame's own header, and a VLAN tag, which the MTU does not count. */
    static final int LINK_HEADERS = 14 + 4;
    static final int SHORTEST_FRAME = 14;
    /** Descriptors of a packet: MAX_SKB_FRAGS + 1 of the kernel. */
    static final int MAX_PIECES = 18;

    /** Bytes of a send that is cut into segments, with one set of headers: what a length of IPv4 can say, and Ethernet. */
    static final int MAX_SEGMENTED = PacketSocket.MAX_FRAME;
    static final int MAX_TSO_HEADER = 192;

    static final int MAX_WR = 4096;
    static final int MAX_SGE = 16;
    static final int MAX_INLINE = 2048;
    static final int MAX_CQ = 1 << 12;
    static final int MAX_CQE = 1 << 20;
    /** Work queues that one context can use; a queue pair with flows needs a target for each of its table, and its own. */
    static final int MAX_WQ = 128;
    static final int MAX_TABLES = 1 << 10;
    static final int MAX_TABLE = Spread.MAX_ENTRIES;
    static final int MAX_MR = 1 << 12;
    static final int MAX_PD = 1 << 12;
    static final long MAX_REGION = 1L << 32;

    private XdpLimits() {}

    /** Chunks that the longest frame takes when it is copied. */
    static int pieces(int mtu) {
        return Math.min(MAX_PIECES, (mtu + LINK_HEADERS + STAGING_BYTES - 1) / STAGING_BYTES);
    }

    /** Bytes of the longest frame. */
    static int longestFrame(int mtu) {
        return Math.min(mtu + LINK_HEADERS, MAX_PIECES * STAGING_BYTES);
    }

    /** Requests of a queue on an interface with that MTU, a power of two. */
    static int maxRequests(int mtu) {
        return Math.min(MAX_WR, Integer.highestOneBit(STAGING_CHUNKS / pieces(mtu)));
    }
}
