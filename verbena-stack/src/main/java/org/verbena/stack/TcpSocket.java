// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.Condition;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.FlowFilter;
import org.verbena.stack.model.TcpInfo;
import org.verbena.stack.model.TcpState;
import org.verbena.stack.tcp.Connection;
import org.verbena.verbs.VerbsException;

/**
 * A connection of a {@link Stack}. Any thread may call any method; bytes of two threads that write at the same time may mix.
 *
 * <p>A thread that is interrupted while it waits gets an {@link InterruptedIOException}, and stays interrupted; the connection stays.
 */
public final class TcpSocket implements ByteChannel, Engine.Sleeper {
    private static final long NAP = 10_000_000;
    private static final Duration LONGEST = Duration.ofDays(100_000);

    private final Engine engine;
    private final Connection connection;
    private final Condition change;
    private boolean closed;

    TcpSocket(Engine engine, Connection connection) {
        this.engine = engine;
        this.connection = connection;
        change = engine.lock.newCondition();
        connection.onChange(change::signalAll);
    }

    /** Waits until the connection stands. */
    void connect(Duration timeout) throws IOException {
        long left = Engine.nanos(timeout);
        long began = engine.now();
        engine.lock.lock();
        try {
            for (int i = 0; connection.state() == TcpState.SYN_SENT || connection
                    .state() == TcpState.SYN_RECEIVED; i++) {
                requireOpen();
                if (!engine.await(change, began, left, i)) {
                    throw new SocketTimeoutException("connect to " + peer() + ": no answer in " + timeout);
                }
            }
            throwError("connect to ");
            requireOpen();
            if (connection.state() == TcpState.CLOSED) {
                throw new ConnectException("connect to " + peer() + ": the connection is gone already");
            }
        } catch (IOException | RuntimeException | Error e) {
            close(true);
            throw e;
        } finally {
            engine.lock.unlock();
        }
    }

    private String peer() {
        return remoteAddress().toString().substring(1);
    }

    private void throwError(String what) throws IOException {
        int e = connection.error();
        switch (e) {
            case 0 -> {}
            case Errno.ECONNREFUSED -> throw new ConnectException(what + peer() + ": refused, nobody listens there");
            case Errno.ECONNRESET, Errno.EPIPE -> throw new SocketException(what + peer()
                    + ": reset by the peer, which has closed it or does not know it any more");
            case Errno.EHOSTUNREACH, Errno.ENETUNREACH -> throw new NoRouteToHostException(what + peer()
                    + ": the host or the way to it is unreachable, as an ICMP error says");
            default -> throw new VerbsException(what + peer(), e, "the peer has not answered for too long");
        }
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        engine.requireOpen();
    }

    /** The port of this end. */
    public int port() {
        return connection.port();
    }

    /** This end: the address that the peer knows, and the port. */
    public InetSocketAddress localAddress() {
        return new InetSocketAddress(connection.path().local().toInetAddress(), connection.port());
    }

    /** The other end. */
    public InetSocketAddress remoteAddress() {
        return new InetSocketAddress(connection.path().remote().toInetAddress(), connection.remotePort());
    }

    /**
     * Reads at least one byte behind the buffer's position, and waits for it.
     *
     * @return how many; -1 if the peer has sent all, or the connection was ended here
     * @throws SocketException if the peer has reset the connection
     * @throws ClosedChannelException if the socket or the stack is closed
     */
    @Override
    public int read(ByteBuffer into) throws IOException {
        return read(into, LONGEST);
    }

    /** As the other; 0 if nothing has come in time, or the buffer has no room. A timeout of 0 is for a single look. */
    public int read(ByteBuffer into, Duration timeout) throws IOException {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("the buffer is read-only");
        }
        long left = Engine.nanos(timeout);
        long began = left == 0 ? 0 : engine.now(); // as in UdpSocket.receive
        engine.lock.lock();
        try {
            for (int i = 0;; i++) {
                requireOpen();
                int n = connection.readable() > 0 || connection.isAtEnd() ? connection.read(into, engine.now()) : 0;
                if (n > 0 || !into.hasRemaining()) {
                    engine.touched();
                    return n;
                }
                if (!connection.isFinished()) {
                    throwError("read from ");
                }
                if (n < 0 || !engine.await(change, began, left, i)) {
                    return n;
                }
            }
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * Writes all bytes that remain, and waits for room for them. They are on their way, or wait for the peer's window.
     *
     * @return how many
     * @throws SocketException if the peer has reset the connection
     * @throws ClosedChannelException if the socket or the stack is closed, or after {@link #shutdownOutput}
     */
    @Override
    public int write(ByteBuffer bytes) throws IOException {
        return write(bytes, LONGEST);
    }

    /** As the other; writes as many as find room in time. */
    public int write(ByteBuffer bytes, Duration timeout) throws IOException {
        int before = bytes.remaining();
        long left = Engine.nanos(timeout);
        long began = left == 0 ? 0 : engine.now(); // as in UdpSocket.receive
        engine.lock.lock();
        try {
            for (int i = 0;; i++) {
                requireOpen();
                throwError("write to ");
                int n = connection.write(bytes, engine.now());
                if (n < 0 && n != -Errno.ENOMEM) {
                    throw new ClosedChannelException();
                }
                // Memory that other connections give back wakes nobody here.
                if (!bytes.hasRemaining() || !engine.await(change, began, left, i, n < 0 ? NAP : Long.MAX_VALUE)) {
                    engine.touched();
                    return before - bytes.remaining();
                }
            }
        } finally {
            engine.lock.unlock();
        }
    }

    /** Sends a byte as urgent data (RFC 6093), in line with the others. */
    public void writeUrgent(byte b) throws IOException {
        engine.lock.lock();
        try {
            requireOpen();
            throwError("write to ");
            int n = connection.writeUrgent(b, engine.now());
            if (n <= 0) {
                throw n == 0 || n == -Errno.ENOMEM
                        ? new VerbsException("write to " + peer(), Errno.EAGAIN, "the send buffer is full")
                        : new ClosedChannelException();
            }
            engine.touched();
        } finally {
            engine.lock.unlock();
        }
    }

    /** Sends no more after what was written; the peer reads its end then. Reading goes on. */
    public void shutdownOutput() throws IOException {
        engine.lock.lock();
        try {
            requireOpen();
            connection.finish(engine.now());
            engine.touched();
        } finally {
            engine.lock.unlock();
        }
    }

    /** Without Nagle's algorithm (RFC 9293, 3.7.4), or with it. Without it, what a {@linkplain #setCork cork} holds back is sent at once, as with Linux. */
    public void setNoDelay(boolean on) throws IOException {
        engine.lock.lock();
        try {
            requireOpen();
            connection.noDelay(on, engine.now());
            engine.touched();
        } finally {
            engine.lock.unlock();
        }
    }

    /** Keeps segments that are not full until more is written, as TCP_CORK of Linux, but without its 200 ms; false sends them. */
    public void setCork(boolean on) throws IOException {
        engine.lock.lock();
        try {
            requireOpen();
            connection.cork(on, engine.now());
            engine.touched();
        } finally {
            engine.lock.unlock();
        }
    }

    /** How the connection does. */
    public TcpInfo info() {
        engine.lock.lock();
        try {
            return connection.info();
        } finally {
            engine.lock.unlock();
        }
    }

    /** As the other, with whole frames. */
    public StackCapture capture(Path file) throws IOException {
        return capture(file, StackCapture.LONGEST);
    }

    /**
     * Has the segments of this connection alone written to a file from now on, in both directions, as {@link Stack#capture(Path, int)} has it: a stack has one capture at a
     * time. The connection's end does not end it.
     */
    public StackCapture capture(Path file, int snapLength) throws IOException {
        return StackCapture.begin(engine, file, snapLength, new FlowFilter(connection.path(), connection.port(),
                connection.remotePort()));
    }

    @Override
    public boolean isOpen() {
        engine.lock.lock();
        try {
            return !closed;
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * Closes both directions at once; does not wait. What was written is sent by the stack, as long as it is open. If bytes of the peer were not read, it gets a
     * reset (RFC 2525, 2.17). Calls that wait throw {@link ClosedChannelException}.
     */
    @Override
    public void close() throws IOException {
        close(false);
    }

    /** Closes with a reset: what was not sent is lost. */
    public void abort() throws IOException {
        close(true);
    }

    private void close(boolean abort) throws IOException {
        engine.lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            engine.remove(this);
            change.signalAll();
            if (engine.isOpen()) { // else nothing can be sent any more
                if (abort) {
                    connection.abort(engine.now());
                } else {
                    connection.close(engine.now());
                }
                engine.touched();
            }
        } finally {
            engine.lock.unlock();
        }
    }

    @Override
    public void wake() {
        change.signalAll();
    }

    @Override
    public String toString() {
        return "TcpSocket " + port() + " to " + peer();
    }
}
