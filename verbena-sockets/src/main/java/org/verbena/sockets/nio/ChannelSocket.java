// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.net.StandardSocketOptions.IP_TOS;
import static java.net.StandardSocketOptions.SO_KEEPALIVE;
import static java.net.StandardSocketOptions.SO_LINGER;
import static java.net.StandardSocketOptions.SO_RCVBUF;
import static java.net.StandardSocketOptions.SO_REUSEADDR;
import static java.net.StandardSocketOptions.SO_SNDBUF;
import static java.net.StandardSocketOptions.TCP_NODELAY;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The socket of a channel: the bytes and the end are the channel's, the rest is asked of the inner channel's socket, which
 * is the JDK's and has the answers.
 */
final class ChannelSocket extends Socket {
    private final StreamSocketChannel channel;
    private final Socket inner;
    private volatile int timeoutMillis;

    private ChannelSocket(StreamSocketChannel channel) throws SocketException {
        super(new NoSocketImpl());
        this.channel = channel;
        this.inner = channel.inner().socket();
    }

    static Socket of(StreamSocketChannel channel) {
        try {
            return new ChannelSocket(channel);
        } catch (SocketException impossible) {
            throw new AssertionError(impossible);
        }
    }

    @Override
    public void connect(SocketAddress remote) throws IOException {
        connect(remote, 0);
    }

    @Override
    public void connect(@Nullable SocketAddress remote, int timeout) throws IOException {
        try {
            channel.connect(() -> {
                inner.connect(remote, timeout);
                return true;
            });
        } catch (IOException | RuntimeException e) {
            throw SocketExceptions.of(e);
        }
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        try {
            channel.bind(local);
        } catch (IOException | RuntimeException e) {
            throw SocketExceptions.of(e);
        }
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        return inner.getInetAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        return inner.getLocalAddress();
    }

    @Override
    public int getPort() {
        return inner.getPort();
    }

    @Override
    public int getLocalPort() {
        return inner.getLocalPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return inner.getRemoteSocketAddress();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return inner.getLocalSocketAddress();
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        checkStream(channel.input().isShut(), "input");
        return new ChannelStreams.In(channel, () -> timeoutMillis);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        checkStream(channel.output().isShut(), "output");
        return new ChannelStreams.Out(channel);
    }

    private void checkStream(boolean shut, String direction) throws SocketException {
        checkOpen();
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
        if (shut) {
            throw new SocketException("Socket " + direction + " is shutdown");
        }
    }

    private void checkOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            channel.setOption(name, value);
        } catch (IOException e) {
            throw SocketExceptions.socketException(e);
        }
    }

    private <T> T get(SocketOption<T> name) throws SocketException {
        try {
            return Objects.requireNonNull(channel.getOption(name));
        } catch (IOException e) {
            throw SocketExceptions.socketException(e);
        }
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        set(TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return get(TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int linger) throws SocketException {
        set(SO_LINGER, on ? linger : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return get(SO_LINGER);
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        if (!channel.sendUrgent(data)) {
            throw new SocketException(StreamSocketChannel.FULL);
        }
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        checkOpen();
        channel.urgentInline(on);
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        checkOpen();
        return inner.getOOBInline();
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        checkOpen();
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMillis = timeout;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        checkOpen();
        return timeoutMillis;
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        checkSize(size, "send");
        set(SO_SNDBUF, size);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return get(SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        checkSize(size, "receive");
        set(SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(SO_RCVBUF);
    }

    /** A channel takes 0, a socket does not. */
    private static void checkSize(int size, String which) {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid " + which + " size");
        }
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        set(SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return get(SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int tc) throws SocketException {
        set(IP_TOS, tc);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return get(IP_TOS);
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        set(SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return get(SO_REUSEADDR);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public void shutdownInput() throws IOException {
        try {
            channel.shutdownInput();
        } catch (IOException | RuntimeException e) {
            throw SocketExceptions.of(e);
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            channel.shutdownOutput();
        } catch (IOException | RuntimeException e) {
            throw SocketExceptions.of(e);
        }
    }

    @Override
    public String toString() {
        return channel.isConnected()
                ? "Socket[addr=" + getInetAddress() + ",port=" + getPort() + ",localport=" + getLocalPort() + "]"
                : "Socket[unconnected]";
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
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
    public boolean isInputShutdown() {
        return channel.input().isShut();
    }

    @Override
    public boolean isOutputShutdown() {
        return channel.output().isShut();
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
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
}
