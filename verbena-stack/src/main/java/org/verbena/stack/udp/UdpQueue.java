// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

import org.verbena.linux.Errno;
import org.verbena.stack.header.IcmpMessage;

/** The datagrams that wait at a port, in a ring of bytes of a fixed size, each behind its length and sender. */
public final class UdpQueue {
    private static final int RECORD = 16;
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
    private int remote;
    private int remotePort;
    private boolean connected;
    private int error;
    private Runnable listener = () -> {};

    /**
     * An empty queue.
     *
     * @param bytes how much may wait, with 16 bytes and up to 7 more for each datagram; a multiple of 8
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
    public void connect(int address, int p) {
        remote = address;
        remotePort = p;
        connected = true;
        error = 0;
        used = 0; // what others have sent before is not for a connected socket
    }

    /** Whether {@link #connect} was called. */
    public boolean isConnected() {
        return connected;
    }

    boolean accepts(int source, int sourcePort) {
        return !connected || source == remote && sourcePort == remotePort;
    }

    /** Adds a datagram; false if there is no room. */
    public boolean offer(MemorySegment m, long at, int length, int source, int sourcePort) {
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
        ring.set(ValueLayout.JAVA_INT, place + 4, source);
        ring.set(ValueLayout.JAVA_INT, place + 8, sourcePort);
        MemorySegment.copy(m, at, ring, place + RECORD, length);
        tail = tail + bytes == size ? 0 : tail + bytes;
        used += bytes;
        listener.run();
        return true;
    }

    void fail(int type, int code, int destination, int destinationPort) {
        if (connected && destination == remote && destinationPort == remotePort) {
            // The others may pass: as Linux has it, a socket does not hear of them.
            if (type == IcmpMessage.UNREACHABLE && (code == IcmpMessage.PORT || code == IcmpMessage.PROTOCOL)) {
                error = Errno.ECONNREFUSED;
                listener.run();
            }
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

    /** The sender's address of the oldest datagram; there has to be one, as for all that follow. */
    public int source() {
        return ring.get(ValueLayout.JAVA_INT, first() + 4);
    }

    /** The sender's port. */
    public int sourcePort() {
        return ring.get(ValueLayout.JAVA_INT, first() + 8);
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
