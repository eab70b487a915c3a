// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/**
 * The part of the conformance suite that queue pairs of the XRC types have to pass like those of type RC. By default they
 * run only between two processes, since RC has tested them within a context.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // of the suite; its groups are created for each test
abstract class ConformanceOverXrc {
    /** What the suite needs to know about the provider. */
    protected abstract ConformanceFixture fixture();

    @AfterAll
    void endPeers() {
        Peers.end(fixture());
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class OperationsOnXrc extends OperationsConformance {
        OperationsOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ScatterGatherOnXrc extends ScatterGatherConformance {
        ScatterGatherOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class SizesOnXrc extends SizesConformance {
        SizesOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class OrderOnXrc extends OrderConformance {
        OrderOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options).queues(128);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class LocalErrorsOnXrc extends LocalErrorConformance {
        LocalErrorsOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class RemoteErrorsOnXrc extends RemoteErrorConformance {
        RemoteErrorsOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class QueueLimitsOnXrc extends QueueLimitsConformance {
        QueueLimitsOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ArrivalOnXrc extends ArrivalConformance {
        ArrivalOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class RegistrationOnXrc extends RegistrationConformance {
        RegistrationOnXrc(Topology topology) {
            super(ConformanceOverXrc.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return XrcEnd.options(fixture, options);
        }
    }
}
