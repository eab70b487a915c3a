// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.FileChannel;
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
        return (VerbenaSocketChannel) VerbenaSelectorProvider.instance().openOwn();
    }

    /**
     * Opens a channel of an address family, whatever selector provider the process has.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} or INET6
     * @throws UnsupportedOperationException if the JDK's channels are not exported to this module, or for another family
     */
    public static VerbenaSocketChannel open(ProtocolFamily family) throws IOException {
        JdkAccess.check();
        return (VerbenaSocketChannel) VerbenaSelectorProvider.instance().openOwn(JdkAccess.internet(family));
    }

    /** Whether a ring carries what comes in from here on; false before the connection is made. */
    public abstract boolean isInputByRing();

    /** Whether a ring carries what goes out from here on; false before the connection is made. */
    public abstract boolean isOutputByRing();

    /** Why TCP carries the connection to its end, a sentence; empty as long as that is not decided, and if rings carry it. */
    public abstract String fallbackReason();

    /**
     * Sends bytes of a file, as {@code file.transferTo(position, count, this)}, in less time: by sendfile(2) where TCP
     * carries the connection to its end, else without mapping the file. Under the agent {@code transferTo} does this.
     *
     * <p>A channel that blocks sends all of them, one that does not as many as there is room for. The file's position stays
     * as it is.
     *
     * @param position of the first byte, in bytes; where the file has none, nothing is sent
     * @param count bytes at most
     * @return bytes sent; fewer if something went wrong after them, which the next call reports
     * @throws IllegalArgumentException if {@code position} or {@code count} is negative
     * @throws java.nio.channels.NonReadableChannelException if the file is not open for reading
     * @throws java.nio.channels.NotYetConnectedException before the connection is made
     * @throws java.nio.channels.ClosedChannelException as {@code transferTo} does
     */
    public abstract long sendFile(FileChannel file, long position, long count) throws IOException;

    /**
     * Receives bytes into a file, as {@code file.transferFrom(this, position, count)}, in less time where a ring carries them:
     * they are written from there. Under the agent {@code transferFrom} does this.
     *
     * <p>A channel that blocks receives all of them, or what comes before the end of the stream; one that does not what is there.
     * The file's position stays as it is. What a ring brings and the file does not take, for want of room, can still be read.
     *
     * @param position where the first byte goes, in bytes; it may be behind the file's end, and one that appends takes no notice
     * @param count bytes at most
     * @return bytes received, 0 at the end of the stream; fewer if something went wrong after them, which the next call reports
     * @throws IllegalArgumentException if {@code position} or {@code count} is negative
     * @throws java.nio.channels.NonWritableChannelException if the file is not open for writing
     * @throws java.nio.channels.NotYetConnectedException before the connection is made
     * @throws java.nio.channels.ClosedChannelException as {@code transferFrom} does
     */
    public abstract long receiveFile(FileChannel file, long position, long count) throws IOException;

    /** What the connection has come to, and how it stands; all zero before it is made. For any thread; makes garbage. */
    public abstract SocketStatistics statistics();
}
