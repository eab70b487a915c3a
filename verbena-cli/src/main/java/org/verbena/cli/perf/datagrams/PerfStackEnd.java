// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.support.CommandException;
import org.verbena.stack.Stack;
import org.verbena.stack.UdpPeer;
import org.verbena.stack.UdpSocket;
import org.verbena.verbs.Context;

/** A connected socket of a {@link Stack}, which is a host of its own on the device. */
final class PerfStackEnd implements PerfDeviceEnd {
    /** More messages than this under way gain nothing. */
    private static final int MOST_UNDER_WAY = 128;
    /** Half of the buffers that the stack has for frames that come. */
    private static final int FRAMES = 256;
    /** Of a queue, for each datagram. */
    private static final int RECORD = 23;
    /** Of the headers of IPv4 and UDP. */
    private static final int HEADERS = 20 + 8;
    private static final int ETHERNET_MTU = 1500;

    private final Stack stack;
    private final UdpSocket socket;
    private final InetAddress remote;
    private final ByteBuffer in;
    private final ByteBuffer out;
    private final ByteBuffer credit = ByteBuffer.allocateDirect(1);
    private final UdpPeer from = new UdpPeer();
    private final int underWay;
    private UdpPeer to = new UdpPeer();

    private PerfStackEnd(int size, boolean initiator, Stack stack) throws IOException {
        this.stack = stack;
        socket = stack.bindUdp(0);
        remote = InetAddress.ofLiteral(PerfStack.address(!initiator));
        in = ByteBuffer.allocateDirect(size);
        out = ByteBuffer.allocateDirect(size);
        int most = Math.min(UdpSocket.DEFAULT_QUEUE / (size + RECORD), FRAMES / Math.ceilDiv(size + HEADERS,
                ETHERNET_MTU));
        underWay = Math.clamp(most, 1, MOST_UNDER_WAY);
    }

    static PerfStackEnd open(PerfJob job, boolean initiator, Context context, PerfControl peer) throws IOException {
        if (job.size() > PerfUdp.MAX_SIZE) {
            throw new CommandException("a datagram has " + PerfUdp.MAX_SIZE + " bytes at most");
        }
        Stack stack = PerfStack.open(initiator, context, peer, Duration.ZERO);
        try {
            return new PerfStackEnd((int) job.size(), initiator, stack);
        } catch (IOException | RuntimeException e) {
            stack.close();
            throw e;
        }
    }

    @Override
    public String describe() {
        return "stack=" + socket.port();
    }

    @Override
    public void connect(PerfFields other) throws IOException {
        to = UdpPeer.of(new InetSocketAddress(remote, (int) other.number("stack", 1, 65_535)));
        socket.connect(to);
    }

    @Override
    public int underWay() {
        return underWay;
    }

    @Override
    public boolean send(byte mark) throws IOException {
        socket.send(out.clear().put(0, mark), to);
        return true;
    }

    @Override
    public boolean sendCredit() throws IOException {
        socket.send(credit.clear(), to);
        return true;
    }

    @Override
    public boolean receive() throws IOException {
        try {
            return socket.receive(in.clear(), from, Duration.ZERO);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        }
    }

    @Override
    public byte mark() {
        return in.get(0);
    }

    @Override
    public void close() throws IOException {
        socket.close();
        stack.close();
    }
}
