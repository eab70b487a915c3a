package org.verbena.tests.conformance;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;
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

    /** The largest transfer that is tried. */
    default long largestTransfer() {
        return 1L << 30;
    }

    /** Whether atomics reach memory that was registered and not allocated; if not, they are EOPNOTSUPP. */
    default boolean atomicsOnRegisteredMemory() {
        return true;
    }

    /** A multicast group that its ports reach; another one for another number, of which the lower 24 bits count. */
    default Gid group(long number) {
        return new Gid(0xff12L << 48, number);
    }

    /** Whether requests are started while one before them waits for a receive of the peer. */
    default boolean startsBehindWhatWaits() {
        return true;
    }

    /** Operations that a type of queue pair has elsewhere and not here, see {@code SendOperations}. */
    default int lacks(int queuePairType) {
        return 0;
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

    /** The status of a request that sends, and of a receive, whose local key is none, or that of memory of another domain. */
    default int wrongLocalKey() {
        return WcStatus.LOC_PROT_ERR;
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
