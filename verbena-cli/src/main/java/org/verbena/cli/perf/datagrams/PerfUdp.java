// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.support.CommandException;

/** A channel of the JDK, connected and non-blocking. */
public final class PerfUdp implements PerfDatagrams {
    /** The payload of an IPv4 packet. */
    public static final long MAX_SIZE = 65_535 - 20 - 8;

    private final DatagramChannel channel;
    private final ByteBuffer in;
    private final ByteBuffer out;
    private final ByteBuffer credit = ByteBuffer.allocateDirect(1);
    private final int underWay;

    private PerfUdp(PerfJob job, DatagramChannel channel) {
        this.channel = channel;
        in = ByteBuffer.allocateDirect((int) job.size());
        out = ByteBuffer.allocateDirect((int) job.size());
        underWay = job.datagrams();
    }

    /** A separate channel at an address of the control connection. */
    public static DatagramChannel bind(InetAddress own) throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        try {
            return channel.bind(new InetSocketAddress(own, 0));
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    public static int port(DatagramChannel channel) throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    public static PerfUdp of(PerfJob job, DatagramChannel channel, InetSocketAddress remote) throws IOException {
        if (job.size() > MAX_SIZE) {
            throw new CommandException("a datagram has " + MAX_SIZE + " bytes at most");
        }
        channel.connect(remote);
        channel.configureBlocking(false);
        return new PerfUdp(job, channel);
    }

    @Override
    public int underWay() {
        return underWay;
    }

    @Override
    public boolean send(byte mark) throws IOException {
        out.clear().put(0, mark);
        return channel.write(out) > 0;
    }

    @Override
    public boolean sendCredit() throws IOException {
        return channel.write(credit.clear()) > 0;
    }

    @Override
    public boolean receive() throws IOException {
        return channel.read(in.clear()) > 0;
    }

    @Override
    public byte mark() {
        return in.get(0);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
