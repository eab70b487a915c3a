// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** The flow label of a path, 20 bits, by which routers tell flows apart. */
public final class FlowLabel {
    private static final int LOW = 0x3fff;
    private static final int HIGH = 0xfc000;
    private static final int LOW_BITS = 14;
    private static final int FIRST_PORT = 0xc000;

    private FlowLabel() {}

    /** The source's UDP port that RoCE version 2 uses for a flow label, {@code ibv_flow_label_to_udp_sport}. */
    public static int toUdpSourcePort(int flowLabel) {
        return (flowLabel & LOW ^ (flowLabel & HIGH) >> LOW_BITS) | FIRST_PORT;
    }
}
