// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.Ipv4;
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
    private static final long LONGEST_SEND = 1_000_000_000L;

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
     * From now on datagrams of that peer alone are received, and a send or receive throws if it has refused one, as connect(2) has it. What has come
     * before is dropped. Another call connects to another peer.
     *
     * @throws IOException as {@link #send}, for a peer that none can be sent to
     */
    public void connect(UdpPeer peer) throws IOException {
        stack.lock.lock();
        try {
            requireOpen();
            int wrong = stack.udp.way(peer.address, peer.port);
            if (wrong != 0) {
                throw failure(wrong, 0, peer);
            }
            queue.connect(peer.address, peer.port);
        } finally {
            stack.lock.unlock();
        }
    }

    /**
     * Sends all bytes that remain, as one datagram. While no buffer is free, it waits, for a second at most.
     *
     * @throws NoRouteToHostException if the peer is in another subnet and there is no gateway
     * @throws PortUnreachableException if an earlier datagram of a connected socket was refused: then this one is not sent
     * @throws InterruptedIOException if the thread is interrupted while it waits: then nothing is sent, and it is interrupted still
     * @throws IOException {@code EMSGSIZE} for more than 65,507 bytes, or more fragments than the stack sends, {@code EINVAL} for port 0 and for
     *     addresses that are not of a host or of all, {@code ENOBUFS} if no buffer became free
     */
    public void send(ByteBuffer bytes, UdpPeer to) throws IOException {
        long began = 0;
        while (true) {
            stack.lock.lock();
            try {
                requireOpen();
                throwError();
                int wrong = stack.udp.send(queue, bytes, to.address, to.port, stack.now());
                if (wrong == 0) {
                    return;
                }
                if (wrong != Errno.ENOBUFS || began != 0 && stack.now() - began > LONGEST_SEND) {
                    throw failure(wrong, bytes.remaining(), to);
                }
            } finally {
                stack.lock.unlock();
            }
            began = began == 0 ? stack.now() : began;
            LockSupport.parkNanos(BUFFER_PAUSE);
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted while no buffer was free to send to " + to);
            }
        }
    }

    private static IOException failure(int errno, int bytes, UdpPeer to) {
        return switch (errno) {
            case Errno.ENETUNREACH -> new NoRouteToHostException("no way to " + to
                    + ": it is in another subnet, and the stack has no gateway");
            case Errno.EMSGSIZE -> new VerbsException("send to " + to, errno, bytes + " bytes are more than the "
                    + UdpPorts.MOST
                    + " of a datagram, or more than " + Ipv4.MOST_FRAGMENTS + " fragments");
            case Errno.ENOBUFS -> new VerbsException("send to " + to, errno,
                    "the device has sent nothing for a second: is its interface down?");
            default -> new VerbsException("send to " + to, errno,
                    "that is not the address and port of a host, nor of all");
        };
    }

    /**
     * Receives a datagram behind the buffer's position; what does not fit is lost. It polls for the time of {@link StackConfig#withSpin}, then
     * sleeps.
     *
     * @param from is told who sent it
     * @param timeout 0 for a single look
     * @return false if none came in time
     * @throws PortUnreachableException if a datagram of this connected socket was refused
     * @throws ClosedChannelException if the socket or the stack is closed
     */
    public boolean receive(ByteBuffer into, UdpPeer from, Duration timeout) throws IOException, InterruptedException {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("the buffer is read-only");
        }
        long left = timeout.isNegative() ? 0 : timeout.compareTo(LONGEST) > 0 ? Long.MAX_VALUE : timeout.toNanos();
        long began = left == 0 ? 0 : stack.now(); // a single look needs no clock, which costs as much as the lock
        while (true) {
            stack.lock.lock();
            try {
                if (takes(into, from)) {
                    return true;
                }
                // One look at the device at least: so does who never waits all the work.
                if (left == 0 || stack.spin() > 0) {
                    stack.poll();
                    if (takes(into, from)) {
                        return true;
                    }
                }
                if (left == 0) {
                    return false;
                }
                long waited = stack.now() - began;
                if (waited >= left) {
                    return false;
                }
                if (waited >= stack.spin()) {
                    return sleep(into, from, left - waited);
                }
            } finally {
                stack.lock.unlock();
            }
            Thread.onSpinWait(); // others may have the lock
        }
    }

    /** Waits for the stack's thread, or another receiver's, to bring a datagram; with the lock. */
    private boolean sleep(ByteBuffer into, UdpPeer from, long nanos) throws IOException, InterruptedException {
        stack.stopPolling();
        for (long left = nanos; left > 0;) {
            left = arrival.awaitNanos(left);
            if (takes(into, from)) {
                return true;
            }
        }
        return false;
    }

    /** Takes a datagram if there is one; with the lock. */
    private boolean takes(ByteBuffer into, UdpPeer from) throws IOException {
        requireOpen();
        throwError();
        if (queue.isEmpty()) {
            return false;
        }
        int address = queue.source();
        int port = queue.sourcePort();
        queue.take(into);
        from.address = address;
        from.port = port;
        return true;
    }

    private void throwError() throws PortUnreachableException {
        if (queue.takeError() != 0) {
            throw new PortUnreachableException("nobody is at the port of the peer");
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
