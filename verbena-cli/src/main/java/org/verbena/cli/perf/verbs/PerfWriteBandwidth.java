// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.verbs;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.verbs.SendFlags;

/**
 * The initiator of {@code write-bw} and {@code send-bw}: keeps the queues full. When the target follows writes message
 * by message, a buffer is written again only when the target has reported that it consumed it.
 */
public final class PerfWriteBandwidth extends PerfLoop {
    private final PerfEndpoint end;
    private final boolean send;
    private final boolean credits;
    private final boolean verify;
    private final long size;
    private final long stride;
    private final int slots;
    private final int qps;
    private final int signalEvery;
    private final int width;
    private long number;
    private long consumed;
    private long signalled;
    /** The stamp of this round over the buffers: it differs from that of the round before, even in its last byte. */
    private long lap = 1;
    private int slot;
    private int qp;
    private int round;

    public PerfWriteBandwidth(PerfEndpoint end) {
        super(end.peer);
        this.end = end;
        this.send = end.job.test() == PerfTest.SEND_BW;
        this.credits = !send && end.job.followed();
        this.verify = end.job.verify();
        this.size = end.job.size();
        this.stride = end.job.stride();
        this.slots = end.slots;
        this.qps = end.job.qps();
        this.signalEvery = verify ? 1 : end.signalEvery();
        this.width = PerfPattern.stampWidth(size);
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long k = ++number;
            long offset = slot * stride;
            if (credits) {
                awaitCredit(k);
            }
            if (verify) {
                PerfPattern.fill(end.memory, end.out + offset, size, k);
            }
            boolean signal = round == signalEvery - 1 || remaining - i <= qps;
            int flags = SendFlags.NONE;
            if (signal) {
                flags = SendFlags.SIGNALED;
                signalled++;
            }
            if (send) {
                end.send(qp, k, flags, end.out + offset, size);
            } else {
                if (credits) {
                    PerfPattern.stamp(end.memory, end.out + offset + size - width, width, lap);
                }
                end.write(qp, k, flags, end.remoteIn + offset, end.out + offset, size);
            }
            if (verify) {
                finish();
            }
            if (++slot == slots) {
                slot = 0;
                lap++;
            }
            if (++qp == qps) {
                qp = 0;
                round = round + 1 == signalEvery ? 0 : round + 1;
            }
        }
    }

    /** Waits until the target has consumed the message that was last in the buffer of message {@code k}. */
    private void awaitCredit(long k) throws IOException {
        long turns = 0;
        while (k - consumed > slots) {
            consumed = (long) PerfPattern.LONG.getAcquire(end.memory, PerfEndpoint.CREDIT);
            if (k - consumed > slots) {
                turns = peer.spin(turns);
            }
        }
    }

    @Override
    protected void finish() throws IOException {
        while (end.completed < signalled) {
            end.reapSome();
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }

    /** The target of writes that follows them: polls for each, reads it and grants credit. */
    public static final class Follower extends PerfLoop {
        private static final int SIGNAL_MASK = 15;

        private final PerfEndpoint end;
        private final boolean verify;
        private final long size;
        private final long stride;
        private final int slots;
        private final int width;
        private final int creditEvery;
        private long number;
        private long credits;
        private long lap = 1;
        private int slot;
        private int uncredited;
        private long sum;

        public Follower(PerfEndpoint end) {
            super(end.peer);
            this.end = end;
            this.verify = end.job.verify();
            this.size = end.job.size();
            this.stride = end.job.stride();
            this.slots = end.slots;
            this.width = PerfPattern.stampWidth(size);
            this.creditEvery = Math.max(1, slots / 4);
        }

        @Override
        protected boolean receives() {
            return true;
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                long k = ++number;
                long at = end.in + slot * stride;
                long turns = 0;
                while (!PerfPattern.isStamped(end.memory, at + size - width, width, lap)) {
                    turns = peer.spin(turns);
                }
                arrived();
                if (verify) {
                    PerfPattern.check(end.memory, at, size - width, k);
                } else {
                    sum += PerfPattern.sum(end.memory, at, size);
                }
                if (++slot == slots) {
                    slot = 0;
                    lap++;
                }
                if (++uncredited == creditEvery || remaining - i == 1) {
                    giveCredit(k);
                }
            }
        }

        private void giveCredit(long k) throws IOException {
            uncredited = 0;
            boolean signal = (++credits & SIGNAL_MASK) == 0;
            PerfPattern.LONG.setRelease(end.memory, PerfEndpoint.WORD, k);
            end.writeWord(signal ? SendFlags.SIGNALED : SendFlags.NONE);
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
