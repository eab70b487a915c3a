// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.net.SocketImpl;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.NioSocketImpl;

import org.verbena.sockets.stream.PublishedSockets;
import org.verbena.sockets.stream.Stream;

/** Makes the channels of this package over channels of the JDK. */
public final class NioChannels {
    private NioChannels() {}

    /** Over an internet channel that was just opened. */
    public static SocketChannel over(SelectorProvider provider, SocketChannel inner) throws IOException {
        try {
            PublishedSockets.begin();
            return new StreamSocketChannel(provider, inner);
        } catch (Throwable t) {
            inner.close(); // it has no other owner
            throw t;
        }
    }

    /** Over an internet channel that was just opened. */
    public static ServerSocketChannel over(SelectorProvider provider, ServerSocketChannel inner) throws IOException {
        try {
            PublishedSockets.begin();
            return new StreamServerSocketChannel(provider, inner);
        } catch (Throwable t) {
            inner.close(); // it has no other owner
            throw t;
        }
    }

    /** What carries the bytes of a connected channel of this package; null of any other channel. */
    public static @Nullable Stream streamOf(SocketChannel channel) {
        return channel instanceof StreamSocketChannel s ? s.streamOrNull() : null;
    }

    /** Reads without an event of the Flight Recorder, as the JDK does for asynchronous channels. */
    public static int readUnrecorded(SocketChannel channel, ByteBuffer into) throws IOException {
        return channel instanceof StreamSocketChannel s ? s.input().readUnrecorded(into) : channel.read(into);
    }

    /** Reads into several buffers without an event of the Flight Recorder. */
    public static long readUnrecorded(SocketChannel channel, ByteBuffer[] into) throws IOException {
        return channel instanceof StreamSocketChannel s
                ? s.input().readUnrecorded(into, 0, into.length)
                : channel.read(into);
    }

    /** Writes without an event of the Flight Recorder. */
    public static int writeUnrecorded(SocketChannel channel, ByteBuffer from) throws IOException {
        return channel instanceof StreamSocketChannel s ? s.output().writeUnrecorded(from) : channel.write(from);
    }

    /** Writes several buffers without an event of the Flight Recorder. */
    public static long writeUnrecorded(SocketChannel channel, ByteBuffer[] from) throws IOException {
        return channel instanceof StreamSocketChannel s
                ? s.output().writeUnrecorded(from, 0, from.length)
                : channel.write(from);
    }

    /** Whether it is a channel of this package. */
    public static boolean isOurs(SocketChannel channel) {
        return channel instanceof StreamSocketChannel;
    }

    /**
     * There may be selectors of the JDK: what channels need to be known to them is taken now, while there are
     * descriptors.
     */
    public static void expectForeignSelectors() {
        DescriptorHold.prepare();
    }

    /** Says what reaches the protected members of {@link SocketImpl}; asked when they are needed. */
    public static void reachSocketImplBy(Supplier<MethodHandles.Lookup> lookup) {
        PlainAcceptor.reachBy(lookup);
    }

    /**
     * A new implementation of a classic socket, one that listens or one that connects; null if it is to be the JDK's.
     */
    public static @Nullable SocketImpl socketImpl(boolean server) {
        if (JdkChanges.isTrial() || CallerPolicy.refuses(server)) {
            return null;
        }
        PublishedSockets.begin();
        return server ? new StreamServerSocketImpl() : new StreamSocketImpl();
    }

    /** What {@code listener} accepts into. */
    public static SocketImpl accepting(SocketImpl listener) {
        if (listener instanceof StreamServerSocketImpl) {
            return new StreamSocketImpl();
        }
        JdkChanges.tried(listener);
        return new NioSocketImpl(false);
    }
}
