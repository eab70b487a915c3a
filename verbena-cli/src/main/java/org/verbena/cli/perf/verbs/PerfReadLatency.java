// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.verbs;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPaced;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.verbs.SendFlags;

/** {@code read-lat} and {@code atomic-lat}: the initiator waits for the completion; the target sleeps. */
public final class PerfReadLatency extends PerfLoop implements PerfPaced {
    private final PerfEndpoint end;
    private final boolean atomic;
    private final boolean verify;
    private final long size;
    private final int mask;
    private long number;
    private long posted;

    public PerfReadLatency(PerfEndpoint end) {
        super(end.peer);
        this.end = end;
        this.atomic = end.job.test() == PerfTest.ATOMIC_LAT;
        this.verify = end.job.verify();
        this.size = end.job.size();
        this.mask = end.job.places() - 1;
    }

    @Override
    public int inFlight() {
        return end.job.events() ? 1 : Math.min(mask + 1, end.depth());
    }

    @Override
    public boolean send() throws IOException {
        post(posted++);
        return true;
    }

    @Override
    public void poll() throws IOException {
        for (int n = end.job.events() ? end.reapSome() : end.reap(); n > 0; n--) {
            if (verify) {
                check();
            }
            number++;
            answered();
        }
    }

    private void post(long k) throws IOException {
        if (atomic) {
            end.fetchAndAdd(k, place(k));
        } else {
            end.read(0, k, SendFlags.SIGNALED, end.remoteOut, end.in + place(k) * end.job.stride(), size);
        }
    }

    private int place(long k) {
        return (int) (k & mask);
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            post(number);
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
            PerfPattern.check(end.memory, end.in + place(number) * end.job.stride(), size, 0);
            return;
        }
        long answer = (long) PerfPattern.LONG.getAcquire(end.memory, PerfEndpoint.result(place(number)));
        if (answer != number) {
            throw new CommandException("fetch-and-add number " + number + " answered " + answer);
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }

    /** The target of reads and atomics: its memory is read without its help. */
    public static final class Target extends Idle {
        private final PerfEndpoint end;

        public Target(PerfEndpoint end) {
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
