// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;

import org.verbena.cli.support.CommandException;
import org.verbena.verbs.SendFlags;

/**
 * {@code send-lat} and {@code write-imm-lat}: each side receives a message and sends one back, which consumes a
 * receive, and is polled from the completion queue. Writes go to one place in memory whichever receive they consume.
 */
final class PerfSendLatency extends PerfLoop {
    private static final int SIGNAL_MASK = 31;

    private final PerfEndpoint end;
    private final boolean initiator;
    private final boolean verify;
    private final boolean writes;
    private final long size;
    private long number;
    private int used = -1;

    PerfSendLatency(PerfEndpoint end, boolean initiator) {
        super(end.peer);
        this.end = end;
        this.initiator = initiator;
        this.verify = end.job.verify();
        this.writes = end.job.test() == PerfTest.WRITE_IMM_LAT;
        this.size = end.job.size();
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long k = ++number;
            if (initiator) {
                send(k);
                receive(k);
                roundTrip();
            } else {
                receive(k);
                send(k);
            }
        }
    }

    /** Sends, and reposts the buffer of the last message while this one is in flight. */
    private void send(long k) throws IOException {
        if (verify) {
            PerfPattern.fill(end.memory, end.out, size, k);
        }
        boolean signal = (k & SIGNAL_MASK) == 0;
        int flags = signal ? SendFlags.SIGNALED : SendFlags.NONE;
        if (writes) {
            end.writeImmediate(k, flags, end.remoteIn, end.out, size, (int) k);
        } else {
            end.send(0, k, flags, end.out, size);
        }
        if (used >= 0) {
            end.postReceive(used);
            used = -1;
        }
        if (signal) {
            end.reap();
        }
    }

    private void receive(long k) throws IOException {
        end.awaitReceive();
        end.check(end.receiveCq);
        used = (int) end.receiveCq.wrId();
        if (verify) {
            long length = end.receiveCq.byteLength();
            if (length != size) {
                throw new CommandException("message " + k + " arrived with " + length + " bytes instead of " + size);
            }
            if (writes && end.receiveCq.immediate() != (int) k) {
                throw new CommandException("message " + k + " arrived with immediate " + end.receiveCq.immediate());
            }
            PerfPattern.check(end.memory, writes ? end.in : end.in + used * end.job.stride(), size, k);
        }
        end.receiveCq.endPoll();
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
