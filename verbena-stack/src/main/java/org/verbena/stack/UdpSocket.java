// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.udp.Memberships;
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
            int wrong = engine.udp.way(peer.high, peer.low, peer.port);
            if (wrong != 0) {
                throw failure(wrong, 0, peer);
            }
            queue.connect(peer.high, peer.low, peer.port);
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * Sends all bytes that remain, as one datagram. While no buffer is free, it waits, for a second at most.
     *
     * @throws NoRouteToHostException if the peer is in another subnet and there is no gateway
     * @throws PortUnreachableException if an earlier datagram of a connected socket was refused: then this one is not sent; {@code EACCES} if a filter on the
     *     way has said so
     * @throws InterruptedIOException if the thread is interrupted while it waits: then nothing is sent, and it is interrupted still
     * @throws IOException {@code EMSGSIZE} for more than 65,507 bytes, 65,527 over IPv6, or more fragments than the stack sends, {@code EINVAL} for port 0 and for
     *     addresses that are not of a host or of all, {@code ENOBUFS} if no buffer became free
     */
    public void send(ByteBuffer bytes, UdpPeer to) throws IOException {
        long began = 0;
        while (true) {
            engine.lock.lock();
            try {
                requireOpen();
                throwError();
                int wrong = engine.udp.send(queue, bytes, to.high, to.low, to.port, engine.now());
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

    private IOException failure(int errno, int bytes, UdpPeer to) {
        return switch (errno) {
            case Errno.ENETUNREACH -> new NoRouteToHostException("no way to " + to
                    + engine.whyNoWay());
            case Errno.EMSGSIZE -> new VerbsException("send to " + to, errno, bytes + " bytes are more than the "
                    + UdpPorts.most(to.high, to.low)
                    + " of a datagram, or more than " + Ip.MOST_FRAGMENTS + " fragments");
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
     * @throws PortUnreachableException if a datagram of this connected socket was refused; {@code EACCES} if a filter on the way has said so
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
        long high = queue.sourceHigh();
        long low = queue.sourceLow();
        int port = queue.sourcePort();
        queue.take(into);
        from.high = high;
        from.low = low;
        from.port = port;
        return true;
    }

    private void throwError() throws IOException {
        int error = queue.takeError();
        if (error == Errno.EACCES) {
            throw new VerbsException("send", error, "a host on the way does not let packets to the peer pass");
        }
        if (error != 0) {
            throw new PortUnreachableException("nobody is at the port of the peer");
        }
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        engine.requireOpen();
    }

    /**
     * Takes datagrams that any host sends to a group of hosts, at this socket's port, and tells the routers of the link (IGMPv3, MLDv2).
     *
     * @throws IOException {@code EINVAL} for an address that is no group's, {@code EADDRINUSE} if it is in the group already, {@code ENOBUFS} if it is in 20, or
     *     the stack in 256, {@code ENETUNREACH} without an address of that version of IP
     */
    public void join(InetAddress group) throws IOException {
        change("join", group, (m, g, now) -> m.join(queue, g, now));
    }

    /**
     * Takes datagrams that one host sends to a group, as IP_ADD_SOURCE_MEMBERSHIP has it; those of several hosts after several calls.
     *
     * @throws IOException as the other; {@code EADDRINUSE} if those of that host are taken already, {@code EINVAL} if the group was joined for all,
     *     {@code ENOBUFS} for more than 64 hosts, {@code EAFNOSUPPORT} if the addresses are of different versions of IP
     */
    public void join(InetAddress group, InetAddress source) throws IOException {
        change("join", group, (m, g, now) -> m.join(queue, g, IpAddress.of(source), now));
    }

    /**
     * Takes no more what one host sends to a group that was joined for all, as IP_BLOCK_SOURCE has it.
     *
     * @throws IOException {@code EADDRNOTAVAIL} if the group was not joined for all, {@code EADDRINUSE} if that host is blocked already, {@code ENOBUFS} for more
     *     than 64 hosts
     */
    public void block(InetAddress group, InetAddress source) throws IOException {
        change("block a sender to", group, (m, g, now) -> m.block(queue, g, IpAddress.of(source), now));
    }

    /**
     * Takes what a host sends that was blocked.
     *
     * @throws IOException {@code EADDRNOTAVAIL} if it is not blocked
     */
    public void unblock(InetAddress group, InetAddress source) throws IOException {
        change("unblock a sender to", group, (m, g, now) -> m.unblock(queue, g, IpAddress.of(source), now));
    }

    /**
     * Takes no more what one host sends to a group.
     *
     * @throws IOException {@code EADDRNOTAVAIL} if it was not joined for that host
     */
    public void leave(InetAddress group, InetAddress source) throws IOException {
        change("leave", group, (m, g, now) -> m.leave(queue, g, IpAddress.of(source), now));
    }

    /**
     * Takes nothing more that is sent to a group.
     *
     * @throws IOException {@code EADDRNOTAVAIL} if it is not in the group
     */
    public void leave(InetAddress group) throws IOException {
        change("leave", group, (m, g, now) -> m.leave(queue, g, now));
    }

    /** A call of {@link Memberships}. */
    private interface Change {
        int apply(Memberships m, IpAddress group, long now);
    }

    private void change(String what, InetAddress group, Change change) throws IOException {
        engine.lock.lock();
        try {
            requireOpen();
            int wrong = change.apply(engine.udp.memberships(), IpAddress.of(group), engine.now());
            if (wrong != 0) {
                throw new VerbsException(what + " " + group.getHostAddress(), wrong, switch (wrong) {
                    case Errno.EINVAL -> "that is not the address of a group, or it was joined for all senders";
                    case Errno.ENOBUFS -> "a socket may be in " + Memberships.MOST_GROUPS + " groups and name "
                            + Memberships.MOST_SENDERS + " senders of each, and a stack has room for 256 groups; "
                            + "with the kernel net.ipv4.igmp_max_memberships and igmp_max_msf count as well";
                    case Errno.ENETUNREACH -> "the stack has no address of that version of IP";
                    case Errno.EAFNOSUPPORT -> "the sender's address is not of the same version of IP";
                    case Errno.EADDRINUSE -> "that was done before";
                    case Errno.EADDRNOTAVAIL -> "that was not joined before";
                    case Errno.EEXIST -> "another process has these packets";
                    default -> "the kernel does not join it";
                });
            }
            engine.changed();
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * How many routers datagrams to groups pass at most, and 1 more: without this 1, so that they stay on the link; 0 for sockets of this stack alone.
     *
     * @throws IllegalArgumentException if it is not 0 to 255
     */
    public void setMulticastHops(int hops) throws IOException {
        if (hops < 0 || hops > 255) {
            throw new IllegalArgumentException(hops + " hops are not 0 to 255");
        }
        engine.lock.lock();
        try {
            requireOpen();
            queue.multicastHops(hops);
        } finally {
            engine.lock.unlock();
        }
    }

    /** Whether datagrams that this socket sends to a group come to a socket of this stack that is in it, as without this. */
    public void setMulticastLoop(boolean on) throws IOException {
        engine.lock.lock();
        try {
            requireOpen();
            queue.loops(on);
        } finally {
            engine.lock.unlock();
        }
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
                engine.udp.close(queue, engine.now());
                engine.changed();
            }
            arrival.signalAll();
        } finally {
            engine.lock.unlock();
        }
    }
}
