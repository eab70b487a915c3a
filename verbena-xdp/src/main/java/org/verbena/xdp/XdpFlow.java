// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.LinuxException;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.VerbsException;

/** A flow in the maps of the interface's program. */
final class XdpFlow extends Flow {
    private final QueuePairFlows flows;
    private final InstalledFlow installed;

    XdpFlow(QueuePairFlows flows, XdpQueuePair qp, FlowAttributes attributes, InstalledFlow installed)
            throws VerbsException {
        super(qp, attributes);
        this.flows = flows;
        this.installed = installed;
        publish(installed.published());
        opened();
    }

    @Override
    public String describe() {
        return installed + " of " + queuePair().describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        try {
            flows.remove(installed);
        } catch (LinuxException e) {
            throw new VerbsException("destroy " + describe(), e);
        }
    }
}
