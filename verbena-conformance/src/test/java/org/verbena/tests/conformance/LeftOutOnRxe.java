// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tests excluded on {@code rdma_rxe} of Linux 6.1, which behaves differently or lacks the feature; see also
 * docs/rdmacore.md.
 */
final class LeftOutOnRxe extends LeftOut {
    private static final Map<String, List<String>> TESTS = Map.ofEntries(
            Map.entry("it has no dma-buf regions, whatever the library",
                    List.of("RegistrationErrors.descriptorsOtherThanDmaBufsAreRefused")),
            Map.entry("EINVAL for an alternate path, which it says it has",
                    List.of("StateMachine.rareAttributeIsAcceptedOrUnsupportedPerTable")),
            Map.entry("it takes ZERO_BASED and ignores it",
                    List.of("Registration.zeroBasedAddressesWork",
                            "Registration.allocatedMemoryMayBeZeroBased")),
            Map.entry("a failed send does not count as solicited", List.of("Events.errorsCountAsSolicited")),
            Map.entry("the kernel crashes when a window is invalidated that is not bound (rxe_invalidate_mw)",
                    List.of("MemoryWindows.unboundWindowCannotBeInvalidated", "DestroyRace")),
            Map.entry("it makes no event of a queue pair that fails, nor of its last receive",
                    List.of("Events.asynchronousEventsReachTheirContextOnly",
                            "Events.asynchronousEventHasItsTypeAndObject",
                            "RemoteErrors.responderReportsAnAccessError",
                            "RemoteErrors.responderReportsAnInvalidRequest",
                            "MemoryWindows.onlyRightsOfTheWindowCount",
                            "SharedReceiveQueues.failedQueuePairRaisesLastWqeReachedAndFlushesNoReceive",
                            "SharedReceiveQueuesOfUnreliable.failedQueuePairRaisesLastWqeReachedAndFlushesNoReceive",
                            "SharedReceiveQueuesOfDatagrams"
                                    + ".failedQueuePairRaisesLastWqeReachedAndFlushesNoReceive")),
            Map.entry("the place of a request is free when it is done, polled or not",
                    List.of("QueueLimits.fullSendQueueIsEnomemAndLosesNothing",
                            "QueueLimits.polledCompletionFreesOneSlot",
                            "QueueLimits.unsignaledRequestsOccupyTheirSlots",
                            "QueueLimits.partlyFittingBatchIsRefusedAsAWhole")),
            Map.entry("the kernel does not learn of receives that are posted to a queue pair in ERR: they stay",
                    List.of("Order.flushedRequestsKeepTheirOrder", "Retry.postsInErrAreFlushed",
                            "PeerDeath.peerDeathFlushesAllRequests")),
            Map.entry(
                    "SQD is said to be drained at once, stops what has begun, and what it holds does not go on by itself",
                    List.of("Retry.queueIsDrainedWhenTheWaitingSendCompletes", "Retry.drainingQueueCanBeMovedToErr",
                            "Retry.startedSendMayFailDuringDrain",
                            "Retry.drainingQueueHoldsNewRequests")),
            Map.entry("an address handle is not made for an unassigned address",
                    List.of("Datagrams.datagramToNobodyIsLost", "DatagramsOnSharedQueues.datagramToNobodyIsLost")),
            Map.entry("the top bit of a datagram's key is a bit as any",
                    List.of("Datagrams.datagramWithAWrongQkeyIsDropped",
                            "DatagramsOnSharedQueues.datagramWithAWrongQkeyIsDropped")),
            Map.entry("a datagram that is too long is dropped in silence",
                    List.of("Datagrams.tooLongDatagramStopsSending",
                            "DatagramsOnSharedQueues.tooLongDatagramStopsSending")),
            Map.entry("a receive that is too short for a datagram fails with LOC_QP_OP_ERR",
                    List.of("Datagrams.tooShortReceiveIsNotUsed",
                            "DatagramsOnSharedQueues.tooShortReceiveIsNotUsed")),
            Map.entry("a receive of 2 GiB or more is refused, REM_OP_ERR at the sender, when a message comes",
                    List.of("ScatterGather.receiveMayBeLongerThanAnyMessage",
                            "ScatterGatherOnSharedQueues.receiveMayBeLongerThanAnyMessage")),
            Map.entry("a message may be longer than the port says",
                    List.of("LocalErrors.messageLongerThanThePortLimitFails")),
            Map.entry("memory that was registered and then freed is the device's until the region is closed, as in C",
                    List.of("LocalErrors.regionOfAClosedArenaFails")),
            Map.entry("a queue pair of type UC knows no SQE: it goes to ERR",
                    List.of("UnreliableConnection.localErrorMovesToSqeAndIsRecoverable",
                            "UnreliableConnectionOnSharedQueues.localErrorMovesToSqeAndIsRecoverable")),
            Map.entry("the range of a window is not looked at, only that of its region",
                    List.of("MemoryWindows.accessOutsideTheWindowIsRefused", "MemoryWindows.zeroBasedAddressesWork",
                            "UnreliableConnection.windowKeysAreBoundAndInvalidated",
                            "UnreliableConnectionOnSharedQueues.windowKeysAreBoundAndInvalidated")),
            Map.entry("of the key that a window of type 2 is bound with, only the lowest byte is looked at",
                    List.of("MemoryWindows.type2WindowKeepsItsIndex")),
            Map.entry("what is sent to a group's address reaches the queue pair that its number names",
                    List.of("Multicast.memberIsNotReachedByItsQueuePairNumber",
                            "MulticastOnSharedQueues.memberIsNotReachedByItsQueuePairNumber")),
            Map.entry("a send with a key that must not be invalidated succeeds",
                    List.of("MemoryWindows.sendWithInvalidateOfAWrongKeyFailsBothEnds")),
            Map.entry("its largest shared receive queue needs more memory than the machine has",
                    List.of("SharedReceiveQueues.sizesBeyondTheLimitsAreRefused",
                            "SharedReceiveQueuesOfUnreliable.sizesBeyondTheLimitsAreRefused")),
            Map.entry("a limit above what is there makes an event with the next receive only",
                    List.of("SharedReceiveQueues.limitEventIsRaisedOnce",
                            "SharedReceiveQueuesOfUnreliable.limitEventIsRaisedOnce")),
            Map.entry("what a queue pair has taken from a shared queue is not put back when it is closed, as in C",
                    List.of("SharedReceiveQueues.closingAQueuePairKeepsTheReceives",
                            "SharedReceiveQueuesOfDatagrams.closingAQueuePairKeepsTheReceives")),
            Map.entry("a receive counts as taken before key and length are looked at",
                    List.of("SharedReceiveQueues.undeliveredMessagesDoNotCountForTheLimit",
                            "SharedReceiveQueuesOfUnreliable.undeliveredMessagesDoNotCountForTheLimit",
                            "SharedReceiveQueuesOfDatagrams.undeliveredMessagesDoNotCountForTheLimit")),
            Map.entry("what a queue pair has completed stays when it is reset or closed",
                    List.of("CompletionQueues.completionsOfADestroyedQueuePairTakeNoRoom",
                            "CompletionQueues.completionsOfADestroyedQueuePairAreDropped")),
            Map.entry("librdmacm connects queue pairs of type RC here",
                    List.of("UnreliableConnection.connectionManagerConnectsUcQueuePairs",
                            "UnreliableConnectionOnSharedQueues.connectionManagerConnectsUcQueuePairs")));

    LeftOutOnRxe() {
        super(reasons());
    }

    private static Map<String, String> reasons() {
        Map<String, String> all = new HashMap<>();
        TESTS.forEach((reason, tests) -> tests.forEach(test -> all.put(test, reason)));
        return all;
    }
}
