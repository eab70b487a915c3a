// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Errno;
import org.verbena.stack.udp.UdpPorts;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.verbs.VerbsException;

/** A port for UDP at the address of a {@link Stack}. Any thread may call any method; each datagram goes to one that receives. */
public final class UdpSocket implements AutoCloseable {
    /** Bytes that may wait at a socket, as Linux has it ({@code net.core.rmem_default}). */
    public static final int DEFAULT_QUEUE = 212_992;

    /** More than fits in a {@code long} of nanoseconds is not far. */
    private static final Duration LONGEST = Duration.ofDays(100_000);

    /** Between looks for a free buffer. */
    private static final long BUFFER_PAUSE = 20_000;

    private final Stack stack;
    private final UdpQueue queue;
    private final Condition arrival;
    private boolean closed;

    UdpSocket(Stack stack, UdpQueue queue) {
        this.stack = stack;
        this.queue = queue;
        arrival = stack.lock.newCondition();
        queue.onArrival(arrival::signal);
    }

    /** The port of this end. */
    public int port() {
        return queue.port();
    }

    /**
     * From now on datagrams of that peer alone are received, and ICMP errors of packets to it are reported, as connect(2) has it. What has come
     * before is dropped.
     */
    public void connect(UdpPeer peer) throws IOException {
        stack.lock.lock();
        try {
            requireOpen();
            queue.connect(peer.address, peer.port);
        } finally {
            stack.lock.unlock();
        }
    }

    /**
     * Sends all bytes that remain, as one datagram. While no buffer is free, it waits.
     *
     * @throws NoRouteToHostException if the peer is in another subnet and there is no gateway
     * @throws PortUnreachableException if an earlier datagram of a connected socket was refused: then this one is not sent
     * @throws IOException {@code EMSGSIZE} for more than 65,507 bytes, {@code EINVAL} for the stack's own address, for port 0 and for addresses
     *     that are not of a host or of all
     */
    public void send(ByteBuffer bytes, UdpPeer to) throws IOException {
        while (true) {
            stack.lock.lock();
            try {
                requireOpen();
                throwError();
                int wrong = stack.udp.send(queue, bytes, to.address, to.port, stack.now());
                if (wrong == 0) {
                    return;
                }
                if (wrong != Errno.ENOBUFS) {
                    throw failure(wrong, bytes, to);
                }
            } finally {
                stack.lock.unlock();
            }
            LockSupport.parkNanos(BUFFER_PAUSE);
        }
    }

    private static IOException failure(int errno, ByteBuffer bytes, UdpPeer to) {
        return switch (errno) {
            case Errno.ENETUNREACH -> new NoRouteToHostException("no way to " + to
                    + ": it is in another subnet, and the stack has no gateway");
            case Errno.EMSGSIZE -> new VerbsException("send to " + to, errno, bytes.remaining()
                    + " bytes are more than the " + UdpPorts.MOST
                    + " of a datagram");
            default -> new VerbsException("send to " + to, errno, "that is not the address and port of another host");
        };
    }

    /**
     * Receives a datagram behind the buffer's position; what does not fit is lost.
     *
     * @param from is told who sent it
     * @return false if none came in time
     * @throws PortUnreachableException if a datagram of this connected socket was refused
     * @throws ClosedChannelException if the socket or the stack is closed
     */
    public boolean receive(ByteBuffer into, UdpPeer from, Duration timeout) throws IOException, InterruptedException {
        long left = timeout.compareTo(LONGEST) > 0 ? Long.MAX_VALUE : Math.max(timeout.toNanos(), 0);
        stack.lock.lock();
        try {
            while (true) {
                requireOpen();
                throwError();
                if (!queue.isEmpty()) {
                    from.address = queue.source();
                    from.port = queue.sourcePort();
                    queue.take(into);
                    return true;
                }
                if (left <= 0) {
                    return false;
                }
                left = arrival.awaitNanos(left);
            }
        } finally {
            stack.lock.unlock();
        }
    }

    private void throwError() throws IOException {
        int e = queue.takeError();
        if (e == Errno.ECONNREFUSED) {
            throw new PortUnreachableException("nobody is at the port of the peer");
        }
        if (e != 0) {
            throw new ConnectException(Errno.name(e) + ": the peer cannot be reached");
        }
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        stack.requireOpen();
    }

    void wake() {
        arrival.signalAll();
    }

    /** Gives the port back; calls that wait throw {@link ClosedChannelException}. */
    @Override
    public void close() {
        stack.lock.lock();
        try {
            closed = true;
            stack.forget(this, queue);
            arrival.signalAll();
        } finally {
            stack.lock.unlock();
        }
    }
}
