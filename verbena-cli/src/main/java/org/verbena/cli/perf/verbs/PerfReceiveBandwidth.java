// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.verbs;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.verbs.CompletionQueue;

/** The receiver of {@code send-bw}: takes messages and reposts their buffers. */
public final class PerfReceiveBandwidth extends PerfLoop {
    private final PerfEndpoint end;
    private final boolean verify;
    private final boolean consume;
    private final long size;
    private final long stride;
    private long number;
    private long sum;

    public PerfReceiveBandwidth(PerfEndpoint end) {
        super(end.peer);
        this.end = end;
        this.verify = end.job.verify();
        this.consume = end.job.consume();
        this.size = end.job.size();
        this.stride = end.job.stride();
    }

    @Override
    protected boolean receives() {
        return true;
    }

    @Override
    protected void burst(int n) throws IOException {
        CompletionQueue cq = end.receiveCq;
        int left = n;
        while (left > 0) {
            end.awaitReceive();
            arrived();
            do {
                end.check(cq);
                int slot = (int) cq.wrId();
                number++;
                if (verify) {
                    PerfPattern.check(end.memory, end.in + slot * stride, size, number);
                } else if (consume) {
                    sum += PerfPattern.sum(end.memory, end.in + slot * stride, size);
                }
                end.postReceive(slot);
            } while (--left > 0 && cq.nextPoll() == 0);
            cq.endPoll();
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }

    @Override
    public String toString() {
        return "received " + number + " messages, sum " + sum;
    }
}
