// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.List;

import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueue;

/** A table of work queues; the program has a copy for each queue pair with flows. */
final class XdpIndirectionTable extends RwqIndirectionTable {
    private final XdpContext owner;
    private final int number;

    XdpIndirectionTable(XdpContext context, List<WorkQueue> entries, int number) throws VerbsException {
        super(context, entries);
        owner = context;
        this.number = number;
        opened();
    }

    /** The work queues, each as often as it is there. */
    List<XdpWorkQueue> workQueues() {
        return entries().stream().map(XdpWorkQueue.class::cast).toList();
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public String describe() {
        return "RWQ indirection table " + number + " of " + owner.describe();
    }

    @Override
    protected void implClose() {
        owner.releaseTable(number);
    }
}
