// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.verbs.QueuePairType;

/**
 * The conformance suite: the behaviour of every provider of verbs. A provider is added by one class:
 *
 * <pre>
 * class ShmConformanceTest extends VerbsConformance {
 *     static final class Fixture implements ConformanceFixture { … }
 *
 *     &#64;Override
 *     protected ConformanceFixture fixture() {
 *         return new Fixture();
 *     }
 * }
 * </pre>
 *
 * <p>A test with two ends runs with both ends on one context, on two contexts, and in two processes; see {@link
 * Topology}.
 */
@ExtendWith(ChosenGroups.class)
public abstract class VerbsConformance extends ConformanceOverXrc {
    @Nested
    class Devices extends DeviceConformance {
        Devices() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class Combinations extends CombinationConformance {
        Combinations(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class PostTable extends PostTableConformance {
        PostTable() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class AttributeTable extends AttributeTableConformance {
        AttributeTable() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class Features extends FeatureConformance {
        Features() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class Capabilities extends CapabilityConformance {
        Capabilities() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class Objects extends ObjectsConformance {
        Objects() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class Memory extends MemoryConformance {
        Memory() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class Registration extends RegistrationConformance {
        Registration(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class RegistrationErrors extends RegistrationErrorConformance {
        RegistrationErrors() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class MemoryWindows extends MemoryWindowConformance {
        MemoryWindows(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class DeviceMemory extends DeviceMemoryConformance {
        DeviceMemory(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class StateMachine extends StateMachineConformance {
        StateMachine() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @ParameterizedClass
    @EnumSource
    class Operations extends OperationsConformance {
        Operations(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ManyQueuePairs extends ManyQueuePairsConformance {
        ManyQueuePairs(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class Sizes extends SizesConformance {
        Sizes(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class LargeTransfer extends LargeTransferConformance {
        LargeTransfer() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ScatterGather extends ScatterGatherConformance {
        ScatterGather(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @ParameterizedClass
    @EnumSource
    class Order extends OrderConformance {
        Order(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class Arrival extends ArrivalConformance {
        Arrival(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ArrivalOfUnreliable extends ArrivalConformance {
        ArrivalOfUnreliable(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.type(QueuePairType.UC);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ArrivalInSharedQueues extends ArrivalConformance {
        ArrivalInSharedQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.sharedReceives();
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class Completions extends CompletionConformance {
        Completions(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class CompletionQueues extends CompletionQueueConformance {
        CompletionQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class Moderation extends ModerationConformance {
        Moderation(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ParentDomains extends ParentDomainConformance {
        ParentDomains(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class ForeignObjects extends ForeignObjectsConformance {
        ForeignObjects() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class UseAfterClose extends UseAfterCloseConformance {
        UseAfterClose() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class DestroyRace extends DestroyRaceConformance {
        DestroyRace(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class Packets extends PacketConformance {
        Packets() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class LocalErrors extends LocalErrorConformance {
        LocalErrors(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies
    class CutOffMemory extends CutOffMemoryConformance {
        CutOffMemory(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies
    class RemoteErrors extends RemoteErrorConformance {
        RemoteErrors(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class Retry extends RetryConformance {
        Retry(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class QueueLimits extends QueueLimitsConformance {
        QueueLimits(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies
    class Events extends EventsConformance {
        Events(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class VirtualThreads extends VirtualThreadConformance {
        VirtualThreads() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class Manager extends ConnectionManagerConformance {
        Manager(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies
    class Disconnect extends DisconnectConformance {
        Disconnect(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class QueuePairs extends QueuePairsConformance {
        QueuePairs() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class UnreliableConnection extends UnreliableConnectionConformance {
        UnreliableConnection(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies
    class Datagrams extends DatagramConformance {
        Datagrams(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies
    class Multicast extends MulticastConformance {
        Multicast(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class UnreliableFaults extends UnreliableFaultConformance {
        UnreliableFaults() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class DatagramsOnSharedQueues extends DatagramConformance {
        DatagramsOnSharedQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.sharedReceives();
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class MulticastOnSharedQueues extends MulticastConformance {
        MulticastOnSharedQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.sharedReceives();
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class SharedReceiveQueuesOfDatagrams extends SharedDatagramConformance {
        SharedReceiveQueuesOfDatagrams(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class StoppedSender extends StoppedSenderConformance {
        StoppedSender() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class PeerDeath extends PeerDeathConformance {
        PeerDeath() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class SharedReceiveQueues extends ReliableSharedReceiveQueueConformance {
        SharedReceiveQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class SharedReceiveQueuesOfUnreliable extends UnreliableSharedReceiveQueueConformance {
        SharedReceiveQueuesOfUnreliable(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class UnreliableConnectionOnSharedQueues extends UnreliableConnectionConformance {
        UnreliableConnectionOnSharedQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.sharedReceives();
        }
    }

    @Nested
    class UnreliableFaultsOnSharedQueues extends UnreliableFaultConformance {
        UnreliableFaultsOnSharedQueues() {
            super(VerbsConformance.this.fixture());
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.sharedReceives();
        }
    }

    @Nested
    class SharedReceiveQueueFaultsOfUnreliable extends SharedReceiveQueueFaultConformance {
        SharedReceiveQueueFaultsOfUnreliable() {
            super(VerbsConformance.this.fixture());
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.type(QueuePairType.UC);
        }
    }

    @Nested
    class SharedReceiveQueueFaults extends SharedReceiveQueueFaultConformance {
        SharedReceiveQueueFaults() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class OperationsOnSharedQueues extends OperationsConformance {
        OperationsOnSharedQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.sharedReceives();
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class ScatterGatherOnSharedQueues extends ScatterGatherConformance {
        ScatterGatherOnSharedQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }

        @Override
        EndOptions adapted(EndOptions options) {
            return options.sharedReceives();
        }
    }

    @Nested
    class XrcDomains extends XrcDomainConformance {
        XrcDomains() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class Xrc extends XrcConformance {
        Xrc(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class XrcErrors extends XrcErrorConformance {
        XrcErrors(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    @Topologies(Topology.TWO_PROCESSES)
    class XrcQueues extends XrcQueueConformance {
        XrcQueues(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class XrcTargets extends XrcTargetConformance {
        XrcTargets() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    class XrcProcesses extends XrcProcessesConformance {
        XrcProcesses() {
            super(VerbsConformance.this.fixture());
        }
    }

    @Nested
    @Topologies
    class SamplePoints extends SamplePointConformance {
        SamplePoints(Topology topology) {
            super(VerbsConformance.this.fixture(), topology);
        }
    }

    @Nested
    class Counting extends CountersConformance {
        Counting() {
            super(VerbsConformance.this.fixture());
        }
    }
}
