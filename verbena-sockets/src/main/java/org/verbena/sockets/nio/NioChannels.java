package org.verbena.sockets.nio;

import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** Makes the channels of this package over channels of the JDK. */
public final class NioChannels {
    private NioChannels() {}

    /** Over an internet channel that was just opened. */
    public static SocketChannel over(SelectorProvider provider, SocketChannel inner) {
        return new StreamSocketChannel(provider, inner);
    }

    /** Over an internet channel that was just opened. */
    public static ServerSocketChannel over(SelectorProvider provider, ServerSocketChannel inner) {
        return new StreamServerSocketChannel(provider, inner);
    }
}
