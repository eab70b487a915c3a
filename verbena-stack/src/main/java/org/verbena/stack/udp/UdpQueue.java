// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.SourceFilter;

/** The datagrams that wait at a port, in a ring of bytes of a fixed size, each behind its length and sender. */
public final class UdpQueue {
    /** Hosts that were sent to and are remembered, at most: one of each hash. */
    private static final int RECENT_BITS = 6;
    private static final int RECENT = 1 << RECENT_BITS;

    private static final int RECORD = 24;
    private static final int SKIP = -1;

    private final int port;
    private final MemorySegment ring;
    private final ByteBuffer bytes;
    private final int size;
    /** Where the oldest datagram is, or bytes that are left out before it. */
    private int head;
    /** Where the next one goes. */
    private int tail;
    private int used;
    private long dropped;
    private long remoteHigh;
    private long remoteLow;
    private int remotePort;
    private long[] recent = new long[0];
    private boolean connected;
    private int error;
    private Runnable listener = () -> {};
    /** The groups that it is in, and of which senders. */
    private final List<IpAddress> groups = new ArrayList<>();
    private final List<SourceFilter> filters = new ArrayList<>();
    private int multicastHops = 1;
    private boolean loops = true;

    /**
     * An empty queue.
     *
     * @param bytes how much may wait, with 24 bytes and up to 7 more for each datagram; a multiple of 8
     */
    public UdpQueue(int port, int bytes) {
        this.port = port;
        size = bytes;
        ring = Arena.ofAuto().allocate(bytes, Long.BYTES);
        this.bytes = ring.asByteBuffer();
    }

    /** The port that it is at. */
    public int port() {
        return port;
    }

    /** Is run when a datagram or an error has come. */
    public void onArrival(Runnable l) {
        listener = l;
    }

    /** Takes datagrams of one sender only from now on, and errors of packets to it. */
    public void connect(long high, long low, int p) {
        remoteHigh = high;
        remoteLow = low;
        remotePort = p;
        connected = true;
        error = 0;
        used = 0; // what others have sent before is not for a connected socket
    }

    /** Whether {@link #connect} was called. */
    public boolean isConnected() {
        return connected;
    }

    boolean accepts(long high, long low, int p) {
        return !connected || low == remoteLow && high == remoteHigh && p == remotePort;
    }

    /** Routers that datagrams to groups pass at most. */
    public int multicastHops() {
        return multicastHops;
    }

    /** Sets {@link #multicastHops}: 0 to 255. */
    public void multicastHops(int hops) {
        multicastHops = hops;
    }

    /** Whether datagrams to groups come to sockets of this host as well. */
    public boolean loops() {
        return loops;
    }

    /** Sets {@link #loops}. */
    public void loops(boolean on) {
        loops = on;
    }

    /** The groups that it is in. */
    public List<IpAddress> groups() {
        return groups;
    }

    /** From which senders datagrams to a group are taken. */
    public SourceFilter filter(IpAddress group) {
        int i = groups.indexOf(group);
        return i < 0 ? SourceFilter.NONE : filters.get(i);
    }

    /** Sets {@link #filter}. */
    public void filter(IpAddress group, SourceFilter f) {
        int i = groups.indexOf(group);
        if (i >= 0) {
            groups.remove(i);
            filters.remove(i);
        }
        if (!f.equals(SourceFilter.NONE)) {
            groups.add(group);
            filters.add(f);
        }
    }

    /** Whether it takes what a sender has sent to a group. */
    boolean takes(long groupHigh, long groupLow, long high, long low) {
        for (int i = 0; i < groups.size(); i++) {
            IpAddress g = groups.get(i);
            if (g.low() == groupLow && g.high() == groupHigh) {
                return filters.get(i).accepts(high, low);
            }
        }
        return false;
    }

    /** Adds a datagram; false if there is no room. */
    public boolean offer(MemorySegment m, long at, int length, long high, long low, int sourcePort) {
        int bytes = RECORD + (length + 7 & ~7);
        if (used == 0) { // an empty ring has all its room in one piece
            head = 0;
            tail = 0;
        }
        int skipped = size - tail < bytes ? size - tail : 0;
        if ((long) used + skipped + bytes > size) {
            dropped++;
            return false;
        }
        if (skipped > 0) {
            ring.set(ValueLayout.JAVA_INT, tail, SKIP);
            used += skipped;
            tail = 0;
        }
        int place = tail;
        ring.set(ValueLayout.JAVA_INT, place, length);
        ring.set(ValueLayout.JAVA_INT, place + 4, sourcePort);
        ring.set(ValueLayout.JAVA_LONG, place + 8, high);
        ring.set(ValueLayout.JAVA_LONG, place + 16, low);
        MemorySegment.copy(m, at, ring, place + RECORD, length);
        tail = tail + bytes == size ? 0 : tail + bytes;
        used += bytes;
        listener.run();
        return true;
    }

    /** A datagram goes to a host. */
    void sentTo(long high, long low) {
        long[] r = recent;
        if (r.length == 0) {
            r = new long[2 * RECENT];
            recent = r;
        }
        int i = slot(high, low);
        r[i] = high;
        r[i + 1] = low;
    }

    /** Whether a host is among those that were sent to lately: others have nothing to tell of that (RFC 8201, 5.4). */
    boolean hasSentTo(long high, long low) {
        int i = slot(high, low);
        return recent.length > 0 && recent[i] == high && recent[i + 1] == low;
    }

    private static int slot(long high, long low) {
        long h = (high ^ low) * 0x9e37_79b9_7f4a_7c15L;
        return 2 * (int) (h >>> Long.SIZE - RECENT_BITS);
    }

    void fail(int errno, long high, long low, int destinationPort) {
        // The others may pass: as Linux has it, a socket does not hear of them.
        boolean lasts = errno == Errno.ECONNREFUSED || errno == Errno.EACCES;
        if (connected && lasts && accepts(high, low, destinationPort)) {
            error = errno;
            listener.run();
        }
    }

    /** The error that has come last, which is forgotten; 0 if there is none. */
    public int takeError() {
        int e = error;
        error = 0;
        return e;
    }

    /** Whether no datagram waits. */
    public boolean isEmpty() {
        return used == 0;
    }

    /** Bytes that are taken up. */
    public int used() {
        return used;
    }

    /** How many datagrams found no room. */
    public long dropped() {
        return dropped;
    }

    /** The first half of the sender's address of the oldest datagram; there has to be one, as for all that follow. */
    public long sourceHigh() {
        return ring.get(ValueLayout.JAVA_LONG, first() + 8);
    }

    /** The second half of the sender's address. */
    public long sourceLow() {
        return ring.get(ValueLayout.JAVA_LONG, first() + 16);
    }

    /** The sender's port. */
    public int sourcePort() {
        return ring.get(ValueLayout.JAVA_INT, first() + 4);
    }

    /** Takes the oldest datagram out; what does not fit is lost, as with recvfrom(2). */
    public void take(ByteBuffer into) {
        long at = first();
        int length = ring.get(ValueLayout.JAVA_INT, at);
        int n = Math.min(length, into.remaining());
        into.put(into.position(), bytes, (int) at + RECORD, n);
        into.position(into.position() + n);
        drop(RECORD + (length + 7 & ~7));
    }

    private long first() {
        if (size - head < RECORD || ring.get(ValueLayout.JAVA_INT, head) == SKIP) {
            drop(size - head);
        }
        return head;
    }

    private void drop(int n) {
        head = head + n == size ? 0 : head + n;
        used -= n;
    }
}
