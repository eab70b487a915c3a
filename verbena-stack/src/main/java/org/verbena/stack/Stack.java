// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.stack.ip.Counts;
import org.verbena.stack.ip.Ipv4;
import org.verbena.stack.udp.UdpPorts;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.stack.wire.QueuePairWire;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.Wire;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/**
 * A host of its own on a link, in user space: it answers ARP and ping, and has UDP sockets. A thread of the stack's does its work, and sleeps
 * while nothing comes; while a receiver {@linkplain StackConfig#withSpin polls}, that does it.
 *
 * {@snippet :
 * try (Context context = Verbs.open("tap_vrb0");
 *         Stack stack = Stack.open(context, StackConfig.of("10.9.0.2/24"));
 *         UdpSocket socket = stack.bindUdp(7)) {
 *     UdpPeer from = new UdpPeer();
 *     ByteBuffer bytes = ByteBuffer.allocateDirect(65_536);
 *     while (socket.receive(bytes.clear(), from, Duration.ofSeconds(10))) {
 *         try {
 *             socket.send(bytes.flip(), from);
 *         } catch (IOException e) {
 *             // not every sender can be answered: its port may be 0, or its subnet one without a way
 *         }
 *     }
 * }
 * }
 *
 * <p>Any thread may call any method.
 */
public final class Stack implements AutoCloseable {
    /** Frames that are taken with the lock held. */
    private static final int BATCH = 64;
    /** After this it is looked whether the stack was closed. */
    private static final long LONGEST_WAIT = 100_000_000L;
    /** Between looks whether the interface is still there. */
    private static final long LOOK_EVERY = 1_000_000_000L;
    /** Batches that a receiver takes in one go. */
    private static final int MOST_TURNS = 64;
    /** So long after a receiver has polled, the stack's thread leaves the work to it. */
    private static final long LEAD = 1_000_000;
    /** Locally administered; behind it is the IPv4 address, so that a program that starts again has the same, and no other host of the link has it. */
    private static final long LOCAL_MAC = 0x0256_0000_0000L;
    private static final AtomicInteger NUMBER = new AtomicInteger();

    final ReentrantLock lock = new ReentrantLock();
    final UdpPorts udp;

    private final Wire wire;
    private final Counts counts = new Counts();
    private final Ipv4 ip;
    private final LongSupplier clock;
    private final InetAddress address;
    private final List<UdpSocket> sockets = new ArrayList<>();
    private final Thread engine;
    private final long spin;
    private final Condition left = lock.newCondition();
    /** Whether a receiver has polled last, and when; with the lock. */
    private boolean polled;
    private long lastPoll;
    private volatile boolean closed;
    private volatile @Nullable Throwable failure;
    /** With the lock. */
    private boolean wireClosed;

    private Stack(Wire wire, long mac, StackConfig config) {
        this.wire = wire;
        SecureRandom random = new SecureRandom();
        clock = System::nanoTime;
        spin = config.spin();
        ip = new Ipv4(wire, mac, config.address(), counts, random);
        udp = new UdpPorts(ip, counts, random);
        address = toAddress(config.address().address());
        engine = Thread.ofPlatform().daemon().name("verbena-stack-" + NUMBER.incrementAndGet()).unstarted(this::work);
    }

    /**
     * Opens a stack on a device that nothing else has a queue pair on; the device's interface has to be up before anything comes or goes.
     *
     * @param context stays the caller's, and open for as long as the stack is
     * @throws VerbsException {@code EOPNOTSUPP} if the device has no queue pairs for raw packets, or its interface several receive queues,
     *     {@code EBUSY} if another has its queue,
     *     {@code ENODEV} if its interface is gone, {@code EPERM} as docs/xdp.md has it
     */
    public static Stack open(Context context, StackConfig config) throws VerbsException {
        QueuePairWire.requireRawPackets(context);
        String device = context.device().name();
        long mac = config.mac().orElseGet(() -> device.startsWith("tap_")
                ? LOCAL_MAC | config.address().address() & 0xffff_ffffL
                : 0);
        if (mac == 0) {
            mac = macOf(context);
        }
        Wire wire = QueuePairWire.open(context, mtu(device));
        try {
            Stack s = new Stack(wire, mac, config);
            s.ip.announce(s.now());
            s.engine.start();
            return s;
        } catch (RuntimeException | Error e) { // there is no memory or thread for it
            try {
                wire.close();
            } catch (IOException closing) {
                e.addSuppressed(closing);
            }
            throw e;
        }
    }

    private static int mtu(String device) throws VerbsException {
        String link = device.substring(device.indexOf('_') + 1);
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) { // the JDK knows interfaces with addresses only
            for (NetworkLinks.Link l : NetworkLinks.list(netlink)) {
                if (l.name().equals(link)) {
                    return l.mtu();
                }
            }
        } catch (LinuxException e) {
            throw new VerbsException("open a stack on " + device, e);
        }
        throw new VerbsException("open a stack on " + device, Errno.ENODEV, "there is no interface " + link);
    }

    private static long macOf(Context context) throws VerbsException {
        return NetworkLinks.Link.ethernetAddress(context.queryDevice().nodeGuid());
    }

    static InetAddress toAddress(int a) {
        try {
            return InetAddress.getByAddress(new byte[] {(byte) (a >>> 24), (byte) (a >>> 16), (byte) (a >>> 8),
                (byte) a});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The address of the stack. */
    public InetAddress address() {
        return address;
    }

    /** The numbers so far. */
    public StackStatistics statistics() {
        lock.lock();
        try {
            return StackStatistics.of(counts);
        } finally {
            lock.unlock();
        }
    }

    /**
     * A socket at a port.
     *
     * @param port 0 for any of the ephemeral ones that is free
     * @throws IOException {@code EADDRINUSE} if the port, or each, is in use
     */
    public UdpSocket bindUdp(int port) throws IOException {
        return bindUdp(port, UdpSocket.DEFAULT_QUEUE);
    }

    /** As the other; {@code queue} is how many bytes may wait, with 16 to 23 for each datagram besides: 4096 to 1 GiB. */
    public UdpSocket bindUdp(int port, int queue) throws IOException {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port " + port + " is not 0 to 65535");
        }
        if (queue < 4096 || queue > 1 << 30) {
            throw new IllegalArgumentException("a queue of " + queue + " bytes is not 4096 to " + (1 << 30));
        }
        lock.lock();
        try {
            requireOpen();
            UdpQueue q = udp.open(port, queue & ~7);
            if (q == null) {
                throw new VerbsException("bind " + address.getHostAddress() + ":" + port, Errno.EADDRINUSE,
                        "another socket has it");
            }
            UdpSocket s = new UdpSocket(this, q);
            sockets.add(s);
            return s;
        } finally {
            lock.unlock();
        }
    }

    void forget(UdpSocket s, UdpQueue q) {
        if (sockets.remove(s)) {
            udp.close(q);
        }
    }

    /** Throws if nothing can come or go any more; with the lock. */
    void requireOpen() throws IOException {
        Throwable f = failure;
        if (f != null) {
            throw new IOException("the stack has failed: " + f.getMessage(), f);
        }
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    long now() {
        return clock.getAsLong();
    }

    private void work() {
        long looked = now();
        try {
            while (!closed && failure == null) {
                long wait = workLocked();
                if (wait > 0) {
                    wire.sleep(Math.min(wait, LONGEST_WAIT));
                } else if (lock.hasQueuedThreads()) {
                    LockSupport.parkNanos(1); // or who sends and receives might not get it for long
                }
                if (now() - looked >= LOOK_EVERY) {
                    wire.requireLink();
                    looked = now();
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Works if no receiver does; for how long to sleep then, 0 if not at all. */
    private long workLocked() throws IOException {
        lock.lock();
        try {
            long since = now();
            while (isPolled() && now() - since < LOOK_EVERY) {
                left.awaitNanos(LEAD);
            }
            if (isPolled()) {
                return 0; // to look after the link
            }
            polled = false;
            long wait = closed ? 0 : turn();
            return wait > 0 && wire.arm() ? wait : 0;
        } catch (InterruptedException e) {
            return 0; // nobody has this thread
        } finally {
            lock.unlock();
        }
    }

    private boolean isPolled() {
        return polled && !closed && now() - lastPoll < LEAD;
    }

    /** Does the work of the stack's thread once, on that of a receiver; with the lock. */
    void poll() {
        polled = true;
        lastPoll = now();
        try {
            // What a device has handed over in one go nobody would be woken for.
            for (int i = 0; i < MOST_TURNS && turn() == 0; i++) {
                lastPoll = now();
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    /** A receiver polls no more, and sleeps; with the lock. */
    void stopPolling() {
        if (polled) {
            polled = false;
            left.signal();
        }
    }

    /** For how many nanoseconds a receiver polls before it sleeps. */
    long spin() {
        return spin;
    }

    private void fail(Throwable e) {
        lock.lock();
        try {
            if (failure == null) {
                failure = e;
            }
            sockets.forEach(UdpSocket::wake);
        } finally {
            lock.unlock();
        }
    }

    /** Takes what has come and does what is due; answers for how long nothing is to be done, 0 if more may have come. With the lock. */
    private long turn() throws IOException {
        long now = now();
        boolean more = true;
        for (int i = 0; more && i < BATCH; i++) {
            ReceivedFrame f = wire.receive();
            more = f != null;
            if (f != null) {
                try {
                    ip.input(f, now);
                } finally {
                    f.release();
                }
            }
        }
        long due = ip.work(now);
        return more ? 0 : due == Long.MAX_VALUE ? LONGEST_WAIT : Math.max(due - now, 1);
    }

    private void wakeAll() {
        lock.lock();
        try {
            sockets.forEach(UdpSocket::wake);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the stack and its sockets; calls that wait throw {@link ClosedChannelException}. */
    @Override
    public void close() throws IOException {
        closed = true;
        wakeAll();
        boolean interrupted = false;
        while (engine.isAlive()) {
            try {
                engine.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        lock.lock(); // nobody sends meanwhile
        try {
            if (!wireClosed) {
                wireClosed = true;
                wire.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
