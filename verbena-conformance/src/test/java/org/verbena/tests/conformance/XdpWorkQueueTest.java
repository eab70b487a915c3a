// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

/** The suite for work queues on both ends of a veth pair. */
class XdpWorkQueueTest extends WorkQueueConformance {
    @Override
    protected RawPacketFixture fixture() {
        return XdpConformanceTest::inNamespace;
    }
}
