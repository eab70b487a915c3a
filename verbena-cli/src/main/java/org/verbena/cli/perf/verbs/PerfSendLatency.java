// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.verbs;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPaced;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.verbs.SendFlags;

/**
 * {@code send-lat} and {@code write-imm-lat}: each side receives a message and sends one back, which consumes a
 * receive, and is polled from the completion queue. Writes go to one place in memory whichever receive they consume,
 * at a fixed rate to several in turn.
 */
public final class PerfSendLatency extends PerfLoop implements PerfPaced {
    private static final int SIGNAL_MASK = 31;

    private final PerfEndpoint end;
    private final boolean initiator;
    private final boolean verify;
    private final boolean writes;
    private final long size;
    private final int mask;
    private long number;
    private long received;
    private int used = -1;

    public PerfSendLatency(PerfEndpoint end, boolean initiator) {
        super(end.peer);
        this.end = end;
        this.initiator = initiator;
        this.verify = end.job.verify();
        this.writes = end.job.test() == PerfTest.WRITE_IMM_LAT;
        this.size = end.job.size();
        this.mask = end.job.places() - 1;
    }

    /** The target has one message while it answers. */
    @Override
    public int inFlight() {
        return end.job.events() ? 1 : Math.clamp(end.slots - 1, 1, mask + 1);
    }

    @Override
    public boolean send() throws IOException {
        send(++number);
        return true;
    }

    @Override
    public void poll() throws IOException {
        if (end.job.events()) {
            end.awaitReceive();
        } else if (!end.isReceived()) {
            return;
        }
        take(++received);
        end.postReceive(used);
        used = -1;
        answered();
    }

    /** A transport of this process answers the peer only when it is polled. */
    @Override
    public void idle() throws IOException {
        if (end.pollsMove()) {
            end.reap();
        }
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
            PerfPattern.fill(end.memory, end.out + place(k), size, k);
        }
        boolean signal = (k & SIGNAL_MASK) == 0;
        int flags = signal ? SendFlags.SIGNALED : SendFlags.NONE;
        if (writes) {
            end.writeImmediate(k, flags, end.remoteIn + place(k), end.out + place(k), size, (int) k);
        } else {
            end.send(0, k, flags, end.out + place(k), size);
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
        take(k);
    }

    private long place(long k) {
        return (k & mask) * end.job.stride();
    }

    /** Message {@code k} is under the cursor. */
    private void take(long k) throws CommandException {
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
            PerfPattern.check(end.memory, end.in + (writes ? place(k) : used * end.job.stride()), size, k);
        }
        end.receiveCq.endPoll();
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
