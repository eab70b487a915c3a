// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

import org.verbena.cli.support.CommandException;

/**
 * {@code udp-lat-spin}: channels of the JDK, connected and non-blocking; both ends spin. A lost datagram ends the test.
 */
final class PerfUdp extends PerfLoop implements PerfPaced {
    /** The payload of an IPv4 packet. */
    static final long MAX_SIZE = 65_535 - 20 - 8;

    private final DatagramChannel channel;
    private final boolean initiator;
    private final ByteBuffer buffer;
    private final ByteBuffer out;
    private final int inFlight;

    private PerfUdp(PerfJob job, PerfControl peer, DatagramChannel channel, boolean initiator) {
        super(peer);
        this.channel = channel;
        this.initiator = initiator;
        buffer = ByteBuffer.allocateDirect((int) job.size());
        out = ByteBuffer.allocateDirect((int) job.size());
        inFlight = job.datagrams();
    }

    /** A separate channel at an address of the control connection. */
    static DatagramChannel bind(InetAddress own) throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        try {
            return channel.bind(new InetSocketAddress(own, 0));
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    static int port(DatagramChannel channel) throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    static PerfUdp of(PerfJob job, PerfControl peer, DatagramChannel channel, InetSocketAddress remote,
            boolean initiator) throws IOException {
        if (job.size() > MAX_SIZE) {
            throw new CommandException("a datagram has " + MAX_SIZE + " bytes at most");
        }
        channel.connect(remote);
        channel.configureBlocking(false);
        return new PerfUdp(job, peer, channel, initiator);
    }

    @Override
    public int inFlight() {
        return inFlight;
    }

    @Override
    public boolean send() throws IOException {
        out.clear();
        return channel.write(out) > 0;
    }

    @Override
    public void poll() throws IOException {
        buffer.clear();
        if (channel.read(buffer) > 0) {
            answered();
        }
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            if (initiator) {
                pass();
                receive();
                roundTrip();
            } else {
                receive();
                pass();
            }
        }
    }

    private void pass() throws IOException {
        buffer.clear();
        long turns = 0;
        while (channel.write(buffer) == 0) {
            turns = peer.spin(turns);
        }
    }

    private void receive() throws IOException {
        buffer.clear();
        long turns = 0;
        while (channel.read(buffer) == 0) {
            turns = peer.spin(turns);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
