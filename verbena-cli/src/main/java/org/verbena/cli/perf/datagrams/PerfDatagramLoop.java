// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfSilence;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;

/** A test of messages that can be lost, whose ends spin. A lost message ends the test. */
public abstract class PerfDatagramLoop extends PerfLoop {
    private static final String REMEDY = "What has no room is lost: take a lower rate or a smaller size, or run fewer"
            + " programs beside it";

    protected final PerfDatagrams end;

    PerfDatagramLoop(PerfControl peer, PerfDatagrams end) {
        super(peer);
        this.end = end;
    }

    /** Either end of a test. */
    public static PerfLoop of(PerfJob job, PerfControl peer, PerfDatagrams end, boolean initiator) {
        if (!job.test().isBandwidth()) {
            return new PerfDatagramLatency(peer, end, initiator);
        }
        return initiator ? new PerfDatagramSender(peer, end) : new PerfDatagramReceiver(peer, end);
    }

    @Override
    public void run(long n) throws IOException {
        try {
            super.run(n);
        } catch (PerfSilence e) {
            throw new CommandException("a message or its answer was lost, or the peer has stopped: none has come for "
                    + HumanText.count(e.seconds(), "second") + ". " + REMEDY, e);
        }
    }

    /** What to say of an answer that belongs to another message. */
    static CommandException lost(long number) {
        return new CommandException("message " + number + " or its answer was lost, or overtaken by a later one. "
                + REMEDY);
    }

    /** Waits for the next message. */
    protected final void receive() throws IOException {
        long turns = 0;
        while (!end.receive()) {
            turns = peer.spin(turns);
        }
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
