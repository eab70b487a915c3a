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
 * What the conformance suite has to know of a provider. Implementations have a constructor without parameters that a
 * second JVM can call too, so they are top-level or static nested classes.
 */
public interface ConformanceFixture {
    /** Opens the device; called again for each context that a test needs. */
    Context open() throws VerbsException;

    /** Whether two ends can be related like this. A test that cannot run is reported as skipped, with the reason. */
    default boolean connects(Topology topology) {
        return true;
    }

    /** The address that reaches a listener of this machine, by the address that the listener tells. */
    default InetSocketAddress listenerAt(InetSocketAddress local) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), local.getPort());
    }

    /** Whether a port that one context listens on is taken for all others of the machine. */
    default boolean portsAreTheMachines() {
        return true;
    }

    /** How often a test tries what depends on the moment that wants to try it so often: less where everything is slow. */
    default int rounds(int wanted) {
        return wanted;
    }

    /** The largest transfer that is tried. */
    default long largestTransfer() {
        return 1L << 30;
    }

    /** Whether atomics reach memory that was registered and not allocated; if not, they are EOPNOTSUPP. */
    default boolean atomicsOnRegisteredMemory() {
        return true;
    }

    /** Whether registered memory keeps its pages, though the file that they belong to is cut off. */
    default boolean pinsMemory() {
        return false;
    }

    /** A multicast group that its ports reach; another one for another number, of which the lower 24 bits count. */
    default Gid group(long number) {
        return new Gid(0xff12L << 48, number);
    }

    /** Has what is sent to a group reach this machine until that is closed, where a member alone does not see to it. */
    default AutoCloseable reaching(Gid group) throws IOException {
        return () -> {};
    }

    /** Whether requests are started while one before them waits for a receive of the peer. */
    default boolean startsBehindWhatWaits() {
        return true;
    }

    /** Operations that a type of queue pair has elsewhere and not here, see {@code SendOperations}. */
    default int lacks(int queuePairType) {
        return 0;
    }

    /** Operations that a type of queue pair takes, and that fail there whatever they are about. */
    default int failing(int queuePairType) {
        return 0;
    }

    /** Operations of a type of queue pair that no table of chance draws, for their end depends on the moment. */
    default int notDrawn(int queuePairType) {
        return 0;
    }

    /**
     * Whether a queue pair without send operations of its own looks at atomics when they are posted: less than 8 bytes for the
     * result, and an address that is no multiple of 8, are EINVAL then and no failure. More than 8 bytes are taken by all.
     */
    default boolean looksAtPostedAtomics() {
        return false;
    }

    /** Whether the flag {@code INLINE} has buffers copied that were named one by one; if not, it is EINVAL. */
    default boolean copiesOnFlag() {
        return true;
    }

    /** Whether an unreliable queue pair goes to SQE when a request of its own fails; if not, it goes to ERR. */
    default boolean stopsSendingOnly() {
        return true;
    }

    /** How many requests a queue holds that was made for so many; one more is ENOMEM. */
    default int queueSize(int requests) {
        return requests;
    }

    /** Whether a shared receive queue that becomes larger may have a limit beyond its old size in the same modify. */
    default boolean limitsWhatGrows() {
        return true;
    }

    /** Whether the place of a request that sends is free when it is done, though nobody has polled its completion. */
    default boolean freesWhatIsNotPolled() {
        return false;
    }

    /** Whether of receives that do not fit, posted at once, those that fit are posted. */
    default boolean postsWhatFits() {
        return false;
    }

    /** Flags of completion queues that the driver does not know; they are EOPNOTSUPP. */
    default int lackedCompletionFlags() {
        return 0;
    }

    /** Whether a queue that is not made smaller than what waits in it says how much that is. */
    default boolean saysWhatWaits() {
        return true;
    }

    /** Whether a completion of a connected queue pair says which queue pair sent. */
    default boolean namesSenders() {
        return true;
    }

    /** Flags of completions of connected queue pairs that are set and say nothing, of receives or of what sends. */
    default int strayFlags(boolean receive) {
        return 0;
    }

    /** The flag by which a completion says that its message took a key away. */
    default int invalidated() {
        return WcFlags.WITH_INV;
    }

    /** Whether a window of type 1 with addresses that count from zero is EINVAL when it is bound; if not, that fails later. */
    default boolean looksAtBindings() {
        return false;
    }

    /** The fewest elements of requests to ask for: 1 where inline data is counted as one, and refused where none may be. */
    default int leastSendSge() {
        return 0;
    }

    /** Whether a queue pair is closed at once though a window of type 2 is bound by it, which is worth nothing then. */
    default boolean closesWhatBindsWindows() {
        return true;
    }

    /** Whether a queue pair that fails says why. */
    default boolean saysWhyQueuePairsFail() {
        return true;
    }

    /** Whether a queue pair that sends nothing fails when its peer's process dies; if not, only who sends notices. */
    default boolean noticesDeathOfIdlePeers() {
        return true;
    }

    /** Bits of the device's capability flags that are not as it is, which is its driver's fault. */
    default long wrongCapabilityFlags() {
        return 0;
    }

    /** Whether messages go by packets over a network, where nobody but the receiver knows what becomes of them. */
    default boolean hasPackets() {
        return false;
    }

    /** Whether a completion queue can hold no more than its entries; if not, nothing is ever lost. */
    default boolean completionQueuesOverrun() {
        return true;
    }

    /** The status of a request that sends, and whose local key is none, or that of memory of another domain. */
    default int wrongLocalKey() {
        return WcStatus.LOC_PROT_ERR;
    }

    /** The status of a receive into memory that it may not write: of no such key, without the right, or outside the region. */
    default int wrongReceive() {
        return WcStatus.LOC_PROT_ERR;
    }

    /** The status of a receive, or of the request that sent to it, where the message is longer than the receive. */
    default int receiveTooShort(boolean receive) {
        return receive ? WcStatus.LOC_LEN_ERR : WcStatus.REM_INV_REQ_ERR;
    }

    /**
     * Whether own buffers are looked at as a whole before anything moves; if not, what lies before the first wrong byte
     * has moved by then, and an atomic is done though its result has no place.
     */
    default boolean looksFirst() {
        return true;
    }

    /** Whether the device or its driver may answer EOPNOTSUPP to what the API has, and says so by no feature. */
    default boolean driverLacks() {
        return false;
    }

    /** Whether private data of connections arrive with zeros behind them, as InfiniBand's messages carry them. */
    default boolean padsPrivateData() {
        return false;
    }
}
