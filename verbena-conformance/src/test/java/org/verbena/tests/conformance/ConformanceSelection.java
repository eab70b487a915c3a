// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.junit.jupiter.api.Nested;

/**
 * Groups of the conformance suite that a provider passes once more where it works in another way than by default. The ends
 * are on two contexts.
 */
abstract class ConformanceSelection {
    /** What the groups have to know of the provider. */
    protected abstract ConformanceFixture fixture();

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
