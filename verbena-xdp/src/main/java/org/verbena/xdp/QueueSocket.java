// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Xsk;
import org.verbena.linux.XskConfig;
import org.verbena.verbs.VerbsException;

/** The socket of a queue pair, bound to a queue of the interface that no other socket has. */
final class QueueSocket {
    /** A queue becomes free a little after its socket was closed, here or by the end of another process. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    /**
     * How long it may take after one of this process: the kernel does it later, in a work queue and under the lock of its network
     * configuration, which on a busy machine takes its time.
     */
    private static final long OWN_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** What has a queue in this process, by network namespace, interface and number of the queue. */
    private static final Map<String, String> OWNERS = new ConcurrentHashMap<>();
    /** When this process gave up those that it has not taken again. */
    private static final Map<String, Long> RELEASED = new ConcurrentHashMap<>();

    /** The socket. */
    final Xsk xsk;
    /** The number of its queue. */
    final int queue;
    private final String name;

    private QueueSocket(Xsk xsk, int queue, String name) {
        this.xsk = xsk;
        this.queue = queue;
        this.name = name;
    }

    /**
     * Opens a socket and binds it to the first queue that is free.
     *
     * @param verb what is done, for messages
     * @param owner the queue pair, for messages of others
     * @param umem the memory
     */
    static QueueSocket open(String verb, String owner, XdpContext context, MemorySegment umem, XskConfig config)
            throws VerbsException {
        return bound(verb, owner, context, open(verb, umem, config), 0, context.queues());
    }

    /**
     * Opens a socket and binds it to that queue.
     *
     * @param first one that has the memory and is bound to another queue; null for the first of them
     */
    static QueueSocket openAt(String verb, String owner, XdpContext context, int queue, @Nullable QueueSocket first,
            MemorySegment umem, XskConfig config) throws VerbsException {
        Xsk xsk;
        try {
            xsk = first == null ? open(verb, umem, config) : Xsk.openShared(first.xsk, first.xsk.config(), true);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
        return bound(verb, owner, context, xsk, queue, queue + 1);
    }

    private static QueueSocket bound(String verb, String owner, XdpContext context, Xsk xsk, int from, int to)
            throws VerbsException {
        XdpDevice device = context.xdpDevice();
        String place = namespace() + "/" + device.index() + "/";
        try {
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            int flags = xsk.isShared()
                    ? 0
                    : Xsk.XDP_USE_SG | Xsk.XDP_USE_NEED_WAKEUP | (device.isGeneric() ? Xsk.XDP_COPY : 0);
            while (true) {
                for (int queue = from; queue < to; queue++) {
                    if (!OWNERS.containsKey(place + queue) && isBound(verb, device, xsk, queue, flags)) {
                        OWNERS.put(place + queue, owner);
                        RELEASED.remove(place + queue);
                        return new QueueSocket(xsk, queue, place + queue);
                    }
                }
                if (System.nanoTime() - deadline > 0 && !isReleasing(place, from, to)) {
                    throw new VerbsException(verb, Errno.EBUSY, from == 0 && to == context.queues()
                            ? busy(device, place, to)
                            : "work queues need all queues of " + device.interfaceName() + ", and queue " + from
                                    + " is in use by " + holder(place + from));
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } catch (VerbsException | RuntimeException e) {
            xsk.close();
            throw e;
        }
    }

    /** Whether the kernel may still be about to free a queue that this process has given up. */
    private static boolean isReleasing(String place, int from, int to) {
        for (int queue = from; queue < to; queue++) {
            Long since = RELEASED.get(place + queue);
            if (since != null && System.nanoTime() - since < OWN_PATIENCE_NANOS) {
                return true;
            }
        }
        return false;
    }

    private static Xsk open(String verb, MemorySegment umem, XskConfig config) throws VerbsException {
        try {
            try {
                return Xsk.open(umem, config.withTxMetadata());
            } catch (LinuxException e) {
                if (e.errno() != Errno.EINVAL) {
                    throw e;
                }
                return Xsk.open(umem, config); // before Linux 6.8
            }
        } catch (LinuxException e) {
            throw switch (e.errno()) {
                case Errno.EPERM -> new VerbsException(verb, Errno.EPERM,
                        "raw packets need the capability CAP_NET_RAW: run as root, or give it to the process");
                case Errno.EAFNOSUPPORT -> new VerbsException(verb, Errno.EOPNOTSUPP,
                        "this kernel has no AF_XDP (CONFIG_XDP_SOCKETS)");
                case Errno.ENOBUFS, Errno.ENOMEM -> new VerbsException(verb, Errno.ENOMEM, "the kernel may not pin "
                        + umem.byteSize() + " bytes: raise the limit of locked memory (ulimit -l), give the process"
                        + " CAP_IPC_LOCK, or allocate a smaller region");
                default -> new VerbsException(verb, e);
            };
        }
    }

    /** Binds; false if another socket has the queue. */
    private static boolean isBound(String verb, XdpDevice device, Xsk xsk, int queue, int flags)
            throws VerbsException {
        try {
            xsk.bind(device.index(), queue, flags);
            return true;
        } catch (LinuxException e) {
            if (e.errno() == Errno.EBUSY) {
                return false;
            }
            String name = device.interfaceName();
            throw switch (e.errno()) {
                case Errno.ENETDOWN -> new VerbsException(verb, Errno.ENETDOWN, "the interface " + name
                        + " is down: ip link set " + name + " up");
                case Errno.ENODEV -> new VerbsException(verb, Errno.ENODEV, "the interface " + name + " is gone");
                default -> new VerbsException(verb, e);
            };
        }
    }

    private static String holder(String queue) {
        return OWNERS.getOrDefault(queue, "a socket of another process");
    }

    private static String busy(XdpDevice device, String place, int queues) {
        StringBuilder who = new StringBuilder();
        for (int queue = 0; queue < queues; queue++) {
            who.append(queue == 0 ? "" : ", ").append("queue ").append(queue).append(" by ").append(holder(place
                    + queue));
        }
        return "a queue of an interface has one queue pair, and " + (queues == 1
                ? "the only one"
                : "all " + queues) + " of " + device.interfaceName() + (queues == 1 ? " is" : " are") + " in use: "
                + who + ". More queues: ethtool -L " + device.interfaceName() + " rx " + (queues + 1);
    }

    /** The calling thread's network namespace. */
    static String namespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self/ns/net")).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** Whether requests about packets to send can be made. */
    boolean hasMetadata() {
        return xsk.config().txMetadataBytes() > 0;
    }

    Fd fd() {
        return xsk.fd();
    }

    /** Releases the queue. */
    void close() {
        xsk.close();
        long now = System.nanoTime();
        RELEASED.values().removeIf(since -> now - since >= OWN_PATIENCE_NANOS);
        RELEASED.put(name, now);
        OWNERS.remove(name);
    }
}
