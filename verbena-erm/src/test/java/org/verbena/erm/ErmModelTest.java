// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.erm.ErmModel.Step;
import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/**
 * Two ends that copy, poll events, wait, register, update and deregister memory, and close, in an order decided by a
 * seed, with so few credits that each bound is reached: see {@link ErmModel} for the invariants.
 * {@link ErmEnumerationTest} covers all short orders of the steps that concern credits.
 */
class ErmModelTest {
    private static final int SEEDS = Integer.getInteger("verbena.test.seeds", 2000);
    private static final long SEED = Long.getLong("verbena.test.seed", 0);
    private static final java.util.List<Step> STEPS = java.util.List.of(Step.values());
    private static final int[] CREDIT_LIMITS = {1, 2, 3, 4, 5, 8, 256};

    /** How likely each step is, in the order of {@link Step}. */
    private static final int[] WEIGHTS = {20, 6, 3, 6, 8, 2, 20, 12, 5, 5, 12, 12, 6, 20, 1, 2, 3, 2, 1};

    /** Totals of all schedules. */
    private static final class Reached {
        long copies;
        long events;
        long refusals;
        long late;
        long updates;
        int closed;

        @Override
        public String toString() {
            return copies + " copies, " + events + " events, " + refusals + " refused, " + late + " too late, "
                    + updates
                    + " updates, " + closed
                    + " closed early";
        }
    }

    /** A run of one seed. */
    private static final class Schedule {
        private final Random random;
        private final ErmModel model;
        /** Weights of the steps of each end's program. */
        private final int[][] weights = new int[2][];
        private final boolean closes;

        Schedule(long seed) throws VerbsException {
            random = new Random(seed);
            for (int end = 0; end < 2; end++) {
                weights[end] = WEIGHTS.clone();
                for (int i = 0; i < WEIGHTS.length; i++) {
                    weights[end][i] *= random.nextInt(4) == 0 ? random.nextInt(4) : 2;
                }
            }
            closes = random.nextInt(4) == 0;
            CreditLimit leeway = new CreditLimit(CREDIT_LIMITS[random.nextInt(CREDIT_LIMITS.length)],
                    CREDIT_LIMITS[random.nextInt(
                            CREDIT_LIMITS.length)]);
            model = new ErmModel(leeway, random::nextInt, this::step);
        }

        void run(Reached reached) throws VerbsException {
            int steps = 20 + random.nextInt(random.nextInt(10) == 0 ? 2000 : 300);
            for (int i = 0; i < steps; i++) {
                step();
            }
            model.settle();
            for (ModelEnd end : new ModelEnd[] {model.a, model.b}) {
                reached.copies += end.copies + end.asyncCopies;
                reached.events += end.events;
                reached.refusals += end.refusals;
                reached.late += end.late;
                reached.updates += end.updates;
                reached.closed += end.closed ? 1 : 0;
            }
            model.end();
        }

        private void step() {
            int which = random.nextInt(2);
            ModelEnd end = which == 0 ? model.a : model.b;
            Step step = STEPS.get(pick(weights[which]));
            if (step == Step.CLOSE && (!closes || random.nextInt(20) > 0) || !model.isPossible(step, end)) {
                return;
            }
            try {
                model.step(step, end);
            } catch (VerbsException e) {
                throw new AssertionError(step + " of " + end, e);
            }
        }

        private int pick(int[] from) {
            int sum = 0;
            for (int weight : from) {
                sum += weight;
            }
            int left = random.nextInt(sum);
            int i = 0;
            while (left >= from[i]) {
                left -= from[i++];
            }
            return i;
        }
    }

    private static void run(long seed, Reached reached) {
        Schedule schedule = null;
        try {
            schedule = new Schedule(seed);
            schedule.run(reached);
        } catch (AssertionError | Exception e) {
            throw new AssertionError("-Dverbena.test.seeds=1 -Dverbena.test.seed=" + seed + (schedule == null
                    ? ""
                    : ": " + schedule.model.creditLimit + ", " + schedule.model.a + "; " + schedule.model.b), e);
        }
    }

    /**
     * The request that forces a completion behind them needs a slot, and takes none from a later copy or its remote
     * completion.
     */
    @Test
    void deregistrationWithFullQueueCompletes() throws Exception {
        ErmModel model = new ErmModel(new CreditLimit(256, 256), choices -> 0, null);
        CopyQueue copies = model.a.memory.copies();
        RemoteRegion theirs = model.a.memory.remoteRegions().getFirst();
        int flags = CopyFlags.REMOTE_COMPLETION | CopyFlags.UNSIGNALED;
        for (int i = 1; i <= copies.depth(); i++) {
            assertThat(copies.copy(model.a.own.id(), 0, theirs.id(), 0, Long.BYTES, flags, 0, 0)).isZero();
            assertThat(copies.mark()).isEqualTo(i);
        }
        assertThat(copies.copy(model.a.own.id(), 0, theirs.id(), 0, Long.BYTES, flags, 0, 0)).isEqualTo(Errno.EAGAIN);
        model.check();
        while (model.a.data().canGoOn()) {
            model.a.data().carryOut();
        }
        assertThat(copies.isDone(copies.depth())).isTrue();
        while (copies.poll()) {
            // none of them yields a completion
        }
        assertThat(copies.outstanding()).isZero();
        model.check();
    }

    /** An end that completes no copy, and meanwhile revokes memory again and again without awaiting the replies. */
    @Test
    void excessRepliesDueFailTheLink() throws Exception {
        ErmModel model = new ErmModel(new CreditLimit(8, 8), choices -> 0, null);
        ModelEnd victim = model.a;
        PeerLink hostile = model.b.link;
        RemoteRegion theirs = victim.memory.remoteRegions().getFirst();
        assertThat(victim.memory.copies().copy(victim.own.id(), 0, theirs.id(), 0, Long.BYTES, 0, 0)).isZero();
        int asked = 0;
        for (; victim.memory.isOpen() && asked <= 2 * Control.MAX_REPLIES_DUE; asked++) {
            int id = RegionId.of(2 + asked, 100, 1);
            send(model, new Messages.Message(Messages.ADD, id, theirs.address(), 8, theirs.rkey(),
                    AccessFlags.REMOTE_WRITE, 0, 0));
            send(model, Messages.Message.of(Messages.REVOKE, id));
            assertThat(hostile.failure()).isNull();
        }
        assertThat(victim.memory.endReason()).startsWith("the other end breaks the protocol: Message[type=3");
        assertThat(asked).isEqualTo(Control.MAX_REPLIES_DUE + 1);
        assertThat(victim.tasks.size()).as("what waits").isLessThanOrEqualTo(Control.MAX_REPLIES_DUE + 1);
    }

    /** Sends on the queue pair itself, and receives the reply. */
    private static void send(ErmModel model, Messages.Message m) {
        PeerLink from = model.b.link;
        MemorySegment bytes = Arena.ofAuto().allocate(ControlLayout.BYTES, Long.BYTES);
        Messages.put(bytes, 0, m);
        assertThat(from.control().sendQueue().start().send(0, SendFlags.SIGNALED).inline(bytes, 0,
                ControlLayout.BYTES).complete()).isZero();
        model.b.control().carryOut();
        while (from.controlSendCompletions().startPoll() == 0) {
            from.controlSendCompletions().endPoll();
        }
        while (model.a.port.channel.events() > 0) {
            model.a.progress();
        }
        while (model.a.control().canGoOn()) {
            model.a.control().carryOut();
        }
        while (from.controlReceiveCompletions().startPoll() == 0) {
            long slot = from.controlReceiveCompletions().wrId();
            from.controlReceiveCompletions().endPoll();
            from.control().receiveQueue().post(slot, from.controlBufferRegion(), slot * Messages.RECEIVE_BYTES,
                    Messages.RECEIVE_BYTES);
        }
    }

    @Test
    void peerWithoutUpdatesReceivesNone() throws Exception {
        Random random = new Random(SEED);
        ErmModel model = new ErmModel(new CreditLimit(8, 8), 0, random::nextInt, null);
        for (int i = 0; i < 5000; i++) {
            Step step = STEPS.get(random.nextInt(STEPS.size() - 1)); // all but CLOSE, the last
            ModelEnd end = random.nextBoolean() ? model.a : model.b;
            if (model.isPossible(step, end)) {
                model.step(step, end);
            }
        }
        model.settle();
        model.end();
    }

    @Test
    void randomSchedulesLoseNothingAndTerminate() {
        Reached reached = new Reached();
        for (int i = 0; i < SEEDS; i++) {
            run(SEED + i, reached);
        }
        System.out.println("ErmModelTest: " + reached);
        if (SEEDS >= 2000) { // a step that never happened was not tested
            assertThat(reached.refusals).isGreaterThan(1000);
            assertThat(reached.events).isGreaterThan(10_000);
            assertThat(reached.late).isPositive();
            assertThat(reached.updates).isGreaterThan(1000);
            assertThat(reached.closed).isGreaterThan(20);
        }
    }
}
