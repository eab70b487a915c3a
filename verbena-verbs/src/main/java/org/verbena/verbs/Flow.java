// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

/**
 * A flow, {@code struct ibv_flow}: packets that match it go to its queue pair until it is closed
 * ({@code ibv_destroy_flow}). Made by {@link QueuePair#createFlow}. Safe for use by several threads.
 */
public abstract class Flow extends VerbsObject {
    private final QueuePair qp;
    private final FlowAttributes attributes;

    /** For providers. */
    protected Flow(QueuePair qp, FlowAttributes attributes) throws VerbsException {
        super(List.of(qp));
        this.qp = qp;
        this.attributes = attributes;
    }

    /** Where the packets go. */
    public final QueuePair queuePair() {
        return qp;
    }

    /** Which packets. */
    public final FlowAttributes attributes() {
        return attributes;
    }
}
