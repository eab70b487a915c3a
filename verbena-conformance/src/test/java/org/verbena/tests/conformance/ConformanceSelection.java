// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/**
 * Groups of the conformance suite that a provider runs once more in a non-default mode. The ends are on two contexts.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // of the suite; its groups are created for each test
abstract class ConformanceSelection {
    /** What the groups need to know about the provider. */
    protected abstract ConformanceFixture fixture();

    @AfterAll
    void endPeers() {
        Peers.end(fixture());
    }

    @Nested
    class Operations extends OperationsConformance {
        Operations() {
            super(ConformanceSelection.this.fixture(), Topology.TWO_CONTEXTS);
        }
    }

    @Nested
    class ScatterGather extends ScatterGatherConformance {
        ScatterGather() {
            super(ConformanceSelection.this.fixture(), Topology.TWO_CONTEXTS);
        }
    }

    @Nested
    class Order extends OrderConformance {
        Order() {
            super(ConformanceSelection.this.fixture(), Topology.TWO_CONTEXTS);
        }
    }

    @Nested
    class Retry extends RetryConformance {
        Retry() {
            super(ConformanceSelection.this.fixture(), Topology.TWO_CONTEXTS);
        }
    }

    @Nested
    class Events extends EventsConformance {
        Events() {
            super(ConformanceSelection.this.fixture(), Topology.TWO_CONTEXTS);
        }
    }

    @Nested
    class VirtualThreads extends VirtualThreadConformance {
        VirtualThreads() {
            super(ConformanceSelection.this.fixture());
        }
    }

    @Nested
    class UnreliableConnection extends UnreliableConnectionConformance {
        UnreliableConnection() {
            super(ConformanceSelection.this.fixture(), Topology.TWO_CONTEXTS);
        }
    }

    @Nested
    class Datagrams extends DatagramConformance {
        Datagrams() {
            super(ConformanceSelection.this.fixture(), Topology.TWO_CONTEXTS);
        }
    }
}
