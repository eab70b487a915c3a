// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.verbs;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.SendFlags;

/** The initiator of {@code read-bw}: keeps the queues full of reads. */
public final class PerfReadBandwidth extends PerfLoop {
    private final PerfEndpoint end;
    private final boolean verify;
    /** Each read is checked before its buffer is used again. */
    private final boolean looks;
    private final long size;
    private final long stride;
    private final int slots;
    private final int qps;
    private final int signalEvery;
    private final boolean[] busy;
    private long signalled;
    private int slot;
    private int qp;
    private int round;
    private long sum;

    public PerfReadBandwidth(PerfEndpoint end) {
        super(end.peer);
        this.end = end;
        this.verify = end.job.verify();
        this.looks = end.job.followed();
        this.size = end.job.size();
        this.stride = end.job.stride();
        this.slots = end.slots;
        this.qps = end.job.qps();
        this.signalEvery = looks ? 1 : end.signalEvery();
        this.busy = new boolean[slots];
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            if (looks) {
                while (busy[slot] || signalled - end.completed >= end.depth()) {
                    look();
                }
                busy[slot] = true;
            }
            int flags = SendFlags.NONE;
            if (round == signalEvery - 1 || remaining - i <= qps) {
                flags = SendFlags.SIGNALED;
                signalled++;
            }
            long offset = slot * stride;
            end.read(qp, slot, flags, end.remoteOut + offset, end.in + offset, size);
            slot = slot + 1 == slots ? 0 : slot + 1;
            if (++qp == qps) {
                qp = 0;
                round = round + 1 == signalEvery ? 0 : round + 1;
            }
        }
    }

    /** Waits for reads and checks their data. */
    private void look() throws IOException {
        CompletionQueue cq = end.sendCq;
        long turns = 0;
        while (cq.startPoll() != 0) {
            turns = end.idle(cq, turns);
        }
        do {
            end.check(cq);
            int s = (int) cq.wrId();
            if (verify) {
                PerfPattern.check(end.memory, end.in + s * stride, size, s);
            } else {
                sum += PerfPattern.sum(end.memory, end.in + s * stride, size);
            }
            busy[s] = false;
            end.completed++;
        } while (cq.nextPoll() == 0);
        cq.endPoll();
    }

    @Override
    protected void finish() throws IOException {
        while (end.completed < signalled) {
            if (looks) {
                look();
            } else {
                end.reapSome();
            }
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }

    @Override
    public String toString() {
        return "read " + signalled + " signalled, sum " + sum;
    }
}
