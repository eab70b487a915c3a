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
public final class UdpSocket implements AutoCloseable, Engine.Sleeper {
    /** Bytes that may wait at a socket, as Linux has it ({@code net.core.rmem_default}). */
    public static final int DEFAULT_QUEUE = 212_992;

    /** Between looks for a free buffer. */
    private static final long BUFFER_PAUSE = 20_000;
    private static final long LONGEST_SEND = 1_000_000_000L;

    private final Engine engine;
    private final UdpQueue queue;
    private final Condition arrival;
    private boolean closed;

    UdpSocket(Engine engine, UdpQueue queue) {
        this.engine = engine;
        this.queue = queue;
        arrival = engine.lock.newCondition();
        queue.onArrival(arrival::signal);
    }

    /** The port of this end. */
    public int port() {
        return queue.port();
    }

    /** Bytes that wait, with those beside each datagram. */
    int waiting() {
        engine.lock.lock();
        try {
            return queue.used();
        } finally {
            engine.lock.unlock();
        }
    }

    /** How many datagrams have come that had no room to wait. */
    public long dropped() {
        engine.lock.lock();
        try {
            return queue.dropped();
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * From now on datagrams of that peer alone are received, and a send or receive throws if it has refused one, as connect(2) has it. What has come
     * before is dropped. Another call connects to another peer.
     *
     * @throws IOException as {@link #send}, for a peer that none can be sent to
     */
    public void connect(UdpPeer peer) throws IOException {
        engine.lock.lock();
        try {
            requireOpen();
            int wrong = engine.udp.way(peer.address, peer.port);
            if (wrong != 0) {
                throw failure(wrong, 0, peer);
            }
            queue.connect(peer.address, peer.port);
        } finally {
            engine.lock.unlock();
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
            engine.lock.lock();
            try {
                requireOpen();
                throwError();
                int wrong = engine.udp.send(queue, bytes, to.address, to.port, engine.now());
                if (wrong == 0) {
                    return;
                }
                if (wrong != Errno.ENOBUFS || began != 0 && engine.now() - began > LONGEST_SEND) {
                    throw failure(wrong, bytes.remaining(), to);
                }
            } finally {
                engine.lock.unlock();
            }
            began = began == 0 ? engine.now() : began;
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
        long left = Engine.nanos(timeout);
        long began = left == 0 ? 0 : engine.now(); // a single look needs no clock, which costs as much as the lock
        engine.lock.lock();
        try {
            for (int i = 0;; i++) {
                if (takes(into, from)) {
                    return true;
                }
                if (!engine.await(arrival, began, left, i)) {
                    return false;
                }
            }
        } catch (InterruptedIOException e) {
            Thread.interrupted();
            throw new InterruptedException(e.getMessage());
        } finally {
            engine.lock.unlock();
        }
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
        engine.requireOpen();
    }

    @Override
    public void wake() {
        arrival.signalAll();
    }

    /** Gives the port back; calls that wait throw {@link ClosedChannelException}. */
    @Override
    public void close() {
        engine.lock.lock();
        try {
            closed = true;
            if (engine.remove(this)) {
                engine.udp.close(queue);
            }
            arrival.signalAll();
        } finally {
            engine.lock.unlock();
        }
    }
}
