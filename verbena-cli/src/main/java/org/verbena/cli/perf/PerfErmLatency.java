// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;

/** {@code erm-lat}: each side polls for the event of the other's copy, and copies back. */
final class PerfErmLatency extends PerfLoop {
    private static final int SIGNAL_MASK = 31;

    private final PerfErm end;
    private final boolean initiator;
    private final boolean verify;
    private final long size;
    private long number;

    PerfErmLatency(PerfErm end, boolean initiator) {
        super(end.peer);
        this.end = end;
        this.initiator = initiator;
        this.verify = end.job.verify();
        this.size = end.job.size();
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
            PerfPattern.fill(end.out, PerfErm.FIRST, size, k);
        }
        boolean signal = (k & SIGNAL_MASK) == 0;
        end.copy(PerfErm.FIRST, size, PerfErm.telling(signal), k, 0);
        if (signal) {
            end.reap();
        }
    }

    private void await(long k) throws IOException {
        end.awaitCopy();
        if (verify) {
            end.check(PerfErm.FIRST, k);
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
