// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.erm;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.erm.CopyFlags;

/**
 * The initiator of {@code erm-bw}: copies in batches, the last of each with a completion. When the target follows, each
 * copy raises an event there, and a buffer is copied again only when the target has reported that it consumed it.
 */
final class PerfErmBandwidth extends PerfLoop {
    private static final int BATCH = 16;

    private final PerfErm end;
    private final boolean follows;
    private final boolean verify;
    private final long size;
    private final long stride;
    private final int slots;
    private long number;
    private long consumed;
    private int slot;
    /** Copies that the next commit starts, up to message {@code number}; the buffer of the first. */
    private int gathered;
    private int firstSlot;

    PerfErmBandwidth(PerfErm end) {
        super(end.peer);
        this.end = end;
        this.follows = end.job.followed();
        this.verify = end.job.verify();
        this.size = end.job.size();
        this.stride = end.job.stride();
        this.slots = end.slots;
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            if (follows) {
                awaitRoom();
            }
            number++;
            gathered++;
            if (verify) {
                PerfPattern.fill(end.out, PerfErm.FIRST + slot * stride, size, number);
            }
            slot = slot + 1 == slots ? 0 : slot + 1;
            if (gathered == BATCH || remaining - i == 1) {
                commit();
            }
        }
    }

    /** Waits until the target has consumed the message that was last in the next buffer. */
    private void awaitRoom() throws IOException {
        if (number - consumed < slots) {
            return;
        }
        commit();
        awaitConsumed(number - slots + 1);
    }

    private void awaitConsumed(long message) throws IOException {
        long turns = 0;
        while (consumed < message) {
            if (!takeConsumed()) {
                end.reap();
                turns = peer.spin(turns);
            }
        }
    }

    /** Takes reports of the target about consumed messages, if there are any. */
    private boolean takeConsumed() throws IOException {
        boolean said = end.events.poll();
        if (said) {
            end.requireCopy();
            consumed = end.events.userData();
        }
        return said;
    }

    private void commit() throws IOException {
        if (gathered == 0) {
            return;
        }
        int error = post();
        long turns = 0;
        while (error != 0) {
            turns = end.makeRoom(error, turns);
            if (follows) {
                takeConsumed(); // this also makes room for events
            }
            error = post();
        }
        gathered = 0;
        firstSlot = slot;
        end.reap();
    }

    private int post() {
        end.copies.start();
        int last = gathered - 1;
        int s = firstSlot;
        for (int i = 0; i <= last; i++) {
            long offset = PerfErm.FIRST + s * stride;
            s = s + 1 == slots ? 0 : s + 1;
            int flags = follows
                    ? PerfErm.telling(i == last)
                    : i == last ? CopyFlags.NONE : CopyFlags.UNSIGNALED;
            end.add(offset, size, flags, number - last + i);
        }
        return end.copies.commit();
    }

    @Override
    protected void finish() throws IOException {
        end.finish();
        if (follows) {
            awaitConsumed(number);
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }

    /** The target of copies without remote completions. */
    static final class Target extends Idle {
        private final PerfErm end;

        Target(PerfErm end) {
            super(end.peer);
            this.end = end;
        }

        @Override
        public void close() throws IOException {
            end.close();
        }
    }

    /** The target that follows: polls for each copy, reads it, and reports its progress by empty copies. */
    static final class Follower extends PerfLoop {
        private static final int SIGNAL_MASK = 15;

        private final PerfErm end;
        private final boolean verify;
        private final long size;
        private final long stride;
        private final int slots;
        private final int tellEvery;
        private long number;
        private long told;
        private int slot;
        private int untold;
        private long sum;

        Follower(PerfErm end) {
            super(end.peer);
            this.end = end;
            this.verify = end.job.verify();
            this.size = end.job.size();
            this.stride = end.job.stride();
            this.slots = end.slots;
            this.tellEvery = Math.max(1, slots / 4);
        }

        @Override
        protected boolean receives() {
            return true;
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                long k = ++number;
                long offset = PerfErm.FIRST + slot * stride;
                end.awaitCopy();
                arrived();
                if (verify) {
                    end.check(offset, k);
                } else {
                    sum += PerfPattern.sum(end.in, offset, size);
                }
                slot = slot + 1 == slots ? 0 : slot + 1;
                if (++untold == tellEvery || remaining - i == 1) {
                    tell(k);
                }
            }
        }

        private void tell(long k) throws IOException {
            untold = 0;
            boolean signal = (++told & SIGNAL_MASK) == 0;
            end.copy(0, 0, PerfErm.telling(signal), k, k);
            if (signal) {
                end.reap();
            }
        }

        @Override
        public void close() throws IOException {
            end.close();
        }

        @Override
        public String toString() {
            return "consumed " + number + " messages, sum " + sum;
        }
    }
}
