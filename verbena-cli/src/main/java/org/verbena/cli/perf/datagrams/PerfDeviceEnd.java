// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.support.CommandException;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/** An end on a device for raw packets, which learns in the lines of the control connection where its peer is. */
public interface PerfDeviceEnd extends PerfDatagrams {
    /** Opens the end that the test wants. */
    static PerfDeviceEnd open(PerfJob job, boolean initiator, Context context, PerfControl peer) throws IOException {
        if (context.queryDevice().rawReceiveBuffer().isEmpty()) {
            throw new CommandException(context.device().name() + " has no queue pairs for raw packets: see 'verbena"
                    + " devices' for one that begins with xdp_");
        }
        return job.test().isStack()
                ? PerfStackEnd.open(job, initiator, context, peer)
                : PerfRawEnd.open(job, initiator, context, peer);
    }

    /** The name of the interface of a device. */
    static String link(Context context) throws VerbsException {
        String name = context.device().name();
        return name.substring(name.indexOf('_') + 1);
    }

    /** For the line to the peer. */
    String describe() throws IOException;

    /** From now on messages go to a peer that has said this. */
    void connect(PerfFields other) throws IOException;
}
