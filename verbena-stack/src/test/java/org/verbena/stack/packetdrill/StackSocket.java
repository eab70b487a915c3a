// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.io.IOException;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.tcp.Connection;
import org.verbena.stack.tcp.Listener;
import org.verbena.stack.tcp.TcpPorts;

/** A socket as the system has it, on a connection or a listening port of the stack; results are as of system calls. */
final class StackSocket {
    private static final int POLLIN = 1;
    private static final int POLLOUT = 4;
    private static final int POLLERR = 8;
    private static final int POLLHUP = 0x10;

    private final TcpPorts ports;
    final StackOptions options;
    boolean blocking = true;
    int port;
    @Nullable Connection connection;
    @Nullable Listener listener;
    private boolean abortive;
    /** What was sent last waits for more. */
    private boolean held;

    StackSocket(TcpPorts ports, StackOptions options) {
        this.ports = ports;
        this.options = options;
    }

    /** The state by the name that FreeBSD's TCP_INFO has. */
    String state() {
        Connection c = connection;
        return c != null ? c.state().name() : listener != null ? "LISTEN" : "CLOSED";
    }

    void linger(boolean on, int seconds) throws IOException {
        abortive = on && seconds == 0;
    }

    long listen(int backlog) throws IOException {
        listener = ports.listen(port, backlog, options.settings());
        return listener == null ? -Errno.EADDRINUSE : 0;
    }

    long connect(IpAddress address, int to, long now) throws IOException {
        int way = ports.way(address.high(), address.low(), to);
        if (way != 0) {
            return -way;
        }
        connection = ports.connect(port, address.high(), address.low(), to, options.settings(), now);
        return connection == null ? -Errno.EADDRINUSE : -Errno.EINPROGRESS;
    }

    /** What a connect that waits answers. */
    long connected() {
        Connection c = connection;
        return c == null || c.state().name().equals("CLOSED")
                ? -takeError()
                : c.state().name().startsWith("SYN_") ? Target.Answer.WAITS : 0;
    }

    long takeError() {
        return connection == null ? 0 : takeError(connection);
    }

    long receive(byte[] buffer, boolean peek, long now) throws IOException {
        Connection c = connection;
        if (c == null || c.state().name().equals("SYN_SENT")) {
            return -Errno.ENOTCONN;
        }
        ByteBuffer b = ByteBuffer.wrap(buffer);
        int n = peek ? c.peek(b) : c.read(b, now);
        if (n > 0) {
            return n;
        }
        if (c.error() != 0) {
            return -takeError(c);
        }
        return n < 0 ? 0 : -Errno.EAGAIN;
    }

    /** Sends; a segment that is not full waits if {@code more} is about to come. */
    long send(byte[] data, boolean more, long now) throws IOException {
        Connection c = connection;
        if (c == null) {
            return -Errno.ENOTCONN;
        }
        if (c.error() != 0) {
            return -takeError(c);
        }
        boolean corks = more || held;
        if (corks) {
            c.cork(true, now);
        }
        int n = c.write(ByteBuffer.wrap(data), now);
        held = more;
        if (corks && !more) {
            c.cork(options.get("TCP_CORK") > 0, now);
        }
        return n == 0 && data.length > 0 ? -Errno.EAGAIN : n;
    }

    long shutdown(int how, long now) throws IOException {
        Connection c = connection;
        if (c == null || c.state().name().equals("CLOSED") || c.state().name().equals("SYN_SENT")) {
            return -Errno.ENOTCONN;
        }
        if (how != 0) {
            c.finish(now);
        }
        return 0;
    }

    void close(long now) throws IOException {
        if (listener != null) {
            listener.close(now);
        } else if (connection != null && abortive) {
            connection.abort(now);
        } else if (connection != null) {
            connection.close(now);
        }
    }

    int ready() {
        Connection c = connection;
        if (c == null) {
            return listener != null && listener.ready() > 0 ? POLLIN : 0;
        }
        boolean closed = c.state().name().equals("CLOSED");
        return (c.readable() > 0 || c.isAtEnd() ? POLLIN : 0) | (c.writable() > 0 || closed ? POLLOUT : 0)
                | (c.error() != 0 ? POLLERR : 0) | (closed ? POLLHUP : 0);
    }

    /** As SO_ERROR has it. */
    private static int takeError(Connection c) {
        int e = c.error();
        c.clearError();
        return e;
    }
}
