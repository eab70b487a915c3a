package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/**
 * One thread uses what another one closes, in an order of chance. An application must not do that, so that calls may answer
 * as they like; but with an errno, and the virtual machine survives, nobody waits for ever, and nothing is left behind.
 */
abstract class DestroyRaceConformance extends Conformance {
    private static final int ROUNDS = 60;
    private static final Set<Integer> EXPECTED = Set.of(Errno.EINVAL, Errno.EBUSY, Errno.ENOMEM, Errno.ENOENT,
            Errno.EOPNOTSUPP);

    DestroyRaceConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /** One call of the application's. */
    @FunctionalInterface
    private interface Use {
        void run(Pair p, End e) throws VerbsException;
    }

    private static final List<Use> CONTROL = List.of(
            (p, e) -> e.qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build()),
            (p, e) -> e.qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build()), (p, e) -> e.qp.query(),
            (p, e) -> e.pd.allocate(4096, AccessFlags.ALL).close(),
            (p, e) -> e.pd.createQueuePair(QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).build()).close(),
            (p, e) -> e.context.createCompletionQueue(4).close(),
            (p, e) -> e.context.allocateProtectionDomain().close(),
            (p, e) -> e.context.createCompletionChannel().close(), (p, e) -> e.sendCq.resize(100),
            (p, e) -> e.receiveCq.modify(CompletionQueueModification.moderate(3, 100)),
            (p, e) -> e.context.queryGid(1, 0), (p, e) -> e.context.awaitAsyncEvent(Duration.ZERO),
            (p, e) -> {
                if (e.channel != null) {
                    e.channel.await(Duration.ZERO);
                }
            });

    private static final List<Use> DATA = List.of(
            (p, e) -> e.qp.sendQueue().postWrite(1, SendFlags.SIGNALED, e.region, 0, 4096, p.farAddress.rkey(),
                    p.farAddress.address()),
            (p, e) -> e.qp.sendQueue().postSend(2, SendFlags.SIGNALED, e.region, 0, 100),
            (p, e) -> e.qp.receiveQueue().post(3, e.region, 0, 4096), (p, e) -> End.poll(e.sendCq, 16),
            (p, e) -> End.poll(e.receiveCq, 16), (p, e) -> e.receiveCq.requestNotify(false));

    /** Uses a thing until the other thread has closed all; answers the errnos that are not expected. */
    private static List<String> use(List<Use> calls, Pair p, Random random, CountDownLatch started,
            CountDownLatch ended) {
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < 50 || ended.getCount() > 0; i++) {
            if (i == 20) {
                started.countDown();
            }
            try {
                calls.get(random.nextInt(calls.size())).run(p, p.near);
            } catch (VerbsException e) {
                if (!EXPECTED.contains(e.errno())) {
                    wrong.add(e.getMessage());
                }
            }
        }
        return wrong;
    }

    private void race(List<Use> calls, boolean withContext) throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            Pair p = connected(EndOptions.defaults().channel(), EndOptions.defaults());
            End e = p.near;
            List<VerbsObject> objects = new ArrayList<>(List.of(e.qp, e.region, e.sendCq, e.receiveCq, e.pd));
            if (e.channel != null) {
                objects.add(e.channel);
            }
            Collections.shuffle(objects, random);
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch ended = new CountDownLatch(1);
            Random other = new Random(random.nextLong());
            FutureTask<List<String>> user = new FutureTask<>(() -> use(calls, p, other, started, ended));
            Thread.ofPlatform().daemon().name("uses").start(user);
            assertThat(started.await(20, TimeUnit.SECONDS)).as("seed %d round %d", seed, round).isTrue();
            for (VerbsObject o : objects) {
                closeQuietly(o);
            }
            if (withContext) {
                closeQuietly(e.context);
            }
            ended.countDown();
            assertThat(user.get(20, TimeUnit.SECONDS)).as("seed %d round %d", seed, round).isEmpty();
            for (int again = 0; again < 3; again++) {
                objects.forEach(DestroyRaceConformance::closeQuietly); // what was busy is not any more
            }
            assertThat(objects).as("seed %d round %d", seed, round).allMatch(VerbsObject::isClosed);
        }
    }

    private static void closeQuietly(VerbsObject o) {
        try {
            o.close();
        } catch (VerbsException e) {
            assertThat(Errno.name(e.errno())).as(e.getMessage()).isIn("EBUSY", "EINVAL");
        }
    }

    @Test
    void objectsAreClosedWhileTheControlPathUsesThem() throws Exception {
        race(CONTROL, false);
    }

    @Test
    void aContextIsClosedWhileTheControlPathUsesIt() throws Exception {
        race(CONTROL, true);
    }

    @Test
    void objectsAreClosedWhileTheDataPathUsesThem() throws Exception {
        race(DATA, false);
    }

    @Test
    void aContextIsClosedWhileTheDataPathUsesIt() throws Exception {
        race(DATA, true);
    }
}
