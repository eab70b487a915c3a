// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Cleaner;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import sun.net.PlatformSocketImpl;
import sun.nio.ch.SelChImpl;

import org.verbena.sockets.VerbenaSocketOptions;
import org.verbena.sockets.rules.Rules;

/**
 * What stands behind a classic {@link java.net.Socket} or {@link java.net.ServerSocket}, over a channel of this
 * package: its states, its options and its end. It behaves as the JDK's own implementation, with the same messages; the
 * JDK treats it as such, by its marker, and puts its SOCKS client before it.
 *
 * @param <C> the channel
 */
abstract class ClassicSocketImpl<C extends NetworkChannel & SelChImpl> extends SocketImpl
        implements
            PlatformSocketImpl {
    /** Ends what the program has lost without closing it. */
    private static final Cleaner CLEANER = Cleaner.create();

    /** What holds for the thread that made the socket; another may use it first. */
    final boolean offloaded = Rules.isOffloaded();

    /** Guards the changes of state; its holder does not block. */
    final Object stateLock = new Object();

    private volatile @Nullable C channel;
    private Cleaner.@Nullable Cleanable end;
    private volatile boolean closed;
    private volatile int timeoutMillis;
    private volatile @Nullable Set<SocketOption<?>> options;

    // -- states: new, created, closed

    @Override
    protected final void create(boolean stream) throws IOException {
        if (!stream) {
            throw new IOException("Datagram socket creation not supported");
        }
        synchronized (stateLock) {
            if (!isNew()) {
                throw new IOException("Already created");
            }
            own(open());
        }
    }

    /** A channel for this socket. */
    abstract C open() throws IOException;

    /** Takes a channel, to close it in the end; the state lock is held. */
    final void own(C opened) {
        channel = opened;
        fd = opened.getFD();
        end = CLEANER.register(this, () -> closeUnchecked(opened));
    }

    // has no reference to this object, or nothing would be lost
    private static void closeUnchecked(NetworkChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    final boolean isNew() {
        return channel == null && !closed;
    }

    final boolean isClosed() {
        return closed;
    }

    /** @throws SocketException if the socket is not created, or closed */
    final C created() throws SocketException {
        C c = channel;
        if (closed) {
            throw new SocketException("Socket closed");
        }
        if (c == null) {
            throw new SocketException("Socket not created");
        }
        return c;
    }

    @Override
    protected final void close() throws IOException {
        Cleaner.Cleanable e;
        synchronized (stateLock) {
            if (closed) {
                return;
            }
            closed = true;
            e = end;
        }
        if (e != null) {
            wake();
            try {
                e.clean();
            } catch (UncheckedIOException failed) {
                throw failed.getCause();
            }
        }
    }

    /** Wakes threads that sleep at the channel, which is about to be closed, unless closing it does that. */
    void wake() {}

    static int port(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress i ? i.getPort() : 0;
    }

    // -- options

    final int timeoutMillis() {
        return timeoutMillis;
    }

    @Override
    protected final Set<SocketOption<?>> supportedOptions() {
        C c = channel;
        if (c == null) {
            return Set.of();
        }
        Set<SocketOption<?>> known = options;
        if (known == null) {
            known = supportedOptions(c);
            options = known;
        }
        return known;
    }

    /** The options of classic sockets over such a channel. */
    abstract Set<SocketOption<?>> supportedOptions(C created);

    @Override
    protected <T> void setOption(SocketOption<T> name, T value) throws IOException {
        check(name);
        if (name != VerbenaSocketOptions.USER_DATA && !name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
        try {
            created().setOption(name, value);
        } catch (IOException e) {
            throw SocketExceptions.classic(e);
        }
    }

    @Override
    @SuppressWarnings("NullAway") // USER_DATA may be null
    protected <T> T getOption(SocketOption<T> name) throws IOException {
        check(name);
        try {
            return created().getOption(name);
        } catch (IOException e) {
            throw SocketExceptions.classic(e);
        }
    }

    private void check(SocketOption<?> name) {
        if (!supportedOptions().contains(name)) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    @Override
    public final void setOption(int id, Object value) throws SocketException {
        created();
        try {
            switch (id) {
                case SO_TIMEOUT -> timeoutMillis = timeout(integer(value, "SO_TIMEOUT"));
                case SO_LINGER -> setOption(StandardSocketOptions.SO_LINGER,
                        Boolean.FALSE.equals(value) ? -1 : integer(value, "SO_LINGER"));
                case SO_SNDBUF -> setOption(StandardSocketOptions.SO_SNDBUF, size(value, "SO_SNDBUF"));
                case SO_RCVBUF -> setOption(StandardSocketOptions.SO_RCVBUF, size(value, "SO_RCVBUF"));
                case SO_OOBINLINE -> urgentInline(flag(value, "SO_OOBINLINE"));
                case IP_TOS -> setOption(StandardSocketOptions.IP_TOS, integer(value, "IP_TOS"));
                case TCP_NODELAY -> setOption(StandardSocketOptions.TCP_NODELAY, flag(value, "TCP_NODELAY"));
                case SO_KEEPALIVE -> setOption(StandardSocketOptions.SO_KEEPALIVE, flag(value, "SO_KEEPALIVE"));
                case SO_REUSEADDR -> setOption(StandardSocketOptions.SO_REUSEADDR, flag(value, "SO_REUSEADDR"));
                case SO_REUSEPORT -> setOption(StandardSocketOptions.SO_REUSEPORT, flag(value, "SO_REUSEPORT"));
                default -> throw new SocketException("Unknown option " + id);
            }
        } catch (IOException | IllegalArgumentException | UnsupportedOperationException e) {
            throw socketException(e);
        }
    }

    @Override
    public final Object getOption(int id) throws SocketException {
        NetworkChannel c = created();
        try {
            return switch (id) {
                case SO_TIMEOUT -> timeoutMillis;
                case SO_LINGER -> linger(getOption(StandardSocketOptions.SO_LINGER));
                case SO_BINDADDR -> localAddress(c.getLocalAddress());
                case SO_SNDBUF -> getOption(StandardSocketOptions.SO_SNDBUF);
                case SO_RCVBUF -> getOption(StandardSocketOptions.SO_RCVBUF);
                case SO_OOBINLINE -> isUrgentInline();
                case IP_TOS -> getOption(StandardSocketOptions.IP_TOS);
                case TCP_NODELAY -> getOption(StandardSocketOptions.TCP_NODELAY);
                case SO_KEEPALIVE -> getOption(StandardSocketOptions.SO_KEEPALIVE);
                case SO_REUSEADDR -> getOption(StandardSocketOptions.SO_REUSEADDR);
                case SO_REUSEPORT -> getOption(StandardSocketOptions.SO_REUSEPORT);
                default -> throw new SocketException("Unknown option " + id);
            };
        } catch (IOException | IllegalArgumentException | UnsupportedOperationException e) {
            throw socketException(e);
        }
    }

    /** Whether urgent data come in line. */
    abstract void urgentInline(boolean on) throws IOException;

    abstract boolean isUrgentInline() throws IOException;

    private static SocketException socketException(Exception e) {
        if (e instanceof IOException io) {
            return SocketExceptions.socketException(SocketExceptions.classic(io));
        }
        SocketException s = new SocketException(e.getMessage());
        s.initCause(e);
        return s;
    }

    private static Object linger(int seconds) {
        if (seconds < 0) {
            return false;
        }
        return seconds;
    }

    private static InetAddress localAddress(@Nullable SocketAddress local) {
        return Objects.requireNonNull(
                (local instanceof InetSocketAddress i ? i : new InetSocketAddress(0)).getAddress());
    }

    private static int timeout(int millis) {
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        return millis;
    }

    private static int size(Object value, String option) throws SocketException {
        int size = integer(value, option);
        if (size <= 0) {
            throw new SocketException(option + " <= 0");
        }
        return size;
    }

    private static int integer(Object value, String option) throws SocketException {
        if (value instanceof Integer i) {
            return i;
        }
        throw new SocketException("Bad value for " + option);
    }

    private static boolean flag(Object value, String option) throws SocketException {
        if (value instanceof Boolean b) {
            return b;
        }
        throw new SocketException("Bad value for " + option);
    }
}
