package org.verbena.tests.conformance;

import java.net.InetSocketAddress;
import java.util.Map;

import org.junit.jupiter.api.extension.ExtendWith;

import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** The suite on {@code roce_lo}, where each context has an address of its own. */
@ExtendWith(RoceConformanceTest.Pending.class)
class RoceConformanceTest extends VerbsConformance {
    /** What is left out, as docs/roce.md says as well. */
    static final class Pending extends PendingGroups {
        private static final String BY_FILE = "an XRC domain by a file is one context's";
        private static final String UNTOLD = "nobody tells a receiver that its peer is gone";

        Pending() {
            super(Map.of("XrcDomains", BY_FILE, "XrcTargets", BY_FILE, "XrcProcesses", BY_FILE,
                    "SharedReceiveQueueFaults", UNTOLD, "PeerDeath", UNTOLD,
                    "SamplePoints", "what is lost or waits on a network is counted elsewhere than in shared memory",
                    "Counting", "a network does not tell the process of a peer"));
        }
    }

    static final class Fixture implements ConformanceFixture {
        @Override
        public Context open() throws VerbsException {
            return Verbs.open("roce_lo");
        }

        /** Of IPv4, as the addresses of the interface are: 239.0.0.0/8 belongs to whoever uses it (RFC 2365). */
        @Override
        public Gid group(long number) {
            return new Gid(0, 0xffff_ef00_0000L | number & 0xff_ffff);
        }

        /** UC has no packet that takes a key away. */
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
        public long largestTransfer() {
            return 1L << 28;
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
