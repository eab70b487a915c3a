// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

/** The suite for counters of flows on both ends of a veth pair. */
class XdpFlowCountersTest extends FlowCountersConformance {
    @Override
    protected RawPacketFixture fixture() {
        return XdpConformanceTest::inNamespace;
    }
}
