package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.XrcDomain;

/**
 * One thread uses what another one closes, in an order of chance. An application must not do that, so that calls may answer
 * as they like; but with an errno, and the virtual machine survives, nobody waits for ever, and nothing is left behind.
 */
abstract class DestroyRaceConformance extends Conformance {
    private static final int ROUNDS = 60;
    private static final Set<Integer> EXPECTED = Set.of(Errno.EINVAL, Errno.EBUSY, Errno.ENOMEM, Errno.ENOENT,
            Errno.EOPNOTSUPP);

    private static final Gid GROUP = Gid.parse("ff12::4:711");
    private static final int KEY = 17;

    DestroyRaceConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /** One call of the application's. */
    @FunctionalInterface
    private interface Use {
        void run(Things t, End e) throws VerbsException;
    }

    private static final List<Use> CONTROL = List.of(
            (t, e) -> e.qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build()),
            (t, e) -> e.qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build()), (t, e) -> e.qp.query(),
            (t, e) -> e.pd.allocate(4096, AccessFlags.ALL).close(),
            (t, e) -> e.pd.createQueuePair(QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).build()).close(),
            (t, e) -> e.context.createCompletionQueue(4).close(),
            (t, e) -> e.context.allocateProtectionDomain().close(),
            (t, e) -> e.context.createCompletionChannel().close(), (t, e) -> e.sendCq.resize(100),
            (t, e) -> e.receiveCq.modify(CompletionQueueModification.moderate(3, 100)),
            (t, e) -> e.context.queryGid(1, 0), (t, e) -> e.context.awaitAsyncEvent(Duration.ZERO),
            (t, e) -> {
                if (e.channel != null) {
                    e.channel.await(Duration.ZERO);
                }
            }, (t, e) -> t.shared.modify(SharedReceiveQueueAttributes.builder().limit(1).build()),
            (t, e) -> t.shared.modify(SharedReceiveQueueAttributes.builder().maxWr(32).build()),
            (t, e) -> t.shared.query(),
            (t, e) -> e.pd.createQueuePair(e.initAttributes().toBuilder().sharedReceiveQueue(t.shared).build()).close(),
            (t, e) -> t.datagrams.attachMulticast(GROUP, 0), (t, e) -> t.datagrams.detachMulticast(GROUP, 0),
            (t, e) -> t.datagrams.modify(QueuePairAttributes.to(QueuePairState.ERR).build()),
            (t, e) -> t.fedDatagrams.modify(QueuePairAttributes.to(QueuePairState.RESET).build()),
            (t, e) -> e.pd.createAddressHandle(t.handle.vector()).close(),
            (t, e) -> e.pd.allocateMemoryWindow(MemoryWindow.TYPE_2).close(),
            (t, e) -> t.onDevice.copyFrom(MemorySegment.ofArray(new byte[64]), 0),
            (t, e) -> t.onDevice.copyTo(MemorySegment.ofArray(new byte[64]), 8),
            (t, e) -> e.pd.registerDeviceMemory(t.onDevice, 0, 64, AccessFlags.LOCAL_WRITE | AccessFlags.ZERO_BASED)
                    .close(),
            (t, e) -> e.pd.createSharedReceiveQueue(XrcEnd.queue(t.domain, e.receiveCq).build()).close(),
            (t, e) -> t.domain.openQueuePair(QueuePairOpenAttributes.builder().number(t.target.number())
                    .type(QueuePairType.XRC_RECV).build()).close(),
            (t, e) -> t.target.modify(XrcEnd.init(AccessFlags.ALL)), (t, e) -> t.target.query(),
            (t, e) -> t.named.query(),
            (t, e) -> e.region.reregister(MemoryRegion.CHANGE_ACCESS, null, null, AccessFlags.ALL));

    private static final List<Use> DATA = List.of(
            (t, e) -> e.qp.sendQueue().postWrite(1, SendFlags.SIGNALED, e.region, 0, 4096, t.farAddress.rkey(),
                    t.farAddress.address()),
            (t, e) -> e.qp.sendQueue().postSend(2, SendFlags.SIGNALED, e.region, 0, 100),
            (t, e) -> e.qp.receiveQueue().post(3, e.region, 0, 4096), (t, e) -> End.poll(e.sendCq, 16),
            (t, e) -> End.poll(e.receiveCq, 16), (t, e) -> e.receiveCq.requestNotify(false),
            (t, e) -> e.postTo(t.datagrams, t.handle, t.datagrams.number(), KEY, Op.send(4).on(0, 100)),
            (t, e) -> t.datagrams.receiveQueue().post(5, e.region, 0, 4096),
            (t, e) -> e.postTo(t.datagrams, t.handle, t.fedDatagrams.number(), KEY, Op.send(11).on(0, 100)),
            (t, e) -> t.shared.receiveQueue().post(6, e.region, 0, 4096),
            (t, e) -> t.named.receiveQueue().post(11, e.region, 0, 4096),
            (t, e) -> t.fed.sendQueue().postSend(7, SendFlags.SIGNALED, e.region, 0, 3000),
            (t, e) -> t.fed.sendQueue().start()
                    .write(8, SendFlags.SIGNALED, t.window.rkey(), e.region.address()).sge(t.deviceRegion, 0, 32)
                    .complete(),
            (t, e) -> t.fed.bindMemoryWindow(t.window, 9, SendFlags.SIGNALED, e.region, e.region.address(), 64,
                    AccessFlags.REMOTE_WRITE),
            (t, e) -> t.fed.sendQueue().start().sendInvalidate(10, SendFlags.SIGNALED, t.window.rkey())
                    .sge(e.region, 0, 8).complete());

    /** One of each kind of object, in use with each other. */
    private static final class Things {
        final EndAddress farAddress;
        final SharedReceiveQueue shared;
        /** On the shared receive queue, connected to itself. */
        final QueuePair fed;
        final QueuePair datagrams;
        /** On the shared receive queue. */
        final QueuePair fedDatagrams;
        final AddressHandle handle;
        final MemoryWindow window;
        final XrcDomain domain;
        final SharedReceiveQueue named;
        final QueuePair target;
        final DeviceMemory onDevice;
        final MemoryRegion deviceRegion;
        final List<VerbsObject> objects;

        Things(Pair p) throws VerbsException {
            farAddress = p.farAddress;
            End e = p.near;
            shared = e.pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(16).maxSge(1).build());
            QueuePairInitAttributes.Builder like = e.initAttributes().toBuilder();
            datagrams = ready(e.pd.createQueuePair(like.type(QueuePairType.UD).build()));
            handle = e.pd.createAddressHandle(p.nearAddress.vector());
            fed = e.pd.createQueuePair(like.type(QueuePairType.RC).sharedReceiveQueue(shared).build());
            e.toInit(fed);
            e.toRtr(fed, e.address(fed));
            e.toRts(fed);
            fedDatagrams = ready(e.pd.createQueuePair(like.type(QueuePairType.UD).build()));
            window = e.pd.allocateMemoryWindow(MemoryWindow.TYPE_1);
            domain = e.context.openXrcDomain(XrcEnd.privateDomain());
            named = e.pd.createSharedReceiveQueue(XrcEnd.queue(domain, e.receiveCq).maxWr(16).build());
            target = domain.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
            onDevice = e.context.allocateDeviceMemory(4096, 3);
            deviceRegion = e.pd.registerDeviceMemory(onDevice, 0, 4096,
                    AccessFlags.LOCAL_WRITE | AccessFlags.ZERO_BASED);
            objects = new ArrayList<>(List.of(e.qp, e.region, e.sendCq, e.receiveCq, e.pd, shared, fed, datagrams,
                    fedDatagrams,
                    handle, window, onDevice, deviceRegion, domain, named, target));
            if (e.channel != null) {
                objects.add(e.channel);
            }
        }

        private static QueuePair ready(QueuePair q) throws VerbsException {
            q.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(KEY).build());
            q.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
            q.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
            return q;
        }
    }

    @BeforeEach
    void needsAllKinds() throws Exception {
        Context c = open();
        for (String kind : List.of(Feature.UD, Feature.SHARED_RECEIVE_QUEUE, Feature.XRC, Feature.MEMORY_WINDOW_TYPE_1,
                Feature.DEVICE_MEMORY)) {
            needs(c, kind);
        }
    }

    /** Uses a thing until the other thread has closed all; answers the errnos that are not expected. */
    private static List<String> use(List<Use> calls, Things t, End e, Random random, CountDownLatch started,
            CountDownLatch ended) {
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < 50 || ended.getCount() > 0; i++) {
            if (i == 20) {
                started.countDown();
            }
            try {
                calls.get(random.nextInt(calls.size())).run(t, e);
            } catch (VerbsException x) {
                if (!EXPECTED.contains(x.errno())) {
                    wrong.add(x.getMessage());
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
            Things t = new Things(p);
            List<VerbsObject> objects = t.objects;
            Collections.shuffle(objects, random);
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch ended = new CountDownLatch(1);
            Random other = new Random(random.nextLong());
            FutureTask<List<String>> user = new FutureTask<>(() -> use(calls, t, e, other, started, ended));
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
            for (int again = 0; again < 4; again++) {
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
