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
                    List.of("RegistrationErrors.descriptorsThatAreNoSharedBuffers")),
            Map.entry("EINVAL for an alternate path, which it says it has",
                    List.of("StateMachine.aRareAttributeIsTakenOrSaidToBeUnknownWhereTheTableAllowsIt")),
            Map.entry("it takes ZERO_BASED and ignores it",
                    List.of("Registration.addressesThatCountFromZero",
                            "Registration.allocatedMemoryMayCountFromZeroToo")),
            Map.entry("a failed send does not count as solicited", List.of("Events.errorsAreAlwaysSolicited")),
            Map.entry("the kernel crashes when a window is invalidated that is not bound (rxe_invalidate_mw)",
                    List.of("MemoryWindows.whatIsNotBoundCannotBeInvalidated", "DestroyRace")),
            Map.entry("it makes no event of a queue pair that fails, nor of its last receive",
                    List.of("Events.asynchronousEventsComeToTheirContextOnly",
                            "Events.anAsynchronousEventSaysWhatHappened",
                            "RemoteErrors.theResponderIsToldOfAnAccessError",
                            "RemoteErrors.theResponderIsToldOfAnInvalidRequest",
                            "MemoryWindows.rightsOfTheWindowAreAllThatCount",
                            "SharedReceiveQueues.aFailedQueuePairFlushesNoReceiveAndSaysThatItTakesNoMore",
                            "SharedReceiveQueuesOfUnreliable.aFailedQueuePairFlushesNoReceiveAndSaysThatItTakesNoMore",
                            "SharedReceiveQueuesOfDatagrams"
                                    + ".aFailedQueuePairFlushesNoReceiveAndSaysThatItTakesNoMore")),
            Map.entry("the place of a request is free when it is done, polled or not",
                    List.of("QueueLimits.aFullSendQueueIsEnomemAndLosesNothing",
                            "QueueLimits.aPolledCompletionFreesOneSlot", "QueueLimits.unsignaledRequestsHoldTheirSlots",
                            "QueueLimits.aBatchThatOnlyPartlyFitsIsRefusedAsAWhole")),
            Map.entry("nobody tells the kernel of receives that are posted to a queue pair in ERR: they stay",
                    List.of("Order.flushedRequestsKeepTheirOrder", "Retry.postsInErrAreFlushed",
                            "PeerDeath.everythingIsFlushed")),
            Map.entry(
                    "SQD is said to be drained at once, stops what has begun, and what it holds does not go on by itself",
                    List.of("Retry.aQueueIsDrainedWhenTheSendThatWaitedIsDone", "Retry.aDrainingQueueCanBeGivenUp",
                            "Retry.aStartedSendMayFailWhileTheQueueDrains",
                            "Retry.aDrainingQueueTakesRequestsAndHoldsThem")),
            Map.entry("an address handle is not made for an address that nobody has",
                    List.of("Datagrams.whatGoesNowhereIsLost", "DatagramsOnSharedQueues.whatGoesNowhereIsLost")),
            Map.entry("the top bit of a datagram's key is a bit as any",
                    List.of("Datagrams.aWrongKeyIsNotTaken", "DatagramsOnSharedQueues.aWrongKeyIsNotTaken")),
            Map.entry("a datagram that is too long is dropped in silence",
                    List.of("Datagrams.aDatagramLongerThanThePortTakesStopsSending",
                            "DatagramsOnSharedQueues.aDatagramLongerThanThePortTakesStopsSending")),
            Map.entry("a receive that is too short for a datagram fails with LOC_QP_OP_ERR",
                    List.of("Datagrams.aReceiveThatIsTooShortIsNotUsed",
                            "DatagramsOnSharedQueues.aReceiveThatIsTooShortIsNotUsed")),
            Map.entry("a receive of 2 GiB or more is refused, REM_OP_ERR at the sender, when a message comes",
                    List.of("ScatterGather.aReceiveMayBeLongerThanAnyMessage",
                            "ScatterGatherOnSharedQueues.aReceiveMayBeLongerThanAnyMessage")),
            Map.entry("a message may be longer than the port says",
                    List.of("LocalErrors.aMessageLongerThanThePortTakes")),
            Map.entry("memory that was registered and then freed is the device's until the region is closed, as in C",
                    List.of("LocalErrors.aRegionWhoseArenaIsClosed")),
            Map.entry("a queue pair of type UC knows no SQE: it goes to ERR",
                    List.of("UnreliableConnection.anErrorHereStopsSendingOnlyAndCanBeLeft",
                            "UnreliableConnectionOnSharedQueues.anErrorHereStopsSendingOnlyAndCanBeLeft")),
            Map.entry("the range of a window is not looked at, only that of its region",
                    List.of("MemoryWindows.outsideTheWindow", "MemoryWindows.addressesThatCountFromZero",
                            "UnreliableConnection.keysOfWindowsComeAndGo",
                            "UnreliableConnectionOnSharedQueues.keysOfWindowsComeAndGo")),
            Map.entry("of the key that a window of type 2 is bound with, only the lowest byte is looked at",
                    List.of("MemoryWindows.aWindowOfType2KeepsItsIndex")),
            Map.entry("what is sent to a group's address reaches the queue pair that its number names",
                    List.of("Multicast.aMemberIsNotReachedByItsNumber",
                            "MulticastOnSharedQueues.aMemberIsNotReachedByItsNumber")),
            Map.entry("who sends with a key that is not to be invalidated is told of success",
                    List.of("MemoryWindows.aMessageWithAWrongKeyIsAnErrorOnBothEnds")),
            Map.entry("its largest shared receive queue needs more memory than the machine has",
                    List.of("SharedReceiveQueues.limitsOfSizes", "SharedReceiveQueuesOfUnreliable.limitsOfSizes")),
            Map.entry("a limit above what is there makes an event with the next receive only",
                    List.of("SharedReceiveQueues.theLimitIsReachedOnce",
                            "SharedReceiveQueuesOfUnreliable.theLimitIsReachedOnce")),
            Map.entry("what a queue pair has taken from a shared queue is not put back when it is closed, as in C",
                    List.of("SharedReceiveQueues.closingAQueuePairKeepsTheReceives",
                            "SharedReceiveQueuesOfDatagrams.closingAQueuePairKeepsTheReceives")),
            Map.entry("a receive counts as taken before key and length are looked at",
                    List.of("SharedReceiveQueues.whatIsNotDeliveredDoesNotCountForTheLimit",
                            "SharedReceiveQueuesOfUnreliable.whatIsNotDeliveredDoesNotCountForTheLimit",
                            "SharedReceiveQueuesOfDatagrams.whatIsNotDeliveredDoesNotCountForTheLimit")),
            Map.entry("what a queue pair has completed stays when it is reset or closed",
                    List.of("CompletionQueues.completionsOfAQueuePairThatIsGoneTakeNoRoom",
                            "CompletionQueues.completionsOfAQueuePairThatIsGoneDoNotWait")),
            Map.entry("librdmacm connects queue pairs of type RC here",
                    List.of("UnreliableConnection.theConnectionManagerConnectsThemToo",
                            "UnreliableConnectionOnSharedQueues.theConnectionManagerConnectsThemToo")));

    LeftOutOnRxe() {
        super(reasons());
    }

    private static Map<String, String> reasons() {
        Map<String, String> all = new HashMap<>();
        TESTS.forEach((reason, tests) -> tests.forEach(test -> all.put(test, reason)));
        return all;
    }
}
