// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

import org.verbena.linux.BoundDevice;
import org.verbena.linux.ZeroCopy;
import org.verbena.sockets.VerbenaSocketOptions;
import org.verbena.sockets.stream.Stream;

/** The options of a channel: the inner channel's, and Verbena's own. */
final class ChannelOptions {
    private final NetworkChannel channel;
    private final NetworkChannel inner;
    private final @Nullable StreamSocketChannel connection;
    private final Set<SocketOption<?>> supported;

    private volatile @Nullable Object userData;

    /** What the program wants of TCP_NODELAY, once doorbells need it set; null before. Guarded by this. */
    private @Nullable Boolean noDelay;

    ChannelOptions(StreamSocketChannel channel) {
        this(channel, channel.inner(), channel, Supported.connection(channel.inner()));
    }

    ChannelOptions(NetworkChannel server, NetworkChannel inner) {
        this(server, inner, null, Supported.server(inner));
    }

    private ChannelOptions(
            NetworkChannel channel,
            NetworkChannel inner,
            @Nullable StreamSocketChannel connection,
            Set<SocketOption<?>> supported) {
        this.channel = channel;
        this.inner = inner;
        this.connection = connection;
        this.supported = supported;
    }

    /** The options of all channels, which are the same for each. */
    private static final class Supported {
        private static volatile @Nullable Set<SocketOption<?>> connection;
        private static volatile @Nullable Set<SocketOption<?>> server;

        static Set<SocketOption<?>> connection(NetworkChannel inner) {
            Set<SocketOption<?>> known = connection;
            if (known == null) {
                known = with(inner, VerbenaSocketOptions.SPIN, VerbenaSocketOptions.TRANSPORT,
                        VerbenaSocketOptions.ZERO_COPY);
                connection = known;
            }
            return known;
        }

        static Set<SocketOption<?>> server(NetworkChannel inner) {
            Set<SocketOption<?>> known = server;
            if (known == null) {
                known = with(inner);
                server = known;
            }
            return known;
        }

        private static Set<SocketOption<?>> with(NetworkChannel inner, SocketOption<?>... more) {
            Set<SocketOption<?>> all = new HashSet<>(inner.supportedOptions());
            all.add(VerbenaSocketOptions.USER_DATA);
            all.add(VerbenaSocketOptions.BIND_TO_DEVICE);
            all.addAll(List.of(more));
            return Collections.unmodifiableSet(all);
        }
    }

    Set<SocketOption<?>> supported() {
        return supported;
    }

    <T> void set(SocketOption<T> name, @Nullable T value) throws IOException {
        check(name);
        if (name == VerbenaSocketOptions.USER_DATA) {
            checkOpen();
            userData = value;
            return;
        }
        if (name == VerbenaSocketOptions.TRANSPORT) {
            if (Objects.equals(value, get(name))) {
                return; // restoring all options to their values must not fail at a read-only one
            }
            throw new UnsupportedOperationException("'" + name + "' can only be read: rules choose the transport");
        }
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "' for " + name);
        }
        checkOpen();
        if (name == VerbenaSocketOptions.SPIN) {
            spin((Duration) Objects.requireNonNull(value));
        } else if (name == VerbenaSocketOptions.BIND_TO_DEVICE) {
            BoundDevice.set(descriptor(), (String) Objects.requireNonNull(value));
        } else if (name == VerbenaSocketOptions.ZERO_COPY) {
            zeroCopy((Boolean) Objects.requireNonNull(value));
        } else if (name == StandardSocketOptions.TCP_NODELAY) {
            noDelay((Boolean) Objects.requireNonNull(value));
        } else if (connection != null && name.name().equals("SO_OOBINLINE")) { // the JDK's own, which has no constant
            connection.urgentInline((Boolean) Objects.requireNonNull(value));
        } else {
            inner.setOption(name, Objects.requireNonNull(value));
        }
    }

    private synchronized void noDelay(boolean on) throws IOException {
        if (noDelay == null) {
            inner.setOption(StandardSocketOptions.TCP_NODELAY, on);
        } else {
            noDelay = on;
        }
    }

    /** TCP carries doorbells from now on, which must not be held back; what the program sees of the option stays. */
    synchronized void ringsDoorbells() throws IOException {
        if (noDelay == null) {
            noDelay = inner.getOption(StandardSocketOptions.TCP_NODELAY);
            inner.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
    }

    private synchronized boolean noDelay() throws IOException {
        return noDelay != null ? noDelay : inner.getOption(StandardSocketOptions.TCP_NODELAY);
    }

    @SuppressWarnings("unchecked") // the type of each own option is its type()
    <T> @Nullable T get(SocketOption<T> name) throws IOException {
        check(name);
        checkOpen();
        StreamSocketChannel c = connection;
        if (name == VerbenaSocketOptions.USER_DATA) {
            return (T) userData;
        }
        if (name == VerbenaSocketOptions.SPIN && c != null) {
            return (T) Duration.ofNanos(c.input().spin().limit());
        }
        if (name == VerbenaSocketOptions.TRANSPORT && c != null) {
            return (T) transport(c);
        }
        if (name == VerbenaSocketOptions.BIND_TO_DEVICE) {
            return (T) BoundDevice.get(descriptor());
        }
        if (name == VerbenaSocketOptions.ZERO_COPY) {
            return (T) (Boolean) ZeroCopy.get(descriptor());
        }
        if (name == StandardSocketOptions.TCP_NODELAY) {
            return (T) (Boolean) noDelay();
        }
        return inner.getOption(name);
    }

    private static String transport(StreamSocketChannel c) {
        Stream s = c.streamOrNull();
        if (s != null && s.isHandshakeComplete()) {
            return "stream";
        }
        return c.fallbackReason().isEmpty() ? "undecided" : "kernel";
    }

    private void spin(Duration limit) {
        if (limit.isNegative() || limit.compareTo(Duration.ofSeconds(1)) > 0) {
            throw new IllegalArgumentException("to poll for " + limit + ": from nothing to a second is possible");
        }
        StreamSocketChannel c = Objects.requireNonNull(connection);
        c.input().spin().limit(limit.toNanos());
        c.output().spin().limit(limit.toNanos());
    }

    private void zeroCopy(boolean on) throws IOException {
        ZeroCopy.set(descriptor(), on);
        Objects.requireNonNull(connection).output().zeroCopy(on);
    }

    private int descriptor() {
        return ((SelChImpl) inner).getFDVal();
    }

    private void check(SocketOption<?> name) {
        if (!supported.contains(Objects.requireNonNull(name))) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    private void checkOpen() throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }
}
