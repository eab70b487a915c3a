// SPDX-License-Identifier: Apache-2.0
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
import java.util.function.Function;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.CompletionChannel;
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
 * One thread uses objects that another one closes, in random order. An application must not do that, so calls may
 * return anything, but with an errno, and the virtual machine survives, no thread waits forever, and nothing is left
 * behind.
 */
abstract class DestroyRaceConformance extends Conformance {
    private static final int ROUNDS = Thorough.ON ? 60 : 7;
    private static final Set<Integer> EXPECTED = Set.of(Errno.EINVAL, Errno.EBUSY, Errno.ENOMEM, Errno.ENOENT,
            Errno.EOPNOTSUPP);

    private static final int KEY = 17;

    DestroyRaceConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /** One call of the application. */
    @FunctionalInterface
    private interface Use {
        void run() throws VerbsException;
    }

    /** One of each kind of object that the provider has, connected with each other, and the calls on them. */
    private static final class Things {
        final List<VerbsObject> objects = new ArrayList<>();
        final List<Use> control = new ArrayList<>();
        final List<Use> data = new ArrayList<>();
        private final End e;
        private final QueuePairInitAttributes.Builder like;

        Things(Pair p) throws VerbsException {
            e = p.near;
            like = e.initAttributes().toBuilder();
            addConnection(p);
            addChannel();
            Context c = e.context;
            QueuePair datagrams = c.supports(Feature.UD) ? addDatagrams(p) : null;
            if (c.supports(Feature.SHARED_RECEIVE_QUEUE)) {
                addSharedReceives(p, datagrams != null);
            }
            if (c.supports(Feature.MEMORY_WINDOW_TYPE_1)) {
                addWindow();
            }
            if (c.supports(Feature.MEMORY_WINDOW_TYPE_2)) {
                control.add(() -> e.pd.allocateMemoryWindow(MemoryWindow.TYPE_2).close());
            }
            if (c.supports(Feature.DEVICE_MEMORY)) {
                addDeviceMemory();
            }
            if (c.supports(Feature.XRC)) {
                addXrc(p);
            }
        }

        private <T extends VerbsObject> T add(T o) {
            objects.add(o);
            return o;
        }

        private void addConnection(Pair p) {
            objects.addAll(List.of(e.qp, e.region, e.sendCq, e.receiveCq, e.pd));
            control.addAll(List.of(() -> e.qp.modify(to(QueuePairState.RESET)), () -> e.qp.modify(to(
                    QueuePairState.ERR)),
                    e.qp::query, () -> e.pd.allocate(4096, AccessFlags.ALL).close(),
                    () -> e.pd.createQueuePair(QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).build()).close(),
                    () -> e.context.createCompletionQueue(4).close(),
                    () -> e.context.allocateProtectionDomain().close(),
                    () -> e.context.createCompletionChannel().close(), () -> e.sendCq.resize(100),
                    () -> e.receiveCq.modify(CompletionQueueModification.moderate(3, 100)),
                    () -> e.context.queryGid(1, 0), () -> e.context.awaitAsyncEvent(Duration.ZERO),
                    () -> e.region.reregister(MemoryRegion.CHANGE_ACCESS, null, null, AccessFlags.ALL)));
            EndAddress far = p.farAddress;
            data.addAll(List.of(
                    () -> e.qp.sendQueue().postWrite(1, SendFlags.SIGNALED, e.region, 0, 4096, far.rkey(), far
                            .address()),
                    () -> e.qp.sendQueue().postSend(2, SendFlags.SIGNALED, e.region, 0, 100),
                    () -> e.qp.receiveQueue().post(3, e.region, 0, 4096), () -> End.poll(e.sendCq, 16),
                    () -> End.poll(e.receiveCq, 16), () -> e.receiveCq.requestNotify(false)));
        }

        private void addChannel() {
            CompletionChannel channel = e.channel;
            if (channel != null) {
                add(channel);
                control.add(() -> channel.await(Duration.ZERO));
            }
        }

        private QueuePair addDatagrams(Pair p) throws VerbsException {
            QueuePair q = add(ready(e.pd.createQueuePair(like.type(QueuePairType.UD).build())));
            AddressHandle handle = add(e.pd.createAddressHandle(p.nearAddress.vector()));
            Gid group = e.fixture.group(0x40711);
            control.addAll(List.of(() -> q.attachMulticast(group, 0), () -> q.detachMulticast(group, 0),
                    () -> q.modify(to(QueuePairState.ERR)),
                    () -> e.pd.createAddressHandle(handle.vector()).close()));
            data.addAll(List.of(() -> e.postTo(q, handle, q.number(), KEY, Op.send(4).on(0, 100)),
                    () -> q.receiveQueue().post(5, e.region, 0, 4096)));
            return q;
        }

        /** A queue with a queue pair that is connected to itself, and one that takes datagrams. */
        private void addSharedReceives(Pair p, boolean datagrams) throws VerbsException {
            SharedReceiveQueue shared = add(e.pd
                    .createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(16).maxSge(1).build()));
            like.sharedReceiveQueue(shared);
            QueuePair fed = add(e.pd.createQueuePair(like.type(QueuePairType.RC).build()));
            QueuePairInitAttributes init = fed.initAttributes();
            e.toInit(fed);
            e.toRtr(fed, e.address(fed));
            e.toRts(fed);
            control.addAll(List.of(
                    () -> shared.modify(SharedReceiveQueueAttributes.builder().limit(1).build()),
                    () -> shared.modify(SharedReceiveQueueAttributes.builder().maxWr(32).build()), shared::query,
                    () -> e.pd.createQueuePair(init).close()));
            data.addAll(List.of(() -> shared.receiveQueue().post(6, e.region, 0, 4096),
                    () -> fed.sendQueue().postSend(7, SendFlags.SIGNALED, e.region, 0, 3000)));
            if (datagrams) {
                QueuePair q = add(ready(e.pd.createQueuePair(like.type(QueuePairType.UD).build())));
                AddressHandle handle = add(e.pd.createAddressHandle(p.nearAddress.vector()));
                control.add(() -> q.modify(to(QueuePairState.RESET)));
                data.add(() -> e.postTo(q, handle, q.number(), KEY, Op.send(11).on(0, 100)));
            }
        }

        /** A window that is bound by a queue pair connected to itself. */
        private void addWindow() throws VerbsException {
            MemoryWindow window = add(e.pd.allocateMemoryWindow(MemoryWindow.TYPE_1));
            QueuePair q = add(e.pd.createQueuePair(e.initAttributes()));
            e.toInit(q);
            e.toRtr(q, e.address(q));
            e.toRts(q);
            data.addAll(List.of(
                    () -> q.sendQueue().start().write(8, SendFlags.SIGNALED, window.rkey(), e.region.address())
                            .sge(e.region, 0, 32).complete(),
                    () -> q.bindMemoryWindow(window, 9, SendFlags.SIGNALED, e.region, e.region.address(), 64,
                            AccessFlags.REMOTE_WRITE),
                    () -> q.sendQueue().start().sendInvalidate(10, SendFlags.SIGNALED, window.rkey())
                            .sge(e.region, 0, 8).complete()));
        }

        private void addDeviceMemory() throws VerbsException {
            DeviceMemory memory = add(e.context.allocateDeviceMemory(4096, 3));
            int access = AccessFlags.LOCAL_WRITE | AccessFlags.ZERO_BASED;
            MemoryRegion region = add(e.pd.registerDeviceMemory(memory, 0, 4096, access));
            control.addAll(List.of(() -> memory.copyFrom(MemorySegment.ofArray(new byte[64]), 0),
                    () -> memory.copyTo(MemorySegment.ofArray(new byte[64]), 8),
                    () -> e.pd.registerDeviceMemory(memory, 0, 64, access).close()));
            data.add(() -> e.qp.sendQueue().start()
                    .write(12, SendFlags.SIGNALED, e.region.rkey(), e.region.address()).sge(region, 0, 32)
                    .complete());
        }

        /** A domain with a queue, and a queue pair that sends to a target with two handles. */
        private void addXrc(Pair p) throws VerbsException {
            XrcDomain domain = add(e.context.openXrcDomain(XrcEnd.privateDomain()));
            SharedReceiveQueueAttributes queue = XrcEnd.queue(domain, e.receiveCq).maxWr(16).maxSge(1).build();
            SharedReceiveQueue shared = add(e.pd.createSharedReceiveQueue(queue));
            QueuePairInitAttributes receives = QueuePairInitAttributes.builderXrcReceive().build();
            QueuePair target = add(domain.createQueuePair(receives));
            QueuePairOpenAttributes open = QueuePairOpenAttributes.builder().number(target.number())
                    .type(QueuePairType.XRC_RECV).build();
            QueuePair handle = add(domain.openQueuePair(open));
            QueuePair sender = add(e.pd.createQueuePair(QueuePairInitAttributes.builder(e.sendCq, e.receiveCq)
                    .type(QueuePairType.XRC_SEND).maxSendWr(16).build()));
            EndAddress own = p.nearAddress;
            int mtu = e.context.queryPort(1).activeMtu();
            sender.modify(XrcEnd.init(AccessFlags.ALL));
            sender.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(own.vector()).pathMtu(mtu)
                    .destinationQueuePair(target.number()).rqPsn(1).build());
            sender.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(14).retryCount(7).rnrRetry(7).sqPsn(2)
                    .maxReadAtomic(e.reads()).build());
            target.modify(XrcEnd.init(AccessFlags.ALL));
            handle.modify(XrcEnd.rtr(new EndAddress(own.gid(), sender.number(), 2, 0, 0, 0), mtu, e.reads(), 12));
            int number = shared.number();
            control.addAll(List.of(() -> domain.openQueuePair(open).close(),
                    () -> domain.createQueuePair(receives).close(), shared::number,
                    () -> e.pd.createSharedReceiveQueue(queue).close(), shared::query,
                    () -> shared.modify(SharedReceiveQueueAttributes.builder().limit(1).build()),
                    () -> handle.modify(to(QueuePairState.ERR)), () -> target.modify(to(QueuePairState.RESET)),
                    () -> handle.modify(XrcEnd.init(AccessFlags.ALL)), handle::query, sender::query,
                    () -> sender.modify(to(QueuePairState.ERR))));
            data.addAll(List.of(() -> shared.receiveQueue().post(13, e.region, 0, 4096),
                    () -> sender.sendQueue().start().send(14, SendFlags.SIGNALED).remoteSharedReceiveQueue(number)
                            .sge(e.region, 0, 8).send(15, SendFlags.SIGNALED).remoteSharedReceiveQueue(number)
                            .sge(e.region, 0, 3000).complete(),
                    () -> sender.sendQueue().start().write(16, SendFlags.SIGNALED, e.region.rkey(), e.region.address())
                            .remoteSharedReceiveQueue(number).sge(e.region, 64, 64).complete(),
                    () -> shared.receiveQueue().post(17, e.region, 0, 4096)));
        }

        private static QueuePairAttributes to(QueuePairState state) {
            return QueuePairAttributes.to(state).build();
        }

        private static QueuePair ready(QueuePair q) throws VerbsException {
            q.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(KEY).build());
            q.modify(to(QueuePairState.RTR));
            q.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
            return q;
        }
    }

    /** Uses an object until the other thread has closed all; returns the errnos that are not expected. */
    private static List<String> use(List<Use> calls, Random random, CountDownLatch started, CountDownLatch ended) {
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < 50 || ended.getCount() > 0; i++) {
            if (i == 20) {
                started.countDown();
            }
            try {
                calls.get(random.nextInt(calls.size())).run();
            } catch (VerbsException x) {
                if (!EXPECTED.contains(x.errno())) {
                    wrong.add(x.getMessage());
                }
            }
        }
        return wrong;
    }

    private void race(Function<Things, List<Use>> calls, boolean withContext) throws Exception {
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
            FutureTask<List<String>> user = new FutureTask<>(() -> use(calls.apply(t), other, started, ended));
            Thread.ofPlatform().daemon().name("uses").start(user);
            assertThat(started.await(20, TimeUnit.SECONDS)).as("seed %d round %d", seed, round).isTrue();
            for (VerbsObject o : objects) {
                closeQuietly(o);
            }
            if (withContext) {
                closeQuietly(e.context);
            }
            ended.countDown();
            assertThat(user.get(50, TimeUnit.SECONDS)).as("seed %d round %d", seed, round).isEmpty();
            for (int again = 0; again < 4; again++) {
                objects.forEach(DestroyRaceConformance::closeQuietly); // busy objects are not busy any more
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
    void objectsMayBeClosedDuringControlCalls() throws Exception {
        race(t -> t.control, false);
    }

    @Test
    void contextMayBeClosedDuringControlCalls() throws Exception {
        race(t -> t.control, true);
    }

    @Test
    void objectsMayBeClosedDuringDataCalls() throws Exception {
        race(t -> t.data, false);
    }

    @Test
    void contextMayBeClosedDuringDataCalls() throws Exception {
        race(t -> t.data, true);
    }
}
