// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.verbs;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPaced;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.support.CommandException;
import org.verbena.verbs.SendFlags;

/**
 * {@code write-lat}: each side polls its memory for the other's write, and writes back; at a fixed rate in several places
 * in turn.
 */
public final class PerfWriteLatency extends PerfLoop implements PerfPaced {
    private static final int SIGNAL_MASK = 31;

    private final PerfEndpoint end;
    private final boolean initiator;
    private final boolean verify;
    private final boolean pollsMove;
    private final long size;
    private final int width;
    private final int mask;
    private long number;
    private long received;

    public PerfWriteLatency(PerfEndpoint end, boolean initiator) {
        super(end.peer);
        this.end = end;
        this.initiator = initiator;
        this.verify = end.job.verify();
        this.size = end.job.size();
        this.pollsMove = end.pollsMove();
        this.width = PerfPattern.stampWidth(size);
        this.mask = end.job.places() - 1;
    }

    @Override
    public int inFlight() {
        return mask + 1;
    }

    @Override
    public boolean send() throws IOException {
        write(++number);
        return true;
    }

    @Override
    public void poll() throws IOException {
        long k = received + 1;
        if (isThere(k)) {
            received = k;
            check(k);
            answered();
        } else {
            idle();
        }
    }

    @Override
    public void idle() throws IOException {
        if (pollsMove) {
            end.reap();
        }
    }

    private long place(long k) {
        return (k & mask) * end.job.stride();
    }

    private boolean isThere(long k) {
        return PerfPattern.isStamped(end.memory, end.in + place(k) + size - width, width, k);
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long k = ++number;
            if (initiator) {
                write(k);
                await(k);
                roundTrip();
            } else {
                await(k);
                write(k);
            }
        }
    }

    private void write(long k) throws IOException {
        if (verify) {
            PerfPattern.fill(end.memory, end.out + place(k), size, k);
        }
        PerfPattern.stamp(end.memory, end.out + place(k) + size - width, width, k);
        boolean signal = (k & SIGNAL_MASK) == 0;
        end.write(0, k, signal ? SendFlags.SIGNALED : SendFlags.NONE, end.remoteIn + place(k), end.out
                + place(k), size);
        if (signal) {
            end.reap();
        }
    }

    private void await(long k) throws IOException {
        long turns = 0;
        while (!isThere(k)) {
            turns = peer.spin(turns);
            if (pollsMove) {
                end.reap();
            }
        }
        check(k);
    }

    private void check(long k) throws CommandException {
        if (verify) {
            PerfPattern.check(end.memory, end.in + place(k), size - width, k);
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
