// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;

import org.verbena.cli.support.CommandException;
import org.verbena.verbs.SendFlags;

/** {@code read-lat} and {@code atomic-lat}: the initiator waits for the completion; the target sleeps. */
final class PerfReadLatency extends PerfLoop {
    private final PerfEndpoint end;
    private final boolean atomic;
    private final boolean verify;
    private final long size;
    private long number;

    PerfReadLatency(PerfEndpoint end) {
        super(end.peer);
        this.end = end;
        this.atomic = end.job.test() == PerfTest.ATOMIC_LAT;
        this.verify = end.job.verify();
        this.size = end.job.size();
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            if (atomic) {
                end.fetchAndAdd(number);
            } else {
                end.read(0, number, SendFlags.SIGNALED, end.remoteOut, end.in, size);
            }
            end.reapSome();
            if (verify) {
                check();
            }
            number++;
            roundTrip();
        }
    }

    private void check() throws CommandException {
        if (!atomic) {
            PerfPattern.check(end.memory, end.in, size, 0);
        } else if ((long) PerfPattern.LONG.getAcquire(end.memory, PerfEndpoint.WORD) != number) {
            throw new CommandException("fetch-and-add number " + number + " answered "
                    + (long) PerfPattern.LONG.getAcquire(end.memory, PerfEndpoint.WORD));
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }

    /** The target of reads and atomics: its memory is read without its help. */
    static final class Target extends Idle {
        private final PerfEndpoint end;

        Target(PerfEndpoint end) {
            super(end.peer);
            this.end = end;
            if (end.job.verify()) {
                for (int slot = 0; slot < end.slots; slot++) {
                    PerfPattern.fill(end.memory, end.out + slot * end.job.stride(), end.job.size(), slot);
                }
            }
        }

        @Override
        public void close() throws IOException {
            end.close();
        }
    }
}
