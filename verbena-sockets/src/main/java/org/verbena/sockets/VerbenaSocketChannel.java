package org.verbena.sockets;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * A TCP channel whose bytes go through rings in registered memory where both ends can, and by TCP where not. To a program
 * it is a {@link SocketChannel} like any other; a selector for it comes from its {@link #provider()}.
 */
public abstract class VerbenaSocketChannel extends SocketChannel {
    /** For the channels of this module. */
    protected VerbenaSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    /**
     * Opens a channel, whatever selector provider the process has.
     *
     * @throws UnsupportedOperationException if the JDK's channels are not exported to this module
     */
    public static VerbenaSocketChannel open() throws IOException {
        JdkAccess.check();
        return (VerbenaSocketChannel) VerbenaSelectorProvider.instance().openSocketChannel();
    }

    /**
     * Opens a channel of an address family, whatever selector provider the process has.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} or INET6
     * @throws UnsupportedOperationException if the JDK's channels are not exported to this module, or for another family
     */
    public static VerbenaSocketChannel open(ProtocolFamily family) throws IOException {
        JdkAccess.check();
        return (VerbenaSocketChannel) VerbenaSelectorProvider.instance().openSocketChannel(JdkAccess.internet(family));
    }

    /** Whether a ring carries what comes in from here on; false before the connection is made. */
    public abstract boolean isInputByRing();

    /** Whether a ring carries what goes out from here on; false before the connection is made. */
    public abstract boolean isOutputByRing();

    /** Why TCP carries the connection to its end, a sentence; empty as long as that is not decided, and if rings carry it. */
    public abstract String fallbackReason();

    /** What the connection has come to, and how it stands; all zero before it is made. For any thread; makes garbage. */
    public abstract SocketStatistics statistics();
}
