// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import sun.nio.ch.DefaultSelectorProvider;
import sun.nio.ch.Net;

import org.verbena.sockets.VerbenaSelectorProvider;

/**
 * The connection of a classic {@link java.net.Socket}, over a {@link StreamSocketChannel} which threads may wait at
 * without being interruptible. The inner channel never blocks, not even to connect.
 */
final class StreamSocketImpl extends ClassicSocketImpl<StreamSocketChannel> {
    /** With the JDK's message, each time again once a reader has got it. */
    private static final String RESET = "Connection reset";

    private volatile boolean ended;
    private volatile boolean reset;

    @Override
    StreamSocketChannel open() throws IOException {
        SelectorProvider provider = VerbenaSelectorProvider.instance();
        SocketChannel inner = DefaultSelectorProvider.get().openSocketChannel();
        try {
            return new StreamSocketChannel(provider, inner, Interrupts.END_VIRTUAL_WAIT, offloaded);
        } catch (Throwable t) {
            inner.close(); // it has no other owner
            throw t;
        }
    }

    /** Becomes the socket of a connection that was accepted; closes it if it cannot. */
    void connected(StreamSocketChannel accepted) throws IOException {
        try {
            InetSocketAddress remote = (InetSocketAddress) accepted.inner().getRemoteAddress();
            synchronized (stateLock) {
                if (!isNew()) {
                    throw new SocketException("Not a newly created SocketImpl");
                }
                own(accepted);
                address = remote.getAddress();
                port = remote.getPort();
                localport = port(accepted.inner().getLocalAddress());
            }
        } catch (Throwable t) {
            accepted.close();
            throw t;
        }
    }

    private StreamSocketChannel connectedChannel() throws SocketException {
        if (isClosed()) {
            throw new SocketException("Socket closed");
        }
        if (isNew() || created().streamOrNull() == null) {
            throw new SocketException("Not connected");
        }
        return created();
    }

    // -- connecting

    @Override
    protected void connect(String host, int toPort) throws IOException {
        connect(new InetSocketAddress(host, toPort), 0);
    }

    @Override
    protected void connect(InetAddress to, int toPort) throws IOException {
        connect(new InetSocketAddress(to, toPort), 0);
    }

    @Override
    protected void connect(SocketAddress remote, int connectMillis) throws IOException {
        if (!(remote instanceof InetSocketAddress to)) {
            throw new IOException("Unsupported address type");
        }
        if (to.isUnresolved()) {
            throw new UnknownHostException(to.getHostName());
        }
        InetAddress host = to.getAddress().isAnyLocalAddress() ? InetAddress.getLocalHost() : to.getAddress();
        try {
            StreamSocketChannel c = created();
            c.connect(() -> {
                address = host;
                port = to.getPort();
                return connect(c, new InetSocketAddress(host, port), MILLISECONDS.toNanos(connectMillis));
            });
            localport = port(c.getLocalAddress());
        } catch (SocketTimeoutException e) {
            close();
            throw e;
        } catch (InterruptedIOException e) {
            close();
            throw new SocketException("Closed by interrupt");
        } catch (IOException | RuntimeException e) {
            close();
            throw SocketExceptions.classic(e);
        }
    }

    private static boolean connect(StreamSocketChannel c, InetSocketAddress to, long timeoutNanos) throws IOException {
        long start = System.nanoTime();
        c.inner().configureBlocking(false);
        if (c.inner().connect(to)) {
            return true;
        }
        while (!c.inner().finishConnect()) {
            long left = 0;
            if (timeoutNanos > 0) {
                left = timeoutNanos - (System.nanoTime() - start);
                if (left <= 0) {
                    throw new SocketTimeoutException("Connect timed out");
                }
            }
            c.waiting().awaitKernel(Net.POLLOUT, left);
        }
        return true;
    }

    @Override
    protected void bind(InetAddress host, int atPort) throws IOException {
        synchronized (stateLock) {
            StreamSocketChannel c = created();
            if (localport != 0) {
                throw new SocketException("Already bound");
            }
            try {
                c.bind(new InetSocketAddress(host, atPort));
                address = host;
                localport = port(c.getLocalAddress());
            } catch (IOException | RuntimeException e) {
                throw SocketExceptions.classic(e);
            }
        }
    }

    @Override
    protected void listen(int backlog) throws IOException {
        throw new SocketException("a socket that connects cannot listen");
    }

    @Override
    protected void accept(SocketImpl s) throws IOException {
        throw new SocketException("a socket that connects cannot accept");
    }

    // -- bytes

    @Override
    protected InputStream getInputStream() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) > 0 ? one[0] & 0xff : -1;
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                return StreamSocketImpl.this.read(into, offset, length);
            }

            @Override
            public int available() throws IOException {
                return StreamSocketImpl.this.available();
            }

            @Override
            public void close() throws IOException {
                StreamSocketImpl.this.close();
            }
        };
    }

    @Override
    protected OutputStream getOutputStream() {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] from, int offset, int length) throws IOException {
                StreamSocketImpl.this.write(from, offset, length);
            }

            @Override
            public void close() throws IOException {
                StreamSocketImpl.this.close();
            }
        };
    }

    /** The end of the stream is found again even after the socket is closed, and so is a reset before. */
    private int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0; // whatever the state
        }
        if (ended) {
            return -1;
        }
        StreamSocketChannel c = connectedChannel();
        if (reset) {
            throw new SocketException(RESET);
        }
        try {
            int n = c.input().read(into, offset, length, timeoutMillis());
            if (n < 0) {
                ended = true;
            }
            return n;
        } catch (IOException e) {
            if (e.getMessage() != null && e.getMessage().startsWith(RESET)) {
                reset = true;
            }
            throw failure(c, e);
        } finally {
            Reference.reachabilityFence(this); // else it could be lost while it reads
        }
    }

    private void write(byte[] from, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, from.length);
        if (length == 0) {
            return;
        }
        StreamSocketChannel c = connectedChannel();
        try {
            c.output().writeFully(from, offset, length);
        } catch (IOException e) {
            throw failure(c, e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private IOException failure(StreamSocketChannel c, IOException e) {
        if (isClosed()) {
            return new SocketException("Socket closed");
        }
        return c.isOpen() && c.output().isShut() && e instanceof ClosedChannelException
                ? new SocketException("Broken pipe") // the kernel's error for an output that is shut
                : SocketExceptions.classic(e);
    }

    @Override
    protected int available() throws IOException {
        try {
            return connectedChannel().available();
        } catch (IOException e) {
            throw SocketExceptions.classic(e);
        }
    }

    @Override
    protected void shutdownInput() throws IOException {
        try {
            connectedChannel().shutdownInput();
        } catch (IOException e) {
            throw SocketExceptions.classic(e);
        }
    }

    @Override
    protected void shutdownOutput() throws IOException {
        try {
            connectedChannel().shutdownOutput();
        } catch (IOException e) {
            throw SocketExceptions.classic(e);
        }
    }

    @Override
    protected boolean supportsUrgentData() {
        return true;
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        StreamSocketChannel c = connectedChannel();
        try {
            while (!c.sendUrgent(data)) {
                if (Thread.currentThread().isVirtual()) {
                    throw new SocketException("No buffer space available");
                }
                DirectionLock.pause(); // rare: the peer does not read
            }
        } catch (IOException e) {
            throw failure(c, e);
        }
    }

    /** Without what the JDK gives its channels alone. */
    @Override
    Set<SocketOption<?>> supportedOptions(StreamSocketChannel created) {
        return created.supportedOptions().stream().filter(o -> !o.name().equals("SO_OOBINLINE"))
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    void urgentInline(boolean on) throws IOException {
        created().urgentInline(on);
    }

    @Override
    boolean isUrgentInline() throws IOException {
        return created().inner().socket().getOOBInline();
    }
}
