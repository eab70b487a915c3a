// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;

import org.verbena.verbs.SendFlags;

/** {@code write-lat}: each side polls its memory for the other's write, and writes back. */
final class PerfWriteLatency extends PerfLoop {
    private static final int SIGNAL_MASK = 31;

    private final PerfEndpoint end;
    private final boolean initiator;
    private final boolean verify;
    private final boolean pollsMove;
    private final long size;
    private final int width;
    private long number;

    PerfWriteLatency(PerfEndpoint end, boolean initiator) {
        super(end.peer);
        this.end = end;
        this.initiator = initiator;
        this.verify = end.job.verify();
        this.size = end.job.size();
        this.pollsMove = end.pollsMove();
        this.width = PerfPattern.stampWidth(size);
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
            PerfPattern.fill(end.memory, end.out, size, k);
        }
        PerfPattern.stamp(end.memory, end.out + size - width, width, k);
        boolean signal = (k & SIGNAL_MASK) == 0;
        end.write(0, k, signal ? SendFlags.SIGNALED : SendFlags.NONE, end.remoteIn, end.out, size);
        if (signal) {
            end.reap();
        }
    }

    private void await(long k) throws IOException {
        long turns = 0;
        while (!PerfPattern.isStamped(end.memory, end.in + size - width, width, k)) {
            turns = peer.spin(turns);
            if (pollsMove) {
                end.reap();
            }
        }
        if (verify) {
            PerfPattern.check(end.memory, end.in, size - width, k);
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
