// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.opentest4j.TestAbortedException;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** The base of the groups of the suite: contexts and pairs that are closed after each test, and assertions. */
abstract class Conformance {
    final ConformanceFixture fixture;
    final Topology topology;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private boolean passed;

    @RegisterExtension final AfterTestExecutionCallback outcome = this::note;

    Conformance(ConformanceFixture fixture, Topology topology) {
        this.fixture = fixture;
        this.topology = topology;
    }

    Conformance(ConformanceFixture fixture) {
        this(fixture, Topology.ONE_CONTEXT);
    }

    @BeforeEach
    final void assumeTopology() {
        assumeTrue(fixture.connects(topology), () -> "the provider does not connect ends of " + topology);
    }

    /** What a test that has failed leaves in other processes is not for the next. */
    private void note(ExtensionContext test) {
        Throwable failure = test.getExecutionException().orElse(null);
        passed = failure == null;
        if (failure != null && !(failure instanceof TestAbortedException)) {
            Peers.of(fixture).endShared();
        }
    }

    @AfterEach
    final void closeAll() throws Exception {
        Exception failure = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                passed = false;
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Registers an object to be closed after the test. */
    final <T extends AutoCloseable> T closing(T what) {
        opened.push(what);
        return what;
    }

    /** A second JVM that the tests of a suite share. */
    final PeerProcess sharedPeer() {
        return Peers.of(fixture).shared();
    }

    /** A second JVM for this test alone. */
    final PeerProcess ownPeer(String... options) {
        PeerProcess p = PeerProcess.start(fixture, options);
        closing(() -> Peers.of(fixture).release(p));
        return p;
    }

    /** A second JVM beside the shared one, which the test does not kill; if it stops it, it also has it continue. */
    final PeerProcess otherPeer() {
        PeerProcess p = Peers.of(fixture).borrow();
        closing(() -> Peers.of(fixture).giveBack(p, passed));
        return p;
    }

    /** A context that is closed after the test. */
    final Context open() throws VerbsException {
        return closing(fixture.open());
    }

    /** An end in this process with its own context. */
    final End end(EndOptions options) throws VerbsException {
        return closing(End.open(fixture, adapted(options)));
    }

    /** Two ends of the topology in state RESET. */
    final Pair pair(EndOptions near, EndOptions far) throws VerbsException {
        if (topology == Topology.ONE_CONTEXT) {
            Context c = open();
            End n = closing(End.on(fixture, c, adapted(near)));
            return new Pair(n, closing(new Far.Local(End.on(fixture, c, adapted(far)))));
        }
        End n = end(near);
        return new Pair(n, farOf(far));
    }

    /** A far end of the topology, never of the near end's context. */
    final Far farOf(EndOptions options) throws VerbsException {
        return closing(topology == Topology.TWO_PROCESSES
                ? new Far.Remote(sharedPeer(), adapted(options))
                : new Far.Local(End.open(fixture, adapted(options))));
    }

    /** Options that this run of the suite adds to those of a test for all ends. */
    EndOptions adapted(EndOptions options) {
        return options;
    }

    /** The bits of a key that are to be changed: by default the even ones on one context, and the odd ones elsewhere. */
    final int[] bitsOfAKey() {
        int first = topology == Topology.ONE_CONTEXT ? 0 : 1;
        return IntStream.range(0, Integer.SIZE).filter(bit -> Topologies.EVERY || bit % 2 == first).toArray();
    }

    /** Two connected ends. */
    final Pair connected(EndOptions near, EndOptions far) throws VerbsException {
        Pair p = pair(near, far);
        p.connect();
        return p;
    }

    final Pair connected() throws VerbsException {
        return connected(EndOptions.defaults(), EndOptions.defaults());
    }

    /** Two connected ends, the far one in that process. */
    final Pair connectedTo(PeerProcess process, EndOptions near, EndOptions far) throws VerbsException {
        Pair p = new Pair(end(near), closing(new Far.Remote(process, adapted(far))));
        p.connect();
        return p;
    }

    /** A far end of type UD that is ready, for a third party in a test. */
    final Far readyFar(EndOptions options) throws VerbsException {
        Far far = farOf(options);
        far.act(end -> end.toReady(end.qp));
        return far;
    }

    /** The near end sends to the far end, and waits for the successful completion. */
    static void sent(Pair p, Op op) throws VerbsException {
        assertPosted(p.near.isDatagram() ? p.near.postTo(p.farAddress, op) : p.near.post(op));
        assertStatus(WcStatus.SUCCESS, op.wrId(), p.near.awaitSend());
    }

    /** Begins to count losses at the far end, if they are counted and a network may deliver late. */
    final void beginLosses(Pair p) throws VerbsException {
        if (countsLosses(p)) {
            CountBook.begin(p.far);
        }
    }

    /** Waits until the far end has lost this many messages since then; else for as long as they may take. */
    final void awaitLosses(Pair p, int messages) throws VerbsException {
        if (countsLosses(p)) {
            Map<String, Long> all = CountBook.expected("QP_RX_LOST", messages);
            Await.until("the loss of all", () -> CountBook.read(p.far, "QP_RX_LOST").equals(all), () -> "not all");
        } else {
            p.far.act(End::expectNoCompletion);
        }
    }

    private boolean countsLosses(Pair p) {
        return fixture.hasPackets() && p.near.context.supports(Feature.COUNTERS);
    }

    /** Skips, visibly, a test of a feature that a provider may lack. */
    static void needs(Context context, String feature) {
        assumeTrue(context.supports(feature), () -> context.device().name() + " does not support " + feature);
    }

    /** The same before any object is created. */
    final void needs(String... features) throws VerbsException {
        try (Context c = fixture.open()) {
            for (String feature : features) {
                needs(c, feature);
            }
        }
    }

    /** Expects a verb to fail with an errno and a message with these words. */
    static VerbsException assertErrno(int errno, ThrowingCallable verb, String... words) {
        VerbsException e = catchThrowableOfType(VerbsException.class, verb);
        assertThat(e).as("expected %s %s", Errno.name(errno), String.join(", ", words)).isNotNull();
        assertThat(Errno.name(e.errno())).as(e.getMessage()).isEqualTo(Errno.name(errno));
        for (String word : words) {
            assertThat(e).hasMessageContaining(word);
        }
        return e;
    }

    /** Expects a post to return 0. */
    static void assertPosted(int result) {
        assertThat(name(result)).isEqualTo("0");
    }

    /** Expects a post to return an errno. */
    static void assertRefused(int errno, int result) {
        assertThat(name(result)).isEqualTo(name(errno));
    }

    private static String name(int result) {
        return result == 0 ? "0" : Errno.name(result);
    }

    /** Expects a status of a work request. */
    static void assertStatus(int status, long wrId, Completion c) {
        assertThat(c.statusName()).as(c.toString()).isEqualTo(WcStatus.toString(status));
        assertThat(c.wrId()).as(c.toString()).isEqualTo(wrId);
    }

    /** Expects a success. */
    static void assertDone(int opcode, long wrId, Completion c) {
        assertStatus(WcStatus.SUCCESS, wrId, c);
        assertThat(WcOpcode.toString(c.opcode())).as(c.toString()).isEqualTo(WcOpcode.toString(opcode));
    }

    /** Expects a received message. */
    static void assertReceived(long wrId, long length, Completion c) {
        assertDone(WcOpcode.RECV, wrId, c);
        assertThat(c.byteLength()).as(c.toString()).isEqualTo(length);
    }

    /** Expects a receive of a connected queue pair to name its sender, if the device does. */
    final void assertSender(int number, int source) {
        assertThat(source).as("the sender").isEqualTo(fixture.namesSenders() ? number : 0);
    }

    /** Expects a failed queue pair to report the reason, if the device does. */
    static void assertSaysWhy(End end) {
        String reason = end.qp.errorReason();
        assertThat(reason.isBlank()).as("no reason: %s", reason).isEqualTo(!end.fixture.saysWhyQueuePairsFail());
    }

    /** Expects the receives of an end to be flushed with its queue pair; those of a shared queue stay in it. */
    static void assertReceivesFlushed(End end, long... ids) throws VerbsException {
        if (end.srq != null) {
            assertThat(End.poll(end.receiveCq, 1)).isEmpty();
            return;
        }
        List<Completion> got = end.awaitReceives(ids.length);
        for (int i = 0; i < ids.length; i++) {
            assertStatus(WcStatus.WR_FLUSH_ERR, ids[i], got.get(i));
        }
    }

    static void assertReceivesFlushed(Far far, long... ids) throws VerbsException {
        far.act(end -> assertReceivesFlushed(end, ids));
    }

    /** Expects the memory of the far end to be unchanged since it was remembered. */
    static void assertUntouched(Far far) throws VerbsException {
        assertThat(far.changed()).as("offset of a byte of the far end that changed").isEqualTo(Long.MIN_VALUE);
    }

    /** Expects the memory of the near end to be unchanged since it was remembered. */
    static void assertUntouched(End near) {
        assertThat(near.changed()).as("offset of a byte of the near end that changed").isEqualTo(Long.MIN_VALUE);
    }
}
