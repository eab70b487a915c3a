package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * What XRC is for: a sender in one process, the queue pair that it is connected to in a second one, and the shared receive
 * queue that its requests name in a third. Each of them is killed, too.
 */
abstract class XrcProcessesConformance extends Conformance {
    /** More than any provider promises; shm promises one second. */
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final int CAPACITY = 32;
    private static final int LENGTH = 2000;

    @TempDir private Path dir;
    private String file;

    XrcProcessesConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    @BeforeEach
    void needsXrc() throws VerbsException, IOException {
        try (Context c = fixture.open()) {
            needs(c, Feature.XRC);
        }
        file = Files.createFile(dir.resolve("domain")).toString();
    }

    private EndOptions options() {
        return EndOptions.defaults().xrc(file).queues(CAPACITY).bytes(1 << 17);
    }

    private Far here() throws VerbsException {
        return closing(new Far.Local(End.open(fixture, options())));
    }

    private Far in(PeerProcess process) throws VerbsException {
        return closing(new Far.Remote(process, options()));
    }

    private static EndAddress.Xrc xrc(Far far) throws VerbsException {
        return Objects.requireNonNull(far.address().xrc());
    }

    /** Has the sender name the other's queue. */
    private static void name(Far sender, Far queue) throws VerbsException {
        int number = xrc(queue).srq();
        sender.act(end -> end.xrc().name(end.qp, number));
    }

    /** Connects a sender with the target of another end, and has it name the queue of a third. */
    private static void connect(Far sender, Far target, Far queue) throws VerbsException {
        EndAddress s = sender.address();
        EndAddress t = target.address();
        sender.act(End::toInit);
        target.act(End::toInit);
        sender.act(end -> end.toRtr(t));
        target.act(end -> end.toRtr(s));
        sender.act(End::toRts);
        target.act(End::toRts);
        name(sender, queue);
    }

    private static Op receive(long id) {
        return Op.receive(id).on(2048 * id, LENGTH);
    }

    private static void postReceives(Far far, int from, int to) throws VerbsException {
        far.act(end -> {
            for (int i = from; i < to; i++) {
                assertPosted(end.postReceives(receive(i)));
            }
        });
    }

    private static void assertSent(Far far, int length, int n) throws VerbsException {
        far.act(end -> {
            for (int i = 0; i < n; i++) {
                assertPosted(end.post(Op.send(i).on(0, length)));
            }
            assertThat(end.awaitSends(n)).extracting(Completion::statusName).containsOnly("SUCCESS");
        });
    }

    /** Sends without end, short and long messages. */
    private static void flood(Far far) throws VerbsException {
        far.start(end -> {
            for (long i = 0; end.state() == QueuePairState.RTS; i++) {
                end.post(Op.send(i).on(0, i % 3 == 0 ? 16 : LENGTH));
                End.poll(end.sendCq, 64);
            }
            return true;
        });
    }

    /** Takes messages and posts their receives again, {@code n} times. */
    private static void serve(Far far, int n) throws VerbsException {
        far.act(end -> {
            for (int i = 0; i < n; i++) {
                Completion c = end.awaitReceive();
                assertThat(c.status()).as(c.toString()).isEqualTo(WcStatus.SUCCESS);
                assertPosted(end.postReceives(receive(c.wrId())));
            }
        });
    }

    /** As {@link #serve}, as long as messages come, on a thread of its own. */
    private static void serveOn(Far far) throws VerbsException {
        far.start(end -> {
            while (end.later == null) {
                for (Completion c : End.poll(end.receiveCq, 16)) {
                    assertThat(c.status()).as(c.toString()).isEqualTo(WcStatus.SUCCESS);
                    assertPosted(end.postReceives(receive(c.wrId())));
                }
            }
            return true;
        });
    }

    private static void assertEnds(Far sender) throws VerbsException {
        String how = sender.run(end -> Await.within(SOON, () -> end.state() == QueuePairState.ERR)
                ? end.qp.errorReason()
                : "");
        assertThat(how).as("why the sender's queue pair has failed").isNotBlank();
        sender.join();
        sender.act(end -> {
            End.poll(end.sendCq, 4 * CAPACITY);
            assertPosted(end.post(Op.send(77).on(0, 8)));
            List<Completion> c = end.awaitSends(1);
            assertThat(c.getFirst().statusName()).isEqualTo("WR_FLUSH_ERR");
        });
    }

    private static QueuePairState targetState(Far far) throws VerbsException {
        return far.run(end -> end.xrc().target(end.qp).state());
    }

    private static void awaitTarget(Far far, QueuePairState wanted) throws VerbsException {
        Await.until("the target is in " + wanted, () -> targetState(far) == wanted, () -> "it is not");
    }

    // ---- where messages go

    @Test
    void messagesGoToTheProcessOfTheQueue() throws VerbsException {
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(ownPeer());
        connect(a, b, c);
        b.remember();
        postReceives(c, 0, 4);
        EndAddress there = c.address();
        a.fill(0, 5000, 9);
        c.setLong(130_000, 5);
        a.act(end -> {
            assertPosted(end.post(Op.send(0).on(0, 16), Op.send(1).inlineFrom(0, 40), Op.send(2).on(0, LENGTH),
                    Op.writeImmediate(3, there, 100_000, 42).on(0, 5000), Op.read(4, there, 100_001).on(60_000, 4999),
                    Op.fetchAndAdd(5, there, 130_000, 3).on(70_000, 8)));
            assertThat(end.awaitSends(6)).extracting(Completion::statusName).containsOnly("SUCCESS");
        });
        List<Completion> got = c.awaitReceives(4);
        assertThat(got).extracting(Completion::wrId).containsExactly(0L, 1L, 2L, 3L);
        assertThat(got).extracting(Completion::byteLength).containsExactly(16L, 40L, (long) LENGTH, 5000L);
        assertThat(got).extracting(Completion::queuePairNumber).containsOnly(xrc(b).target());
        assertThat(got.get(3).immediate()).isEqualTo(42);
        assertThat(c.mismatch(4096, LENGTH, 9)).isEqualTo(-1);
        assertThat(c.mismatch(100_000, 5000, 9)).isEqualTo(-1);
        assertThat(a.bytes(60_000, 4999)).isEqualTo(c.bytes(100_001, 4999));
        assertThat(a.getLong(70_000)).isEqualTo(5);
        assertThat(c.getLong(130_000)).isEqualTo(8);
        b.act(End::expectNoCompletion);
        assertUntouched(b);
    }

    @Test
    void oneConnectionReachesAllProcesses() throws VerbsException {
        Far a = in(sharedPeer());
        Far b = here();
        Far c = in(ownPeer());
        connect(a, b, c);
        List<Far> all = List.of(b, c);
        for (Far f : all) {
            postReceives(f, 0, CAPACITY);
        }
        for (int i = 0; i < CAPACITY; i++) {
            for (int j = 0; j < 2; j++) {
                name(a, all.get(j));
                assertSent(a, 2 * i + j, 1);
            }
        }
        for (int j = 0; j < 2; j++) {
            assertThat(all.get(j).awaitReceives(CAPACITY)).extracting(Completion::byteLength)
                    .containsExactlyElementsOf(LongStream.iterate(j, n -> n + 2).limit(CAPACITY).boxed().toList());
        }
    }

    /** Its process does nothing, and need not be able to. */
    @Test
    void theProcessOfTheTargetMayStandStill() throws Exception {
        PeerProcess still = ownPeer();
        Far a = here();
        Far b = in(still);
        Far c = in(sharedPeer());
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        assertSent(a, 8, 1);
        serve(c, 1);
        still.signal("STOP");
        try {
            for (int i = 0; i < 200; i++) {
                assertSent(a, i % 2 == 0 ? 16 : LENGTH, 10);
                serve(c, 10);
            }
            EndAddress there = c.address();
            a.act(end -> {
                assertPosted(end.post(Op.write(1, there, 0).on(0, 5000)));
                assertDone(WcOpcode.RDMA_WRITE, 1, end.awaitSend());
            });
        } finally {
            still.signal("CONT");
        }
        assertThat(targetState(b)).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void theProcessOfTheQueueMayStandStill() throws Exception {
        PeerProcess still = ownPeer();
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(still);
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        assertSent(a, 8, 1);
        still.signal("STOP");
        try {
            assertSent(a, LENGTH, CAPACITY - 1);
        } finally {
            still.signal("CONT");
        }
        assertThat(c.awaitReceives(CAPACITY)).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    // ---- one of them is killed

    @RepeatedTest(4)
    void theProcessOfTheQueueIsKilled() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(victim);
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        flood(a);
        serve(c, 1000);
        serveOn(c);
        TimeUnit.MICROSECONDS.sleep(new Random().nextInt(20_000));
        victim.kill();
        assertEnds(a);
        awaitTarget(b, QueuePairState.ERR);
        // connected anew, it reaches who is alive
        for (Far f : List.of(a, b)) {
            f.act(end -> {
                end.to(QueuePairState.RESET);
                end.xrc().target(end.qp).modify(XrcEnd.to(QueuePairState.RESET));
            });
        }
        connect(a, b, b);
        postReceives(b, 0, 4);
        a.act(end -> End.poll(end.sendCq, 4 * CAPACITY));
        assertSent(a, 8, 4);
        assertThat(b.awaitReceives(4)).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    @Test
    void theProcessOfTheQueueIsKilledWhileARequestWaits() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(victim);
        connect(a, b, c);
        a.act(end -> {
            assertPosted(end.post(Op.send(1).on(0, 8)));
            end.expectNoCompletion();
        });
        victim.kill();
        Completion end = a.awaitSend();
        assertThat(end.status()).as(end.toString()).isNotEqualTo(WcStatus.SUCCESS);
        a.awaitState(QueuePairState.ERR);
        awaitTarget(b, QueuePairState.ERR);
    }

    @RepeatedTest(4)
    void theProcessOfTheTargetIsKilled() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(victim);
        Far c = in(sharedPeer());
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        flood(a);
        serve(c, 1000);
        serveOn(c);
        TimeUnit.MICROSECONDS.sleep(new Random().nextInt(20_000));
        victim.kill();
        assertEnds(a);
        c.act(end -> end.later = true);
        c.join();
        // the queue is as good as before for others
        Far d = here();
        connect(d, c, c);
        drain(c);
        assertAllReceivesAreThere(d, c);
    }

    /** What the sender had taken of the queue when it was killed comes back. */
    @RepeatedTest(6)
    void theSenderIsKilled() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = in(victim);
        Far b = in(sharedPeer());
        Far c = here();
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        flood(a);
        serve(c, 3000);
        victim.kill();
        awaitTarget(b, QueuePairState.ERR);
        Far d = in(sharedPeer());
        connect(d, c, c);
        drain(c);
        assertAllReceivesAreThere(d, c);
    }

    /** Posts the receives of all completions that are there again. */
    private static void drain(Far far) throws VerbsException {
        far.act(end -> {
            Set<Long> unposted = new HashSet<>();
            for (List<Completion> some = End.poll(end.receiveCq, 64); !some.isEmpty(); some = End.poll(end.receiveCq,
                    64)) {
                some.forEach(c -> unposted.add(c.wrId()));
            }
            for (long id : unposted) {
                assertPosted(end.postReceives(receive(id)));
            }
        });
    }

    private static void assertAllReceivesAreThere(Far sender, Far queue) throws VerbsException {
        sender.start(end -> {
            for (int i = 0; i < CAPACITY; i++) {
                assertPosted(end.post(Op.send(i).on(0, LENGTH)));
            }
            assertThat(end.awaitSends(CAPACITY)).extracting(Completion::statusName).containsOnly("SUCCESS");
            return true;
        });
        Set<Long> used = new HashSet<>();
        for (Completion c : queue.awaitReceives(CAPACITY)) {
            assertThat(c.status()).as(c.toString()).isEqualTo(WcStatus.SUCCESS);
            used.add(c.wrId());
        }
        assertThat(used).as("each receive once").hasSize(CAPACITY);
        sender.join();
    }

    // ---- a target that several processes have open

    /** Opens the target of another process; the handle is what the end leaves for later. */
    private static void open(Far opener, int number) throws VerbsException {
        opener.act(end -> end.later = end.keep(end.xrc().domain.openQueuePair(XrcEnd.numbered(number))));
    }

    private static QueuePair handle(End end) {
        return (QueuePair) Objects.requireNonNull(end.later);
    }

    private static QueuePairState handleState(Far far) throws VerbsException {
        return far.run(end -> handle(end).state());
    }

    private static String handleReason(Far far) throws VerbsException {
        return far.run(end -> handle(end).errorReason());
    }

    /** The next event, and whether it is one of the handle. */
    private static String nextEvent(Far far) throws VerbsException {
        return far.run(end -> {
            AsyncEvent e = end.context.awaitAsyncEvent(Await.LIMIT);
            return e == null ? "none" : AsyncEventType.toString(e.type()) + " " + e.element().equals(end.later);
        });
    }

    @Test
    void anotherProcessOpensTheTarget() throws VerbsException {
        Far a = here();
        Far b = in(ownPeer());
        Far c = in(sharedPeer());
        int number = xrc(b).target();
        open(c, number);
        b.act(end -> end.later = end.xrc().target(end.qp));
        int opened = c.run(end -> handle(end).number());
        assertThat(opened).isEqualTo(number);
        assertThat(handleState(c)).isEqualTo(QueuePairState.RESET);
        EndAddress sender = a.address();
        EndAddress target = b.address();
        // the one who opened it connects it
        c.act(end -> {
            handle(end).modify(XrcEnd.init(1));
            assertErrno(Errno.EINVAL, () -> handle(end).modify(XrcEnd.to(QueuePairState.SQD)), "SQD");
        });
        assertThat(targetState(b)).isEqualTo(QueuePairState.INIT);
        int mtu = c.run(end -> end.context.queryPort(1).activeMtu());
        c.act(end -> handle(end).modify(XrcEnd.rtr(sender, mtu, 16, 12)));
        assertThat(targetState(b)).isEqualTo(QueuePairState.RTR);
        int destination = c.run(end -> handle(end).query().destinationQueuePair());
        assertThat(destination).isEqualTo(sender.queuePairNumber());
        a.act(end -> {
            end.toInit();
            end.toRtr(target);
            end.toRts();
        });
        name(a, c);
        postReceives(c, 0, 4);
        assertSent(a, 8, 2);
        assertThat(c.awaitReceives(2)).extracting(Completion::queuePairNumber).containsOnly(number);
        // a failure is told to both
        EndAddress there = c.address();
        assertThat(a.post(Op.write(1, there, 1L << 40).on(0, 8))).isZero();
        assertStatus(WcStatus.REM_INV_REQ_ERR, 1, a.awaitSend()); // the target was given no right to write
        assertThat(nextEvent(b)).isEqualTo("QP_REQ_ERR true");
        assertThat(nextEvent(c)).isEqualTo("QP_REQ_ERR true");
        assertThat(handleState(c)).isEqualTo(QueuePairState.ERR);
        assertThat(handleReason(c)).isNotBlank();
    }

    @Test
    void theTargetLivesAsLongAsSomebodyHasItOpen() throws VerbsException {
        Far a = here();
        Far b = in(ownPeer());
        Far c = in(sharedPeer());
        connect(a, b, c);
        int number = xrc(b).target();
        open(c, number);
        postReceives(c, 0, 4);
        b.act(end -> {
            end.qp.close();
            end.xrc().closeTargets();
        });
        assertSent(a, 8, 2);
        assertThat(c.awaitReceives(2)).extracting(Completion::queuePairNumber).containsOnly(number);
        assertThat(handleState(c)).isEqualTo(QueuePairState.RTS);
        b.act(end -> end.xrc().domain.openQueuePair(XrcEnd.numbered(number)).close());
        c.act(end -> handle(end).close());
        a.act(end -> assertPosted(end.post(Op.send(1).on(0, 8))));
        assertThat(a.awaitSend().status()).isNotEqualTo(WcStatus.SUCCESS);
        a.awaitState(QueuePairState.ERR);
        assertErrno(Errno.EINVAL, () -> open(b, number), "number");
    }

    @Test
    void onlyTargetsOfTheDomainAreOpened() throws VerbsException, IOException {
        Far b = in(ownPeer());
        Far c = in(sharedPeer());
        EndAddress address = b.address();
        int number = xrc(b).target();
        assertErrno(Errno.EINVAL, () -> open(c, address.queuePairNumber()), "number");
        int closed = b.run(end -> {
            try (QueuePair q = XrcEnd.newTarget(end.xrc().domain)) {
                return q.number();
            }
        });
        assertErrno(Errno.EINVAL, () -> open(c, closed), "number");
        file = Files.createFile(dir.resolve("other")).toString();
        Far other = here();
        assertErrno(Errno.EINVAL, () -> open(other, number), "number");
        open(c, number);
    }

    /** The one who made it is killed: the others who have it open are told. */
    @Test
    void theTargetOfAProcessThatIsKilledHasFailed() throws VerbsException {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(victim);
        Far c = in(sharedPeer());
        connect(a, b, c);
        open(c, xrc(b).target());
        postReceives(c, 0, 4);
        assertSent(a, 8, 1);
        victim.kill();
        assertThat(nextEvent(c)).isEqualTo("QP_FATAL true");
        assertThat(handleState(c)).isEqualTo(QueuePairState.ERR);
        assertThat(handleReason(c)).isNotBlank();
        c.act(end -> handle(end).close());
        String path = file;
        c.act(end -> end.context.openXrcDomain(XrcEnd.shared(Path.of(path))).close());
    }

    /** The one who has it open is killed: the one who made it still has it, and it ends with that. */
    @Test
    void aHandleOfAProcessThatIsKilledIsClosed() throws VerbsException {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(victim);
        connect(a, b, b);
        int number = xrc(b).target();
        open(c, number);
        postReceives(b, 0, 4);
        assertSent(a, 8, 1);
        victim.kill();
        assertSent(a, 8, 1);
        assertThat(b.awaitReceives(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
        assertThat(targetState(b)).isEqualTo(QueuePairState.RTS);
        b.act(end -> end.xrc().closeTargets());
        Far d = here();
        Await.until("the target is gone", () -> {
            try {
                open(d, number);
                d.act(end -> handle(end).close());
                return false;
            } catch (VerbsException e) {
                assertThat(Errno.name(e.errno())).as(e.getMessage()).isEqualTo("EINVAL");
                return true;
            }
        }, () -> "it can be opened");
    }
}
