// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

/** The suite for counters of flows on a TAP device, which receives what the XDP device of the same interface sends. */
class TapFlowCountersTest extends FlowCountersConformance {
    @Override
    protected RawPacketFixture fixture() {
        return action -> TapConformanceTest.inNamespace("xdp_wire", "tap_wire", action);
    }
}
