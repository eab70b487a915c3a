// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.net.SocketOption;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

/** Options of Verbena's channels that Java lacks; {@code setOption} and {@code getOption} take them. */
public final class VerbenaSocketOptions {
    /**
     * How long at most an operation that waits polls memory before its thread sleeps; zero never polls. The default is the
     * system property {@code verbena.spin}, in microseconds. Within the limit each direction of a channel adapts to what it
     * sees. Of connections only; what TCP carries is never polled.
     */
    public static final SocketOption<Duration> SPIN = new Named<>("VERBENA_SPIN", Duration.class);

    /** An object of the program's that goes with the channel; null at first, and to forget it. */
    public static final SocketOption<Object> USER_DATA = new Named<>("VERBENA_USER_DATA", Object.class);

    /**
     * The network interface that the socket is bound to, by name: {@code SO_BINDTODEVICE}, socket(7); empty for any. Needs
     * native access; to change what is bound needs {@code CAP_NET_RAW}.
     */
    public static final SocketOption<String> BIND_TO_DEVICE = new Named<>("SO_BINDTODEVICE", String.class);

    /**
     * Whether TCP sends large writes from the program's memory instead of from a copy: {@code SO_ZEROCOPY}, socket(7), with
     * {@code MSG_ZEROCOPY}. It is for a write of 64 KiB or more, from one direct buffer, by a platform thread, of a channel
     * that blocks, when TCP carries the connection to its end ({@link #TRANSPORT} is {@code kernel}); such a write returns
     * when the kernel has let go of the memory, that is when the peer has acknowledged the bytes. Others are not changed,
     * and none is any more as soon as the kernel reports that it had to copy all the same, as it does over loopback. Of
     * connections only; needs native access.
     */
    public static final SocketOption<Boolean> ZERO_COPY = new Named<>("SO_ZEROCOPY", Boolean.class);

    /**
     * What carries a connection from here on, to be read only: {@code stream} if its handshake has succeeded (a
     * direction that had ended by then, or carried urgent data, stays with TCP), {@code kernel} if TCP carries it to its
     * end, and {@code undecided} before. Of connections, also of a classic {@link java.net.Socket} that the agent has made
     * Verbena's. To set it to what it is does nothing, to anything else is an {@link UnsupportedOperationException}.
     */
    public static final SocketOption<String> TRANSPORT = new Named<>("VERBENA_TRANSPORT", String.class);

    private VerbenaSocketOptions() {}

    private record Named<T>(String name, Class<T> type) implements SocketOption<T> {
        // a record's own methods have the JVM make a dozen classes when the first channel is made

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Named<?> n && name.equals(n.name) && type == n.type;
        }

        @Override
        public int hashCode() {
            return name.hashCode();
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
