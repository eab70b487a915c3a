// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Socket implementation of a program, with pipes inside the process and its own ports. */
final class OwnImpl extends SocketImpl {
    private static final AtomicInteger MADE = new AtomicInteger();
    private static final AtomicInteger PORTS = new AtomicInteger(100);
    private static final Map<Integer, BlockingQueue<OwnImpl>> LISTENERS = new ConcurrentHashMap<>();

    private final PipedOutputStream out = new PipedOutputStream();
    private final PipedInputStream in = new PipedInputStream();

    OwnImpl() {
        MADE.incrementAndGet();
    }

    static int made() {
        return MADE.get();
    }

    @Override
    protected void create(boolean stream) {}

    @Override
    protected void connect(String host, int toPort) throws IOException {
        connect(new InetSocketAddress(host, toPort), 0);
    }

    @Override
    protected void connect(InetAddress to, int toPort) throws IOException {
        connect(new InetSocketAddress(to, toPort), 0);
    }

    @Override
    protected void connect(SocketAddress to, int timeout) throws IOException {
        InetSocketAddress remote = (InetSocketAddress) to;
        BlockingQueue<OwnImpl> queue = LISTENERS.get(remote.getPort());
        if (queue == null) {
            throw new IOException("no listener of the program's own");
        }
        address = remote.getAddress();
        port = remote.getPort();
        queue.add(this);
    }

    @Override
    protected void bind(InetAddress host, int atPort) {
        address = host;
        localport = PORTS.incrementAndGet();
    }

    @Override
    protected void listen(int backlog) {
        LISTENERS.put(localport, new LinkedBlockingQueue<>());
    }

    @Override
    protected void accept(SocketImpl s) throws IOException {
        OwnImpl accepted = (OwnImpl) s;
        try {
            OwnImpl peer = LISTENERS.get(localport).take();
            accepted.out.connect(peer.in);
            accepted.in.connect(peer.out);
            accepted.address = address;
            accepted.port = 1;
            accepted.localport = localport;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Override
    protected InputStream getInputStream() {
        return in;
    }

    @Override
    protected OutputStream getOutputStream() {
        return out;
    }

    @Override
    protected int available() throws IOException {
        return in.available();
    }

    @Override
    protected void close() throws IOException {
        out.close();
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        throw new IOException("no urgent data");
    }

    @Override
    public void setOption(int id, Object value) {}

    @Override
    public Object getOption(int id) {
        return 0;
    }
}
