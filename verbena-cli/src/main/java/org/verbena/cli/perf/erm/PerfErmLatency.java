// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.erm;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPaced;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.support.CommandException;

/**
 * {@code erm-lat}: each side polls for the event of the other's copy, and copies back; at a fixed rate in several places
 * in turn.
 */
final class PerfErmLatency extends PerfLoop implements PerfPaced {
    private static final int SIGNAL_MASK = 31;

    private final PerfErm end;
    private final boolean initiator;
    private final boolean verify;
    private final long size;
    private final int mask;
    private long number;
    private long received;

    PerfErmLatency(PerfErm end, boolean initiator) {
        super(end.peer);
        this.end = end;
        this.initiator = initiator;
        this.verify = end.job.verify();
        this.size = end.job.size();
        this.mask = end.job.places() - 1;
    }

    @Override
    public int inFlight() {
        return mask + 1;
    }

    @Override
    public boolean send() throws IOException {
        copy(++number);
        return true;
    }

    @Override
    public void poll() throws IOException {
        if (end.events.poll()) {
            end.requireCopy();
            check(++received);
            answered();
        }
    }

    private long place(long k) {
        return PerfErm.FIRST + (k & mask) * end.job.stride();
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long k = ++number;
            if (initiator) {
                copy(k);
                await(k);
                roundTrip();
            } else {
                await(k);
                copy(k);
            }
        }
    }

    private void copy(long k) throws IOException {
        if (verify) {
            PerfPattern.fill(end.out, place(k), size, k);
        }
        boolean signal = (k & SIGNAL_MASK) == 0;
        end.copy(place(k), size, PerfErm.telling(signal), k, 0);
        if (signal) {
            end.reap();
        }
    }

    private void await(long k) throws IOException {
        end.awaitCopy();
        check(k);
    }

    private void check(long k) throws CommandException {
        if (verify) {
            end.check(place(k), k);
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
