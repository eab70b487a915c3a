// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.datagrams.PerfStack;
import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.support.CommandException;
import org.verbena.stack.Stack;
import org.verbena.stack.TcpServer;
import org.verbena.stack.TcpSocket;
import org.verbena.stack.model.TcpSettings;
import org.verbena.verbs.Context;

/**
 * TCP at one end of a {@code stack} test, of the kernel or of a stack in user space. Its channels do not wait. The
 * side that measures closes them by a reset: ports in TIME_WAIT would run out.
 */
interface PerfTcpHost extends Closeable {
    Duration PATIENCE = Duration.ofSeconds(10);

    /** Accepts connections from now on; the port. */
    int listen() throws IOException;

    /** A connection that has come, or null. */
    @Nullable
    ByteChannel accept() throws IOException;

    /** Connects to the port of the other end. */
    ByteChannel connect(int port) throws IOException;

    /** Of the kernel. */
    final class Kernel implements PerfTcpHost {
        private final boolean initiator;
        private final InetAddress here;
        private final InetAddress there;
        private final PerfControl peer;
        private @Nullable ServerSocketChannel listener;

        Kernel(boolean initiator, PerfControl peer) {
            this.initiator = initiator;
            here = InetAddress.ofLiteral(PerfStack.address(initiator));
            there = InetAddress.ofLiteral(PerfStack.address(!initiator));
            this.peer = peer;
        }

        @Override
        public int listen() throws IOException {
            ServerSocketChannel l = ServerSocketChannel.open();
            listener = l;
            try {
                l.bind(new InetSocketAddress(here, 0));
            } catch (BindException e) {
                throw lacksAddress(e);
            }
            l.configureBlocking(false);
            return ((InetSocketAddress) l.getLocalAddress()).getPort();
        }

        private CommandException lacksAddress(BindException e) {
            return new CommandException("the kernel needs the address " + here.getHostAddress()
                    + "/24 on the interface of this end to be measured: 'ip address add' gives it, " + e.getMessage(),
                    e);
        }

        @Override
        public @Nullable ByteChannel accept() throws IOException {
            SocketChannel c = listener == null ? null : listener.accept();
            return c == null ? null : set(c);
        }

        @Override
        public ByteChannel connect(int port) throws IOException {
            SocketChannel c = SocketChannel.open();
            try {
                c.bind(new InetSocketAddress(here, 0));
                set(c).connect(new InetSocketAddress(there, port));
                long turns = 0;
                while (!c.finishConnect()) {
                    turns = peer.spin(turns);
                }
                return c;
            } catch (BindException e) {
                c.close();
                throw lacksAddress(e);
            } catch (IOException | RuntimeException e) {
                c.close();
                throw e;
            }
        }

        private SocketChannel set(SocketChannel c) throws IOException {
            c.configureBlocking(false);
            c.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (initiator) {
                c.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            return c;
        }

        @Override
        public void close() throws IOException {
            if (listener != null) {
                listener.close();
            }
        }
    }

    /** Of a stack. */
    final class User implements PerfTcpHost {
        private static final TcpSettings SETTINGS = TcpSettings.builder().noDelay(true).build();
        private static final Duration SPIN = Duration.ofSeconds(1);
        private static final int BACKLOG = 128;

        private final Stack stack;
        private final InetAddress there;
        private @Nullable TcpServer server;

        User(boolean initiator, Context context, PerfControl peer) throws IOException {
            there = InetAddress.ofLiteral(PerfStack.address(!initiator));
            stack = PerfStack.open(initiator, context, peer, SPIN);
        }

        @Override
        public int listen() throws IOException {
            server = stack.listenTcp(0, BACKLOG, SETTINGS);
            return server.port();
        }

        @Override
        public @Nullable ByteChannel accept() throws IOException {
            TcpSocket s = server == null ? null : server.accept(Duration.ZERO);
            return s == null ? null : new Channel(s, false);
        }

        @Override
        public ByteChannel connect(int port) throws IOException {
            return new Channel(stack.connectTcp(0, new InetSocketAddress(there, port), PATIENCE, SETTINGS),
                    true);
        }

        @Override
        public void close() throws IOException {
            stack.close();
        }
    }

    /** A socket that looks once, and is closed by a reset or by its end. */
    record Channel(TcpSocket socket, boolean resets) implements ByteChannel {
        @Override
        public int read(ByteBuffer into) throws IOException {
            return socket.read(into, Duration.ZERO);
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            return socket.write(bytes, Duration.ZERO);
        }

        @Override
        public boolean isOpen() {
            return socket.isOpen();
        }

        @Override
        public void close() throws IOException {
            if (resets) {
                socket.abort();
            } else {
                socket.close();
            }
        }
    }
}
