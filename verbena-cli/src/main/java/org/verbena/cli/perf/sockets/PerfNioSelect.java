// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.List;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfPaced;
import org.verbena.cli.perf.run.PerfTest;

/** {@code nio-lat-select} and {@code nio-lat-selectnow}: ping-pong through a selector, over connections that take turns. */
final class PerfNioSelect extends PerfSelecting implements PerfPaced {
    private final List<SocketChannel> channels;
    private final boolean initiator;
    private final int size;
    private final ByteBuffer out;
    private final boolean waits;
    private long wanted;
    private long served;
    private long number;

    /** A connection's message that has arrived in part. */
    private static final class Place {
        final ByteBuffer in;
        final int first;
        /** The number of the message whose answer is next, of a run whose messages are sent at fixed times. */
        long next;

        Place(int size, int first) {
            this.in = ByteBuffer.allocateDirect(size);
            this.first = first;
        }
    }

    PerfNioSelect(PerfJob job, PerfControl peer, Selector selector, List<SocketChannel> channels, boolean initiator)
            throws IOException {
        super(peer, selector, job.test() == PerfTest.NIO_LAT_SELECTNOW);
        this.channels = channels;
        this.initiator = initiator;
        this.size = Math.toIntExact(job.size());
        this.out = ByteBuffer.allocateDirect(size);
        this.waits = job.test() == PerfTest.NIO_LAT_SELECT;
        for (int i = 0; i < channels.size(); i++) {
            channels.get(i).register(selector, SelectionKey.OP_READ, new Place(size, i));
        }
    }

    @Override
    public int inFlight() {
        return waits ? 1 : UNLIMITED;
    }

    @Override
    public void begin() {
        number = 0;
        for (SelectionKey key : selector.keys()) {
            Place place = (Place) key.attachment();
            place.next = place.first;
        }
    }

    @Override
    public boolean send() throws IOException {
        SocketChannel channel = channels.get((int) (number % channels.size()));
        if (waits) {
            PerfTcp.write(channel, out, peer);
        } else {
            channel.write(out);
            if (out.hasRemaining()) {
                return false;
            }
        }
        out.clear();
        number++;
        return true;
    }

    @Override
    public void poll() throws IOException {
        select();
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            if (initiator) {
                PerfTcp.write(channels.get((int) ((remaining - i) % channels.size())), out, peer);
            }
            wanted++;
            while (served < wanted) { // more may be served than this turn is for
                select();
            }
            if (initiator) {
                roundTrip();
            }
        }
    }

    @Override
    protected void serve(SelectionKey key) throws IOException {
        Place place = (Place) key.attachment();
        ByteBuffer in = place.in;
        SocketChannel channel = (SocketChannel) key.channel();
        if (channel.read(in) < 0) {
            throw PerfTcp.closed();
        }
        if (!in.hasRemaining()) {
            in.clear();
            served++;
            if (isPaced()) {
                answered(place.next);
                place.next += channels.size();
            } else if (!initiator) {
                PerfTcp.write(channel, out, peer);
            }
        }
    }
}
