// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** An identifier, {@code struct rdma_cm_id}. It is not used in any call after it is destroyed. Thread-safe. */
final class CmIdentifier {
    static final int PS_TCP = 0x106;
    /** IBTA volume 1, 12.6.7.2: the peer does not respond any more. */
    private static final int REASON_TIMEOUT = 4;
    private static final int REASON_VENDOR_OPTION = 35;

    private final CmChannel channel;
    private final Rdmacm library;
    private final long address;
    private final long token;
    private final LinkedBlockingQueue<CmEvent> events = new LinkedBlockingQueue<>();
    private boolean destroyed;
    /** Consumes events on the context's thread; without it they wait in the queue. */
    private @Nullable Consumer<CmEvent> user;
    /** It is destroyed when the peer was notified, or cannot be. */
    private boolean disconnecting;
    private boolean ended;

    CmIdentifier(CmChannel channel, long address, long token) {
        this.channel = channel;
        library = channel.library();
        this.address = address;
        this.token = token;
    }

    // ---- events

    /** On the context's thread. */
    void deliver(CmEvent event) {
        if (event.isIdle()) {
            return;
        }
        Consumer<CmEvent> told;
        boolean goes;
        synchronized (this) {
            ended |= event.type() == CmEvent.DISCONNECTED || event.type() == CmEvent.DEVICE_REMOVAL;
            goes = disconnecting && ended;
            told = user;
            if (told == null && !disconnecting && !destroyed) {
                events.add(event);
                return;
            }
        }
        if (goes) {
            destroy();
        } else if (told != null) {
            told.accept(event);
        } else if (event.child() != null) {
            event.child().refuse();
        }
    }

    /** Delivers events to {@code consumer} from now on, those in the queue first. */
    void setConsumer(Consumer<CmEvent> consumer) {
        synchronized (this) {
            user = consumer;
        }
        for (CmEvent e = events.poll(); e != null; e = events.poll()) {
            consumer.accept(e);
        }
    }

    /**
     * Waits for an event of one type.
     *
     * @param end the deadline, a time of {@link System#nanoTime}
     * @throws VerbsException the error that the library reports instead; {@code ETIMEDOUT}
     */
    CmEvent await(String verb, int type, long end) throws VerbsException {
        try {
            CmEvent e = events.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (e == null) {
                throw new VerbsException(verb, Errno.ETIMEDOUT, "the peer did not reply in time");
            }
            if (e.type() != type) {
                throw failure(verb, e);
            }
            return e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(verb, Errno.EINTR, "the thread was interrupted");
        }
    }

    /** If the reject is not from the application, its private data are undefined. */
    private static byte[] dataOfApplication(CmEvent e) {
        return e.status() == ConnectionRejectedException.CONSUMER_DEFINED || e.status() == REASON_VENDOR_OPTION
                ? e.data()
                : new byte[0];
    }

    private static VerbsException failure(String verb, CmEvent e) {
        int errno = e.status() < 0 && e.status() > -4096 ? -e.status() : Errno.EIO;
        return switch (e.type()) {
            case CmEvent.REJECTED -> e.status() == REASON_TIMEOUT
                    ? new VerbsException(verb, Errno.ECONNRESET, "the peer has abandoned the connection")
                    : new ConnectionRejectedException(verb, e.status(), dataOfApplication(e), switch (e.status()) {
                        case ConnectionRejectedException.INVALID_SERVICE_ID -> "there is no listener";
                        case ConnectionRejectedException.CONSUMER_DEFINED -> "the peer's application rejected it";
                        default -> "the peer rejected it, reason " + e.status()
                                + " of the InfiniBand connection manager";
                    });
            case CmEvent.ADDR_ERROR, CmEvent.ROUTE_ERROR -> new VerbsException(verb, errno == Errno.ETIMEDOUT
                    ? errno
                    : Errno.EHOSTUNREACH, (e.type() == CmEvent.ADDR_ERROR ? "the address" : "the route")
                            + " cannot be resolved: " + Errno.text(errno));
            case CmEvent.UNREACHABLE -> new VerbsException(verb, errno == Errno.EIO ? Errno.ETIMEDOUT : errno,
                    "the peer does not respond");
            case CmEvent.DISCONNECTED -> new VerbsException(verb, Errno.ECONNRESET, "the peer has disconnected");
            case CmEvent.DEVICE_REMOVAL -> new VerbsException(verb, Errno.ENODEV, "the device was removed");
            default -> new VerbsException(verb, errno, "librdmacm reports event " + e.type() + ", status " + e
                    .status());
        };
    }

    // ---- calls

    private synchronized int call(RdmacmFunction f, long... arguments) {
        if (destroyed) {
            return Errno.EINVAL;
        }
        long[] a = new long[arguments.length + 1];
        a[0] = address;
        System.arraycopy(arguments, 0, a, 1, arguments.length);
        return library.errno(f, a);
    }

    private void must(String verb, RdmacmFunction f, long... arguments) throws VerbsException {
        int errno = call(f, arguments);
        if (errno != 0) {
            throw new VerbsException(verb, errno, f.symbol + ": " + Errno.text(errno));
        }
    }

    int bind(InetAddress ip, int port) {
        try (Arena arena = Arena.ofConfined()) {
            return call(RdmacmFunction.BIND_ADDR, SocketAddressBytes.of(arena, ip, port).address());
        }
    }

    int listen(int backlog) {
        return call(RdmacmFunction.LISTEN, backlog);
    }

    /** The port that it is bound to. */
    synchronized int port() {
        int p = destroyed ? 0 : (int) library.call(RdmacmFunction.GET_SRC_PORT, address) & 0xffff;
        return Layout.networkOrder(p) >>> 16;
    }

    void resolveAddress(String verb, InetSocketAddress to, int millis) throws VerbsException {
        try (Arena arena = Arena.ofConfined()) {
            int errno = call(RdmacmFunction.RESOLVE_ADDR, 0, SocketAddressBytes.of(arena, to.getAddress(), to.getPort())
                    .address(), millis);
            if (errno != 0) {
                throw new VerbsException(verb, errno == Errno.ETIMEDOUT ? errno : Errno.EHOSTUNREACH,
                        "no RDMA device leads there: " + Errno.text(errno));
            }
        }
    }

    void resolveRoute(String verb, int millis) throws VerbsException {
        must(verb, RdmacmFunction.RESOLVE_ROUTE, millis);
    }

    void connect(String verb, ConnectionValues v) throws VerbsException {
        try (Arena arena = Arena.ofConfined()) {
            must(verb, RdmacmFunction.CONNECT, v.in(arena).address());
        }
    }

    void accept(String verb, ConnectionValues v) throws VerbsException {
        try (Arena arena = Arena.ofConfined()) {
            int errno = call(RdmacmFunction.ACCEPT, v.in(arena).address());
            if (errno != 0) {
                // the kernel refuses it in that state
                throw new VerbsException(verb, errno == Errno.EINVAL ? Errno.ECONNRESET : errno,
                        "the peer has abandoned the connection: " + Errno.text(errno));
            }
        }
    }

    void establish(String verb) throws VerbsException {
        must(verb, RdmacmFunction.ESTABLISH);
    }

    /** Rejects the request; a peer that has gone is not notified. */
    void reject(byte... data) {
        try (Arena arena = Arena.ofConfined()) {
            Struct s = ConnectionValues.bytes(arena, data);
            call(RdmacmFunction.REJECT, s.address(), data.length);
        }
    }

    /** Disconnects, or acknowledges the peer's disconnect. */
    void disconnect() {
        call(RdmacmFunction.DISCONNECT);
    }

    /** The attributes to modify a queue pair to a state; {@code change} may inspect and modify them. */
    QueuePairAttributes attributes(String verb, QueuePairState state, Consumer<Struct> change) throws VerbsException {
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.QP_ATTR_BYTES);
            Struct mask = new Struct(arena, Long.BYTES);
            s.putInt(Layout.QP_ATTR_STATE, QueuePairBytes.number(state));
            int errno = call(RdmacmFunction.INIT_QP_ATTR, s.address(), mask.address());
            if (errno != 0) {
                throw new VerbsException(verb, errno == Errno.EINVAL ? Errno.ECONNRESET : errno,
                        "the connection is not in a state to move the queue pair to " + state + ": " + Errno.text(
                                errno));
            }
            change.accept(s);
            return QueuePairBytes.get(s, mask.getInt(0));
        }
    }

    /** The name of the device that it is bound to; empty for none. */
    synchronized String device(String verb) throws VerbsException {
        long verbs = destroyed ? 0 : RawMemory.getLong(address + CmLayout.ID_VERBS);
        return verbs == 0 ? "" : DeviceList.name(channel.context().verbs().library, verb, RawMemory.getLong(verbs));
    }

    synchronized @Nullable InetSocketAddress local() {
        return destroyed ? null : SocketAddressBytes.at(address + CmLayout.ID_SRC_ADDR);
    }

    synchronized @Nullable InetSocketAddress remote() {
        return destroyed ? null : SocketAddressBytes.at(address + CmLayout.ID_DST_ADDR);
    }

    /** The GID of the local end of the path; null if it has none. */
    synchronized @Nullable Gid localGid() {
        return destroyed ? null : gid(address + CmLayout.ID_SGID);
    }

    /** The GID of the remote end of the path; null if there is none. */
    synchronized @Nullable Gid remoteGid() {
        return destroyed ? null : gid(address + CmLayout.ID_DGID);
    }

    private static @Nullable Gid gid(long at) {
        Gid gid = new Gid(Long.reverseBytes(RawMemory.getLong(at)), Long.reverseBytes(RawMemory.getLong(at
                + Long.BYTES)));
        return gid.equals(PathBytes.NONE) ? null : gid;
    }

    // ---- its end

    /** Rejects a request that is not accepted by any thread. */
    void refuse() {
        reject();
        destroy();
    }

    /** Destroys it, or after {@link #disconnect} as soon as the peer has replied. */
    void retire() {
        synchronized (this) {
            disconnecting = true;
            user = null;
            if (!ended) {
                return;
            }
        }
        destroy();
    }

    /** Destroys it, and rejects the requests in its queue. */
    void destroy() {
        synchronized (this) {
            if (destroyed) {
                return;
            }
            destroyed = true;
            channel.forget(token);
            library.call(RdmacmFunction.DESTROY_ID, address);
        }
        for (CmEvent e = events.poll(); e != null; e = events.poll()) {
            if (e.child() != null) {
                e.child().refuse();
            }
        }
    }
}
