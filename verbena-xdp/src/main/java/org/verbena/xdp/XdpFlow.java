// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.LinuxException;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.FlowTable;

/** A flow in the maps of the interface's program. */
final class XdpFlow extends Flow {
    private final XdpQueuePair qp;
    private final FlowTable.Entry entry;

    XdpFlow(XdpQueuePair qp, FlowAttributes attributes, FlowTable.Entry entry) throws VerbsException {
        super(qp, attributes);
        this.qp = qp;
        this.entry = entry;
        opened();
    }

    @Override
    public String describe() {
        return entry + " of " + queuePair().describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        try {
            entry.close();
        } catch (LinuxException e) {
            throw new VerbsException("destroy " + describe(), e);
        }
        qp.flows().closed();
    }
}
