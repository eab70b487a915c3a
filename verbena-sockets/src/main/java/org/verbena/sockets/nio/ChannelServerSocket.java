// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** The server socket of a channel: what it accepts is the channel's, the rest is asked of the inner channel's. */
final class ChannelServerSocket extends ServerSocket {
    private final StreamServerSocketChannel channel;
    private final ServerSocket inner;

    private ChannelServerSocket(StreamServerSocketChannel channel) {
        super(new NoSocketImpl());
        this.channel = channel;
        this.inner = channel.inner().socket();
    }

    static ServerSocket of(StreamServerSocketChannel channel) {
        return new ChannelServerSocket(channel);
    }

    @Override
    public Socket accept() throws IOException {
        try {
            // the inner socket has the time-out; its channel is what is wanted
            StreamSocketChannel accepted = channel.accept(() -> inner.accept().getChannel());
            if (accepted == null) {
                throw new IllegalBlockingModeException();
            }
            return accepted.socket();
        } catch (IOException | RuntimeException e) {
            throw SocketExceptions.of(e);
        }
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        bind(local, 50);
    }

    @Override
    public void bind(@Nullable SocketAddress local, int backlog) throws IOException {
        try {
            channel.bind(local == null ? new InetSocketAddress(0) : local, backlog);
        } catch (IOException | RuntimeException e) {
            throw SocketExceptions.of(e);
        }
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        return inner.getInetAddress();
    }

    @Override
    public int getLocalPort() {
        return inner.getLocalPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return inner.getLocalSocketAddress();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public boolean isBound() {
        return inner.isBound();
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        inner.setSoTimeout(timeout);
    }

    @Override
    public int getSoTimeout() throws IOException {
        return inner.getSoTimeout();
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        inner.setReuseAddress(on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return inner.getReuseAddress();
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        inner.setReceiveBufferSize(size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return inner.getReceiveBufferSize();
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        return Objects.toString(inner);
    }
}
