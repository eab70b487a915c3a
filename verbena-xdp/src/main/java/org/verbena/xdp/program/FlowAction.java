// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

/** What happens to a packet of a flow. Each has a number, which is in the map of flows. */
public enum FlowAction {
    /** It is counted, and goes on to the next flow that it matches: the flow only watches. */
    COUNT(0),
    /** It is dropped. */
    DROP(1),
    /** It goes to the AF_XDP socket of the flow's target and the packet's queue; to the kernel if there is none. */
    REDIRECT(2),
    /** It goes to the kernel, and no other flow sees it. */
    PASS(3);

    final int number;

    FlowAction(int number) {
        this.number = number;
    }
}
