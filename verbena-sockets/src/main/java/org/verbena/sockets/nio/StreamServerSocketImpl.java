// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.DefaultSelectorProvider;
import sun.nio.ch.Net;
import sun.nio.ch.NioSocketImpl;
import sun.nio.ch.SelChImpl;

import org.verbena.sockets.VerbenaSelectorProvider;

/**
 * What listens behind a classic {@link java.net.ServerSocket}, over a {@link StreamServerSocketChannel} whose inner
 * channel never blocks. It is bound when it begins to listen, since channels do both at once.
 */
final class StreamServerSocketImpl extends ClassicSocketImpl<StreamServerSocketChannel> {
    /** Bits of IP_TOS that are not the program's. */
    private static final int ECN = 3;

    /** One thread accepts at a time. */
    private final DirectionLock acceptLock = new DirectionLock();

    private @Nullable Waiting waiting;

    /** For connections of the JDK's implementation; made when there is one, guarded by the state lock. */
    private @Nullable PlainAcceptor plain;
    private @Nullable InetSocketAddress toBind;

    /** What the program has set of IP_TOS, which channels that listen do not take; connections get it. */
    private volatile @Nullable Integer trafficClass;

    @Override
    StreamServerSocketChannel open() throws IOException {
        SelectorProvider provider = VerbenaSelectorProvider.instance();
        ServerSocketChannel inner = DefaultSelectorProvider.get().openServerSocketChannel();
        try {
            inner.configureBlocking(false);
            StreamServerSocketChannel c = new StreamServerSocketChannel(provider, inner, Interrupts.END_VIRTUAL_WAIT,
                    offloaded);
            waiting = new Waiting((SelChImpl) inner, c.blockingLock(), Interrupts.END_VIRTUAL_WAIT);
            return c;
        } catch (Throwable t) {
            inner.close(); // it has no other owner
            throw t;
        }
    }

    @Override
    protected void bind(InetAddress host, int atPort) throws IOException {
        synchronized (stateLock) {
            created();
            if (localport != 0) {
                throw new SocketException("Already bound");
            }
            toBind = new InetSocketAddress(host, atPort);
        }
    }

    @Override
    protected void listen(int backlog) throws IOException {
        synchronized (stateLock) {
            StreamServerSocketChannel c = created();
            InetSocketAddress local = toBind;
            if (local == null) {
                throw new SocketException("Not bound");
            }
            try {
                c.bind(local, backlog);
                address = local.getAddress();
                localport = port(c.getLocalAddress());
            } catch (IOException | RuntimeException e) {
                throw SocketExceptions.classic(e);
            }
        }
    }

    @Override
    protected void accept(SocketImpl into) throws IOException {
        if (into instanceof NioSocketImpl) {
            acceptPlain(into);
            return;
        }
        if (!(into instanceof StreamSocketImpl socket) || !socket.isNew()) {
            throw new SocketException("Not a newly created SocketImpl");
        }
        StreamServerSocketChannel c = bound();
        StreamSocketChannel accepted;
        try {
            accepted = c.accept(() -> acceptOne(() -> c.inner().accept()));
        } catch (IOException e) {
            throw failure(e);
        }
        if (accepted == null) {
            throw new AssertionError("accepted, but what?");
        }
        socket.connected(accepted);
        Integer tos = trafficClass;
        if (tos != null) {
            try {
                socket.setOption(StandardSocketOptions.IP_TOS, tos);
            } catch (SocketException e) {
                // the connection is good without
            }
        }
    }

    private StreamServerSocketChannel bound() throws SocketException {
        StreamServerSocketChannel c = created();
        if (localport == 0) {
            throw new SocketException("Not bound");
        }
        return c;
    }

    private IOException failure(IOException e) {
        if (isClosed()) {
            return new SocketException("Socket closed");
        }
        return e instanceof ClosedChannelException ? SocketExceptions.classic(e) : e; // as it is, with the JDK's too
    }

    /** A connection that is the kernel's from its beginning, since the JDK wants one of its own kind. */
    private void acceptPlain(SocketImpl into) throws IOException {
        StreamServerSocketChannel c = bound();
        try {
            PlainAcceptor acceptor = plain(c);
            acceptOne(() -> {
                if (acceptor.accept(into)) {
                    return into;
                }
                created(); // or closed
                return null;
            });
            c.countAccepted();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private PlainAcceptor plain(StreamServerSocketChannel c) throws IOException {
        synchronized (stateLock) {
            created();
            PlainAcceptor p = plain;
            if (p == null) {
                p = new PlainAcceptor(c.getFD(), localport);
                plain = p;
            }
            return p;
        }
    }

    /** How a connection is taken: null if there is none. */
    @FunctionalInterface
    private interface Taking<T> {
        @Nullable
        T take() throws IOException;
    }

    private <T> T acceptOne(Taking<T> how) throws IOException {
        long timeoutNanos = MILLISECONDS.toNanos(timeoutMillis());
        long start = System.nanoTime();
        if (!acceptLock.lock(timeoutNanos)) {
            throw timedOut();
        }
        try {
            for (;;) {
                T connection = how.take();
                if (connection != null) {
                    return connection;
                }
                long left = 0;
                if (timeoutNanos > 0) {
                    left = timeoutNanos - (System.nanoTime() - start);
                    if (left <= 0) {
                        throw timedOut();
                    }
                }
                waiting().awaitKernel(Net.POLLIN, left);
            }
        } finally {
            acceptLock.unlock();
        }
    }

    private static SocketTimeoutException timedOut() {
        return new SocketTimeoutException("Accept timed out");
    }

    private Waiting waiting() {
        Waiting w = waiting;
        if (w == null) {
            throw new IllegalStateException("not created");
        }
        return w;
    }

    @Override
    void wake() {
        waiting().stop(OP_READ);
        PlainAcceptor p;
        synchronized (stateLock) {
            p = plain;
        }
        if (p != null) {
            p.close();
        }
    }

    // -- options

    @Override
    Set<SocketOption<?>> supportedOptions(StreamServerSocketChannel created) {
        Set<SocketOption<?>> all = new HashSet<>(created.supportedOptions());
        all.add(StandardSocketOptions.IP_TOS);
        return all;
    }

    @Override
    protected <T> void setOption(SocketOption<T> name, T value) throws IOException {
        if (name == StandardSocketOptions.IP_TOS && value instanceof Integer tos) {
            created();
            if (tos < 0 || tos > 255) {
                throw new IllegalArgumentException("Invalid IP_TOS value");
            }
            trafficClass = tos & ~ECN; // the kernel keeps those
            return;
        }
        super.setOption(name, value);
    }

    @Override
    @SuppressWarnings("unchecked") // the type of IP_TOS is Integer
    protected <T> T getOption(SocketOption<T> name) throws IOException {
        if (name == StandardSocketOptions.IP_TOS) {
            created();
            Integer tos = trafficClass;
            return (T) (Integer) (tos == null ? 0 : tos);
        }
        return super.getOption(name);
    }

    @Override
    void urgentInline(boolean on) throws IOException {
        throw unsupported();
    }

    @Override
    boolean isUrgentInline() throws IOException {
        throw unsupported();
    }

    // -- what only connections do

    private static SocketException unsupported() {
        return new SocketException("a socket that listens has no connection");
    }

    @Override
    protected void connect(String host, int toPort) throws IOException {
        throw unsupported();
    }

    @Override
    protected void connect(InetAddress to, int toPort) throws IOException {
        throw unsupported();
    }

    @Override
    protected void connect(SocketAddress to, int timeoutMillis) throws IOException {
        throw unsupported();
    }

    @Override
    protected InputStream getInputStream() throws IOException {
        throw unsupported();
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        throw unsupported();
    }

    @Override
    protected int available() throws IOException {
        throw unsupported();
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        throw unsupported();
    }
}
