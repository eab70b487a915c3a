// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;

/**
 * What the conformance suite needs to know about a provider. Implementations have a constructor without parameters that
 * a second JVM can also call, so they are top-level or static nested classes.
 */
public interface ConformanceFixture {
    /** Opens the device; called again for each context that a test needs. */
    Context open() throws VerbsException;

    /** Whether two ends can have this topology. A test that cannot run is reported as skipped, with the reason. */
    default boolean connects(Topology topology) {
        return true;
    }

    /** The address that reaches a listener of this machine, derived from the address that the listener reports. */
    default InetSocketAddress listenerAt(InetSocketAddress local) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), local.getPort());
    }

    /** Whether a port that one context listens on is in use for all others of the machine. */
    default boolean portsAreTheMachines() {
        return true;
    }

    /** The number of repetitions of a timing-dependent test that requests this many: fewer where everything is slow. */
    default int rounds(int wanted) {
        return wanted;
    }

    /** The largest transfer to test. */
    default long largestTransfer() {
        return 1L << 30;
    }

    /** Whether atomics reach memory that was registered and not allocated; if not, they are EOPNOTSUPP. */
    default boolean atomicsOnRegisteredMemory() {
        return true;
    }

    /** Whether registered memory keeps its pages even if their file is truncated. */
    default boolean pinsMemory() {
        return false;
    }

    /** A multicast group that its ports reach; a different one for each number, of which the lower 24 bits count. */
    default Gid group(long number) {
        return new Gid(0xff12L << 48, number);
    }

    /** Lets messages to a group reach this machine until the result is closed, if a member alone does not suffice. */
    default AutoCloseable reaching(Gid group) throws IOException {
        return () -> {};
    }

    /** Whether requests are started while an earlier one waits for a receive of the peer. */
    default boolean startsBehindWhatWaits() {
        return true;
    }

    /** Operations that a type of queue pair has in general but not here, see {@code SendOperations}. */
    default int lacks(int queuePairType) {
        return 0;
    }

    /** Operations that a type of queue pair accepts, but that always fail. */
    default int failing(int queuePairType) {
        return 0;
    }

    /** Operations of a type of queue pair that random tables leave out, since their result depends on timing. */
    default int notDrawn(int queuePairType) {
        return 0;
    }

    /**
     * Whether a queue pair without its own send operations checks atomics when they are posted: less than 8 bytes for
     * the result, and a misaligned address, are EINVAL then and not a failed completion. More than 8 bytes are accepted
     * by all.
     */
    default boolean looksAtPostedAtomics() {
        return false;
    }

    /** Whether the flag {@code INLINE} copies buffers that were added one by one; if not, it is EINVAL. */
    default boolean copiesOnFlag() {
        return true;
    }

    /** Whether an unreliable queue pair goes to SQE when a request of its own fails; if not, it goes to ERR. */
    default boolean stopsSendingOnly() {
        return true;
    }

    /** How many requests a queue holds that was created for this many; one more is ENOMEM. */
    default int queueSize(int requests) {
        return requests;
    }

    /** Whether a shared receive queue that becomes larger may have a limit beyond its old size in the same modify. */
    default boolean limitsWhatGrows() {
        return true;
    }

    /** Whether the slot of a send request is free when it is done, even if its completion was not polled. */
    default boolean freesWhatIsNotPolled() {
        return false;
    }

    /** Whether a batch of receives that does not fit is posted as far as it fits. */
    default boolean postsWhatFits() {
        return false;
    }

    /** Flags of completion queues that the driver does not know; they are EOPNOTSUPP. */
    default int lackedCompletionFlags() {
        return 0;
    }

    /** Whether refusing to shrink a queue below its pending completions names their number. */
    default boolean saysWhatWaits() {
        return true;
    }

    /** Whether a completion of a connected queue pair names the sending queue pair. */
    default boolean namesSenders() {
        return true;
    }

    /** Flags of completions of connected queue pairs that are set without meaning, of receives or of sends. */
    default int strayFlags(boolean receive) {
        return 0;
    }

    /** The flag of a completion whose message invalidated a key. */
    default int invalidated() {
        return WcFlags.WITH_INV;
    }

    /** Whether binding a zero-based window of type 1 is EINVAL; if not, it fails later. */
    default boolean looksAtBindings() {
        return false;
    }

    /**
     * The fewest elements of requests to ask for: 1 where inline data is counted as one, and refused where none may be.
     */
    default int leastSendSge() {
        return 0;
    }

    /** Whether a queue pair with a bound window of type 2 is closed at once, which invalidates the window. */
    default boolean closesWhatBindsWindows() {
        return true;
    }

    /** Whether a failed queue pair reports the reason. */
    default boolean saysWhyQueuePairsFail() {
        return true;
    }

    /** Whether an idle queue pair fails when the process of its peer dies; if not, only a sender notices. */
    default boolean noticesDeathOfIdlePeers() {
        return true;
    }

    /** Bits of the capability flags that are wrong, which is a fault of the driver. */
    default long wrongCapabilityFlags() {
        return 0;
    }

    /** Whether messages are sent in packets over a network, where only the receiver knows whether they arrive. */
    default boolean hasPackets() {
        return false;
    }

    /** Whether a completion queue can hold no more than its entries; if not, nothing is ever lost. */
    default boolean completionQueuesOverrun() {
        return true;
    }

    /** The status of a send request whose local key is invalid, or belongs to memory of another domain. */
    default int wrongLocalKey() {
        return WcStatus.LOC_PROT_ERR;
    }

    /**
     * The status of a receive into memory that it may not write: with an unknown key, without the right, or outside the
     * region.
     */
    default int wrongReceive() {
        return WcStatus.LOC_PROT_ERR;
    }

    /** The status of a receive, or of the request that sent to it, where the message is longer than the receive. */
    default int receiveTooShort(boolean receive) {
        return receive ? WcStatus.LOC_LEN_ERR : WcStatus.REM_INV_REQ_ERR;
    }

    /**
     * Whether local buffers are checked as a whole before anything moves; if not, the bytes before the first wrong one
     * have moved by then, and an atomic is done even if its result has no place.
     */
    default boolean looksFirst() {
        return true;
    }

    /** Whether the device or its driver may return EOPNOTSUPP for parts of the API that no feature covers. */
    default boolean driverLacks() {
        return false;
    }

    /** Whether private data of connections arrive with zeros behind them, like in messages of InfiniBand. */
    default boolean padsPrivateData() {
        return false;
    }
}
