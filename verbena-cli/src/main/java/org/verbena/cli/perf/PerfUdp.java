// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;

/**
 * {@code udp-lat-spin}: channels of the JDK, connected and non-blocking; both ends spin. A lost datagram ends the test: where
 * several are under way, the first byte of each has its number, which the answer brings back, so that an answer is not taken
 * for that of a lost one.
 */
final class PerfUdp extends PerfLoop implements PerfPaced {
    /** The payload of an IPv4 packet. */
    static final long MAX_SIZE = 65_535 - 20 - 8;

    private static final String REMEDY = "UDP loses what has no room: take a lower rate or a smaller size, or run fewer"
            + " programs beside it";

    private final DatagramChannel channel;
    private final boolean initiator;
    private final ByteBuffer buffer;
    private final ByteBuffer out;
    private final int inFlight;
    private long sent;
    private long answers;

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
    void run(long n) throws IOException {
        try {
            super.run(n);
        } catch (PerfSilence e) {
            throw new CommandException("a datagram or its answer was lost, or the peer has stopped: none has come for "
                    + HumanText.count(e.seconds(), "second") + ". " + REMEDY, e);
        }
    }

    @Override
    public void begin() {
        sent = 0;
        answers = 0;
    }

    @Override
    public boolean send() throws IOException {
        out.clear().put(0, (byte) sent);
        if (channel.write(out) == 0) {
            return false;
        }
        sent++;
        return true;
    }

    @Override
    public void poll() throws IOException {
        buffer.clear();
        if (channel.read(buffer) > 0) {
            if (buffer.get(0) != (byte) answers) {
                throw new CommandException("datagram " + (answers + 1)
                        + " or its answer was lost, or overtaken by a later"
                        + " one. " + REMEDY);
            }
            answers++;
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
