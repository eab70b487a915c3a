// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/** What the superclasses of the socket adaptors want; the adaptors override everything that would reach it. */
class NoSocketImpl extends SocketImpl {
    private static AssertionError reached() {
        return new AssertionError("a socket adaptor forgot to override a method");
    }

    @Override
    protected void create(boolean stream) {
        throw reached();
    }

    @Override
    protected void connect(String host, int port) {
        throw reached();
    }

    @Override
    protected void connect(InetAddress address, int port) {
        throw reached();
    }

    @Override
    protected void connect(SocketAddress address, int timeout) {
        throw reached();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw reached();
    }

    @Override
    protected void listen(int backlog) {
        throw reached();
    }

    @Override
    protected void accept(SocketImpl s) throws IOException {
        throw reached();
    }

    @Override
    protected InputStream getInputStream() {
        throw reached();
    }

    @Override
    protected OutputStream getOutputStream() {
        throw reached();
    }

    @Override
    protected int available() {
        throw reached();
    }

    @Override
    protected void close() {}

    @Override
    protected void sendUrgentData(int data) {
        throw reached();
    }

    @Override
    public void setOption(int name, Object value) {
        throw reached();
    }

    @Override
    public Object getOption(int name) {
        throw reached();
    }
}
