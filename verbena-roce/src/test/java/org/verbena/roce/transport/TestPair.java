// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.util.Random;
import java.util.function.BooleanSupplier;

import org.verbena.verbs.Gid;

/** Two ends over a virtual network, and the loop that advances time. */
final class TestPair {
    static final Gid NEAR = Gid.parse("::ffff:10.0.0.1");
    static final Gid FAR = Gid.parse("::ffff:10.0.0.2");
    static final int NEAR_NUMBER = 0x11;
    static final int FAR_NUMBER = 0x12;

    final VirtualNetwork network;
    final TestEnd near;
    final TestEnd far;
    int nearPsn;
    int farPsn;

    TestPair(Random random, int type, long memory) {
        this(random, type, type, memory, false);
    }

    TestPair(Random random, int nearType, int farType, long memory, boolean shared) {
        network = new VirtualNetwork(random);
        near = new TestEnd(network, NEAR, NEAR_NUMBER, nearType, memory, shared);
        far = new TestEnd(network, FAR, FAR_NUMBER, farType, memory, shared);
        nearPsn = random.nextInt(1 << 24);
        farPsn = random.nextInt(1 << 24);
    }

    TestPair connect() throws Exception {
        near.connect(FAR, FAR_NUMBER, farPsn, nearPsn);
        far.connect(NEAR, NEAR_NUMBER, nearPsn, farPsn);
        return this;
    }

    /** One step: handles what has arrived, then advances time to the next event; false if there is none. */
    boolean step() {
        int done = near.transport.progress(64) + far.transport.progress(64);
        if (done > 0) {
            return true;
        }
        long next = Math.min(network.nextArrival(), Math.min(near.transport.nextDeadline(), far.transport
                .nextDeadline()));
        if (next == Long.MAX_VALUE) {
            return false;
        }
        network.advanceTo(Math.max(next, network.now() + 1));
        return true;
    }

    /** Runs until a condition holds. */
    void run(BooleanSupplier until) {
        long steps = 0;
        while (!until.getAsBoolean()) {
            if (!step() || ++steps > 5_000_000) {
                throw new AssertionError("nothing goes on, at " + network.now() + ": near " + near.qp.state() + " "
                        + near.sent + " " + near.reasons + ", far " + far.qp.state() + " " + far.received + " "
                        + far.reasons);
            }
        }
    }

    /** Runs until nothing is in flight and no timer is set. */
    void settle() {
        for (int i = 0; step(); i++) {
            if (i > 5_000_000) {
                throw new AssertionError("it does not come to rest");
            }
        }
    }
}
