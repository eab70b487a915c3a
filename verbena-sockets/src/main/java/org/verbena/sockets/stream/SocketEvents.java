// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import jdk.internal.access.SharedSecrets;
import jdk.internal.event.SocketReadEvent;
import jdk.internal.event.SocketWriteEvent;
import org.jspecify.annotations.Nullable;

/**
 * The events {@code jdk.SocketRead} and {@code jdk.SocketWrite} of the Flight Recorder: one for what the program reads
 * or writes, as with the JDK's own channels, whatever carries the bytes. The JDK's channel below makes none meanwhile:
 * it does not see the rings, never waits, and takes doorbells for bytes.
 *
 * <p>Where the packages {@code jdk.internal.event} and {@code jdk.internal.access} are not exported to this module it
 * is the channel below that makes events, of what TCP carries. Without a recording a call of {@link #ofReads} or {@link
 * #ofWrites} is all that is done: the JDK's methods under them are constant until then, and no class of the recorder is
 * loaded. Thread-safe.
 */
public final class SocketEvents {
    private static final boolean ARE_OURS = isExported("jdk.internal.event") && isExported("jdk.internal.access");

    private SocketEvents() {}

    private static boolean isExported(String name) {
        return Object.class.getModule().isExported(name, SocketEvents.class.getModule());
    }

    /** Whether reads are recorded now, and by this class. */
    public static boolean ofReads() {
        return ARE_OURS && SocketReadEvent.enabled() && Found.JDK != null;
    }

    /** Whether writes are recorded now, and by this class. */
    public static boolean ofWrites() {
        return ARE_OURS && SocketWriteEvent.enabled() && Found.JDK != null;
    }

    /** When a read begins, for {@link #read}; only while they are recorded. */
    public static long readBegins() {
        return SocketReadEvent.timestamp();
    }

    /** When a write begins, for {@link #wrote}; only while they are recorded. */
    public static long writeBegins() {
        return SocketWriteEvent.timestamp();
    }

    /**
     * A read is over.
     *
     * @param bytes as the program gets it; -1 at the end of the stream
     * @param remote null if the channel was closed before
     * @param timeoutMillis 0 if there is none
     */
    public static void read(long start, long bytes, @Nullable SocketAddress remote, int timeoutMillis) {
        SocketReadEvent.offer(start, bytes, remote, timeoutMillis);
    }

    /**
     * A write is over.
     *
     * @param remote null if the channel was closed before
     */
    public static void wrote(long start, long bytes, @Nullable SocketAddress remote) {
        SocketWriteEvent.offer(start, bytes, remote);
    }

    // ---- the JDK's channel, without events of its own

    static int read(SocketChannel tcp, ByteBuffer into) throws IOException {
        Quiet quiet = ofReads() ? Quiet.of(tcp) : null;
        return quiet == null ? tcp.read(into) : quiet.read(tcp, into);
    }

    static long read(SocketChannel tcp, ByteBuffer[] into, int offset, int length) throws IOException {
        Quiet quiet = ofReads() ? Quiet.of(tcp) : null;
        return quiet == null ? tcp.read(into, offset, length) : quiet.read(tcp, into, offset, length);
    }

    static int write(SocketChannel tcp, ByteBuffer from) throws IOException {
        Quiet quiet = ofWrites() ? Quiet.of(tcp) : null;
        return quiet == null ? tcp.write(from) : quiet.write(tcp, from);
    }

    static long write(SocketChannel tcp, ByteBuffer[] from, int offset, int length) throws IOException {
        Quiet quiet = ofWrites() ? Quiet.of(tcp) : null;
        return quiet == null ? tcp.write(from, offset, length) : quiet.write(tcp, from, offset, length);
    }

    /** Loaded during a recording. */
    private static final class Found {
        /** Null in a JDK that has it otherwise: its events are of what TCP carries. */
        static final @Nullable Quiet JDK = Quiet.find();

        private Found() {}
    }

    /** What the JDK's channels do between the begin of an event and its end. */
    private record Quiet(Class<?> channel, MethodHandle reads, MethodHandle scatters, MethodHandle writes,
            MethodHandle gathers) {
        static @Nullable Quiet find() {
            MethodType one = MethodType.methodType(int.class, ByteBuffer.class);
            MethodType many = MethodType.methodType(long.class, ByteBuffer[].class, int.class, int.class);
            try {
                Class<?> channel = Class.forName("sun.nio.ch.SocketChannelImpl");
                return new Quiet(channel, find(channel, "implRead", one), find(channel, "implRead", many), find(channel,
                        "implWrite", one), find(channel, "implWrite", many));
            } catch (ReflectiveOperationException | LinkageError e) {
                return null;
            }
        }

        private static MethodHandle find(Class<?> channel, String name, MethodType type)
                throws ReflectiveOperationException {
            MethodHandle method = SharedSecrets.getJavaLangInvokeAccess().findVirtual(channel, name, type);
            if (method == null) {
                throw new NoSuchMethodException(name);
            }
            return method.asType(method.type().changeParameterType(0, SocketChannel.class));
        }

        /** Null if it is not the JDK's. */
        static @Nullable Quiet of(SocketChannel tcp) {
            Quiet jdk = Found.JDK;
            return jdk != null && jdk.channel.isInstance(tcp) ? jdk : null;
        }

        int read(SocketChannel tcp, ByteBuffer into) throws IOException {
            try {
                return (int) reads.invokeExact(tcp, into);
            } catch (Throwable t) {
                throw thrown(t);
            }
        }

        long read(SocketChannel tcp, ByteBuffer[] into, int offset, int length) throws IOException {
            try {
                return (long) scatters.invokeExact(tcp, into, offset, length);
            } catch (Throwable t) {
                throw thrown(t);
            }
        }

        int write(SocketChannel tcp, ByteBuffer from) throws IOException {
            try {
                return (int) writes.invokeExact(tcp, from);
            } catch (Throwable t) {
                throw thrown(t);
            }
        }

        long write(SocketChannel tcp, ByteBuffer[] from, int offset, int length) throws IOException {
            try {
                return (long) gathers.invokeExact(tcp, from, offset, length);
            } catch (Throwable t) {
                throw thrown(t);
            }
        }

        private static IOException thrown(Throwable t) {
            return switch (t) {
                case IOException e -> e;
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new IllegalStateException(t);
            };
        }
    }
}
