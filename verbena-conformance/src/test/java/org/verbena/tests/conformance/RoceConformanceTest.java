// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.extension.ExtendWith;

import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** The suite on {@code roce_lo}, where each context has its own address. */
@ExtendWith(RoceConformanceTest.Missing.class)
class RoceConformanceTest extends VerbsConformance {
    /** The excluded tests; see also docs/roce.md. */
    static final class Missing extends LeftOut {
        private static final String PROCESSES = "packets for a target reach its process alone, which cannot write the memory"
                + " of another";
        private static final List<String> XRC = List.of("XrcTargets.otherProcessOpensTheTarget",
                "XrcTargets.targetLivesUntilItsLastHandleCloses", "XrcTargets.onlyTargetsOfTheDomainAreOpened",
                "XrcTargets.targetOfAKilledProcessHasFailed",
                "XrcTargets.queryOfATargetInAKilledProcessIsAnswered",
                "XrcTargets.queryOfATargetInAStoppedProcessTimesOut",
                "XrcTargets.handleOfAKilledProcessIsClosed", "XrcProcesses.messageReachesTheProcessOfItsQueue",
                "XrcProcesses.oneConnectionReachesAllProcesses", "XrcProcesses.stoppedProcessOfTheTargetDoesNotBlock",
                "XrcProcesses.stoppedProcessOfTheQueueDoesNotBlockOthers", "XrcProcesses.manySendersMayFloodOneQueue",
                "XrcProcesses.killedProcessOfTheQueueFailsItsRequests",
                "XrcProcesses.killingTheProcessOfTheQueueEndsAWaitingRequest",
                "XrcProcesses.killedProcessOfTheTargetLeavesTheQueueUsable",
                "XrcProcesses.killedSenderLeavesAllReceives");

        private static final String PORTS = "each context has an address of its own, and packets for a domain come to one of"
                + " them";
        private static final List<String> SHARED = List.of("XrcDomains.contextsOfOneProcessShareADomain",
                "XrcDomains.processesShareADomainUntilTheLastCloses", "XrcDomains.killedProcessReleasesTheDomain",
                "XrcDomains.queuesHaveUniqueNumbers", "XrcDomains.handlesOfOneTargetAreOneQueuePair");

        Missing() {
            super(reasons());
        }

        private static Map<String, String> reasons() {
            Map<String, String> all = new HashMap<>();
            XRC.forEach(test -> all.put(test, PROCESSES));
            SHARED.forEach(test -> all.put(test, PORTS));
            return all;
        }
    }

    static class Fixture implements ConformanceFixture {
        static final Object OPENING = new Object();

        static {
            System.setProperty("verbena.roce.timeout", "17"); // of connections: see EndOptions
        }

        /** One context after the other, since some suites of this JVM open theirs under their own property. */
        @Override
        public Context open() throws VerbsException {
            synchronized (OPENING) {
                return Verbs.open("roce_lo");
            }
        }

        /** Of IPv4, like the addresses of the interface: 239.0.0.0/8 is free for local use (RFC 2365). */
        @Override
        public Gid group(long number) {
            return new Gid(0, 0xffff_ef00_0000L | number & 0xff_ffff);
        }

        /** UC has no packet that invalidates a key. */
        @Override
        public int lacks(int queuePairType) {
            return queuePairType == QueuePairType.UC ? SendOperations.SEND_INVALIDATE : 0;
        }

        @Override
        public InetSocketAddress listenerAt(InetSocketAddress local) {
            return local;
        }

        @Override
        public boolean portsAreTheMachines() {
            return false;
        }

        @Override
        public boolean noticesDeathOfIdlePeers() {
            return false;
        }

        @Override
        public boolean hasPackets() {
            return true;
        }

        @Override
        public long largestTransfer() {
            return 1L << 28;
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
