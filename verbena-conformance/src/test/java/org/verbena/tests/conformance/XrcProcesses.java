// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Await;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** The base of XRC tests between three processes. */
abstract class XrcProcesses extends Conformance {
    /** More than any provider promises; shm promises one second. */
    static final Duration SOON = Duration.ofSeconds(30);
    static final int CAPACITY = 32;
    static final int LENGTH = 2000;

    @TempDir Path dir;
    String file;

    XrcProcesses(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    @BeforeEach
    void needsXrc() throws VerbsException, IOException {
        try (Context c = fixture.open()) {
            needs(c, Feature.XRC);
        }
        file = Files.createFile(dir.resolve("domain")).toString();
    }

    final EndOptions options() {
        return EndOptions.defaults().xrc(file).queues(CAPACITY).bytes(1 << 17);
    }

    final Far here() throws VerbsException {
        return closing(new Far.Local(End.open(fixture, options())));
    }

    final Far in(PeerProcess process) throws VerbsException {
        return closing(new Far.Remote(process, options()));
    }

    static EndAddress.Xrc xrc(Far far) throws VerbsException {
        return Objects.requireNonNull(far.address().xrc());
    }

    /** Has the sender name the other's queue. */
    static void name(Far sender, Far queue) throws VerbsException {
        int number = xrc(queue).srq();
        sender.act(end -> end.xrc().name(end.qp, number));
    }

    /** Connects a sender with the target of another end, and has it name the queue of a third. */
    static void connect(Far sender, Far target, Far queue) throws VerbsException {
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

    static Op receive(long id) {
        return Op.receive(id).on(2048 * id, LENGTH);
    }

    static void postReceives(Far far, int from, int to) throws VerbsException {
        far.act(end -> {
            for (int i = from; i < to; i++) {
                assertPosted(end.postReceives(receive(i)));
            }
        });
    }

    static void assertSent(Far far, int length, int n) throws VerbsException {
        far.act(end -> {
            for (int i = 0; i < n; i++) {
                assertPosted(end.post(Op.send(i).on(0, length)));
            }
            assertThat(end.awaitSends(n)).extracting(Completion::statusName).containsOnly("SUCCESS");
        });
    }

    /** Sends short and long messages endlessly. */
    static void flood(Far far) throws VerbsException {
        far.start(end -> {
            for (long i = 0; end.state() == QueuePairState.RTS; i++) {
                end.post(Op.send(i).on(0, i % 3 == 0 ? 16 : LENGTH));
                End.poll(end.sendCq, 64);
            }
            return true;
        });
    }

    /** Takes messages and reposts their receives, {@code n} times. */
    static void serve(Far far, int n) throws VerbsException {
        far.act(end -> {
            for (int i = 0; i < n; i++) {
                Completion c = end.awaitReceive();
                assertThat(c.status()).as(c.toString()).isEqualTo(WcStatus.SUCCESS);
                assertPosted(end.postReceives(receive(c.wrId())));
            }
        });
    }

    /** Like {@link #serve}, as long as messages arrive, on a separate thread. */
    static void serveOn(Far far) throws VerbsException {
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

    static void assertEnds(Far sender) throws VerbsException {
        String how = sender.run(end -> Await.within(SOON, () -> end.state() == QueuePairState.ERR)
                ? end.qp.errorReason()
                : "");
        assertThat(how).as("why the sender's queue pair has failed").isNotBlank();
        sender.join();
        sender.act(end -> {
            // earlier requests are being flushed, and keep their slots until they are polled
            Await.until("a place in the send queue", () -> {
                End.poll(end.sendCq, 4 * CAPACITY);
                return end.post(Op.send(77).on(0, 8)) == 0;
            }, () -> "it is full");
            assertThat(end.awaitSends(1).getFirst().statusName()).isEqualTo("WR_FLUSH_ERR");
        });
    }

    static QueuePairState targetState(Far far) throws VerbsException {
        return far.run(end -> end.xrc().target(end.qp).state());
    }

    static void awaitTarget(Far far, QueuePairState wanted) throws VerbsException {
        Await.until("the target is in " + wanted, () -> targetState(far) == wanted, () -> "it is not");
    }
}
