// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.PeerException;

/** Opens the sockets of a run, with its options. */
final class Channels {
    private static final int BACKLOG = 1_024;

    private final SocketOptions options;
    private final SelectorProvider provider;

    Channels(SocketOptions options) throws CommandException {
        this.options = options;
        provider = options.provider();
    }

    SelectorProvider provider() {
        return provider;
    }

    /**
     * A client's link to a server.
     *
     * @param local what it is bound to; null: anything
     * @param noDelay whether small messages of TCP leave at once
     */
    Link connect(Endpoint to, @Nullable InetSocketAddress local, boolean noDelay) throws IOException {
        return to.tcp() ? connectStream(to, local, noDelay) : connectDatagrams(to, local);
    }

    private Link connectStream(Endpoint to, @Nullable InetSocketAddress local, boolean noDelay) throws IOException {
        SocketChannel c = provider.openSocketChannel();
        try {
            set(c);
            c.setOption(StandardSocketOptions.TCP_NODELAY, noDelay != options.avoidNoDelay);
            bind(c, local);
            c.connect(to.address());
            return new StreamLink(c);
        } catch (ConnectException e) {
            close(c);
            throw nobody(HostPort.text(to.address()), e);
        } catch (IOException | RuntimeException e) {
            close(c);
            throw e;
        }
    }

    /** No server is there. */
    static PeerException nobody(String peer, IOException e) {
        return new PeerException("no server at " + peer
                + ": start 'verbena sockperf server' or 'sockperf server' there first",
                e);
    }

    private Link connectDatagrams(Endpoint to, @Nullable InetSocketAddress local) throws IOException {
        DatagramChannel c = provider.openDatagramChannel(family(to.address()));
        try {
            set(c);
            bind(c, local != null ? local : to.isGroup() ? new InetSocketAddress(0) : null);
            if (to.isGroup()) {
                group(c);
                join(c, to);
            } else {
                c.connect(to.address());
            }
            return new DatagramLink(c, to.address(), null);
        } catch (IOException | RuntimeException e) {
            close(c);
            throw e;
        }
    }

    /** A server's socket of UDP. */
    DatagramLink listenDatagrams(Endpoint at, boolean answersOne) throws IOException {
        DatagramChannel c = provider.openDatagramChannel(family(at.address()));
        try {
            set(c);
            if (options.reuse || at.isGroup()) {
                c.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            }
            bind(c, at.address());
            if (at.isGroup()) {
                group(c);
                join(c, at);
            }
            return new DatagramLink(c, at.address(), at.isGroup() && !answersOne ? at.address() : null);
        } catch (IOException | RuntimeException e) {
            close(c);
            throw e;
        }
    }

    /** A server's listener of TCP. */
    ServerSocketChannel listen(Endpoint at) throws IOException {
        ServerSocketChannel c = provider.openServerSocketChannel();
        try {
            Integer size = options.bufferSize;
            if (size != null) {
                c.setOption(StandardSocketOptions.SO_RCVBUF, size);
            }
            c.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            c.bind(at.address(), BACKLOG);
            return c;
        } catch (BindException e) {
            close(c);
            throw taken(at.address(), e);
        } catch (IOException | RuntimeException e) {
            close(c);
            throw e;
        }
    }

    /** A connection that was accepted. */
    Link accepted(SocketChannel c) throws IOException {
        set(c);
        c.setOption(StandardSocketOptions.TCP_NODELAY, !options.avoidNoDelay);
        return new StreamLink(c);
    }

    private void set(NetworkChannel c) throws IOException {
        Integer size = options.bufferSize;
        if (size != null) {
            c.setOption(StandardSocketOptions.SO_RCVBUF, size);
            c.setOption(StandardSocketOptions.SO_SNDBUF, size);
        }
        Integer tos = options.tos;
        if (tos != null) {
            c.setOption(StandardSocketOptions.IP_TOS, tos);
        }
    }

    private static void bind(NetworkChannel c, @Nullable InetSocketAddress local) throws IOException {
        if (local != null) {
            try {
                c.bind(local);
            } catch (BindException e) {
                throw taken(local, e);
            }
        }
    }

    private static CommandException taken(InetSocketAddress local, BindException e) {
        return new CommandException(HostPort.text(local) + " is not to be had: " + e.getMessage()
                + "; take another with --ip and --port", e);
    }

    private void group(DatagramChannel c) throws IOException {
        c.setOption(StandardSocketOptions.IP_MULTICAST_TTL, options.groupHops);
        c.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, options.groupLoopback);
        InetAddress by = options.sendInterface();
        if (by != null) {
            c.setOption(StandardSocketOptions.IP_MULTICAST_IF, networkInterface(by));
        }
    }

    private void join(DatagramChannel c, Endpoint group) throws IOException {
        InetAddress on = options.receiveInterface();
        NetworkInterface in = networkInterface(on == null ? route(group.address()) : on);
        InetAddress source = group.source();
        if (source == null) {
            c.join(group.address().getAddress(), in);
        } else {
            c.join(group.address().getAddress(), in, source);
        }
    }

    /** The own address from which the kernel sends to another. */
    private static InetAddress route(InetSocketAddress to) throws IOException {
        try (DatagramChannel c = DatagramChannel.open(family(to))) {
            c.connect(to);
            return ((InetSocketAddress) c.getLocalAddress()).getAddress();
        }
    }

    private static NetworkInterface networkInterface(InetAddress own) throws IOException {
        NetworkInterface i = NetworkInterface.getByInetAddress(own);
        if (i == null) {
            throw new CommandException(own.getHostAddress()
                    + " is no address of this machine: name one of the interface");
        }
        return i;
    }

    private static ProtocolFamily family(InetSocketAddress a) {
        return a.getAddress().getAddress().length == 4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }

    static void close(Channel c) {
        try {
            c.close();
        } catch (IOException e) {
            // nothing more is sent or received by it
        }
    }
}
