// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A target that several processes have open. */
abstract class XrcTargetConformance extends XrcProcesses {
    XrcTargetConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    /** Opens the target of another process; the end keeps the handle for later. */
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

    /** The next event, and whether it belongs to the handle. */
    private static String nextEvent(Far far) throws VerbsException {
        return far.run(end -> {
            AsyncEvent e = end.context.awaitAsyncEvent(Await.LIMIT);
            return e == null ? "none" : AsyncEventType.toString(e.type()) + " " + e.element().equals(end.later);
        });
    }

    @Test
    void otherProcessOpensTheTarget() throws VerbsException {
        Far a = here();
        Far b = in(otherPeer());
        Far c = in(sharedPeer());
        int number = xrc(b).target();
        open(c, number);
        b.act(end -> end.later = end.xrc().target(end.qp));
        int opened = c.run(end -> handle(end).number());
        assertThat(opened).isEqualTo(number);
        assertThat(handleState(c)).isEqualTo(QueuePairState.RESET);
        EndAddress sender = a.address();
        EndAddress target = b.address();
        // the process that opened it connects it
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
        // a failure is reported to both
        EndAddress there = c.address();
        assertThat(a.post(Op.write(1, there, 1L << 40).on(0, 8))).isZero();
        assertStatus(WcStatus.REM_INV_REQ_ERR, 1, a.awaitSend()); // the target was given no right to write
        assertThat(nextEvent(b)).isEqualTo("QP_REQ_ERR true");
        assertThat(nextEvent(c)).isEqualTo("QP_REQ_ERR true");
        assertThat(handleState(c)).isEqualTo(QueuePairState.ERR);
        assertThat(handleReason(c)).isNotBlank();
    }

    @Test
    void targetLivesUntilItsLastHandleCloses() throws VerbsException {
        Far a = here();
        Far b = in(otherPeer());
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
        Far b = in(otherPeer());
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

    /** The creator is killed: the other holders get an event. */
    @Test
    void targetOfAKilledProcessHasFailed() throws VerbsException {
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
        assertErrno(Errno.ECONNRESET, () -> c.act(end -> handle(end).query()), "has ended");
        assertErrno(Errno.ECONNRESET, () -> c.act(end -> handle(end).modify(XrcEnd.to(QueuePairState.RESET))),
                "has ended");
        c.act(end -> handle(end).close());
        String path = file;
        c.act(end -> end.context.openXrcDomain(XrcEnd.shared(Path.of(path))).close());
    }

    /** The creator is killed while another process queries it continuously. */
    @Rounds(value = 1, thorough = 3)
    void queryOfATargetInAKilledProcessIsAnswered() throws Exception {
        PeerProcess victim = ownPeer();
        Far b = in(victim);
        Far c = in(sharedPeer());
        open(c, xrc(b).target());
        c.start(end -> {
            try {
                while (true) {
                    handle(end).query();
                    handle(end).modify(XrcEnd.to(QueuePairState.RESET));
                }
            } catch (VerbsException e) {
                return Errno.name(e.errno());
            }
        });
        TimeUnit.MICROSECONDS.sleep(new Random().nextInt(20_000));
        victim.kill();
        assertThat(c.join()).isEqualTo("ECONNRESET");
    }

    /** The creator is stopped: other holders get an error, and may continue when it continues. */
    @Test
    void queryOfATargetInAStoppedProcessTimesOut() throws VerbsException {
        PeerProcess still = otherPeer();
        Far b = in(still);
        Far c = in(sharedPeer());
        open(c, xrc(b).target());
        still.signal("STOP");
        try {
            assertErrno(Errno.ETIMEDOUT, () -> c.act(end -> handle(end).query()), "stopped");
        } finally {
            still.signal("CONT");
        }
        c.act(end -> {
            handle(end).modify(XrcEnd.init(1));
            assertThat(handle(end).query().accessFlags()).isEqualTo(1);
        });
        assertThat(targetState(b)).isEqualTo(QueuePairState.INIT);
    }

    /** The process that opened it is killed: the creator still has it, and it ends with the creator. */
    @Test
    void handleOfAKilledProcessIsClosed() throws VerbsException {
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
