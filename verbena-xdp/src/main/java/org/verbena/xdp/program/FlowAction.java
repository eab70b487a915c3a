// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import org.verbena.linux.Errno;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.VerbsException;

/** What happens to a packet of a flow. Each has a number, which is in the map of flows. */
public enum FlowAction {
    /** It is counted, and goes on to the next flow that it matches: the flow only watches. */
    COUNT(0),
    /** It is dropped. */
    DROP(1),
    /** It goes to the AF_XDP socket of the flow's target and the packet's queue; to the kernel if there is none. */
    REDIRECT(2),
    /** It goes to the kernel, and no other flow sees it. */
    PASS(3),
    /** As {@link #REDIRECT}, to a target that its hash chooses, see {@link Spread}. */
    SPREAD(4);

    final int number;

    FlowAction(int number) {
        this.number = number;
    }

    /**
     * What happens to the packets of a flow.
     *
     * @param delivery what happens if it neither drops nor only watches them
     * @throws VerbsException {@code EINVAL} (a sniffer that drops)
     */
    public static FlowAction of(FlowAttributes attributes, FlowMatch match, FlowAction delivery) throws VerbsException {
        boolean drops = attributes.specs().stream().anyMatch(s -> s.type() == FlowSpecType.ACTION_DROP);
        if (drops && match.watches()) {
            throw new VerbsException("createFlow", Errno.EINVAL,
                    "a sniffer leaves its packets to others, and drops none");
        }
        return drops ? DROP : match.watches() ? COUNT : delivery;
    }
}
