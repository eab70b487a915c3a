// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

import org.verbena.sockets.stream.Enumeration.Bounds;
import org.verbena.sockets.stream.Enumeration.Step;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.VerbsException;

/**
 * The change from TCP to rings under all short schedules, as {@link SwitchModelTest} under some long ones. From nothing, and
 * from each stage of the handshake, there are: all that both ends, TCP and the handshake can do in 5 steps, 115,620
 * schedules that come to 44,908 states; in 7 steps with nothing that ends, 41,966 and 8,600; in 5 steps from an
 * handshake on, with pieces that fill rings, 19,390 and 5,944; and of 3,071 states the failure of the session in each, with
 * six things that may come next. With {@code -Dthorough} there is one step more. A schedule is not gone on with if its state
 * has been there, so that there are far more orders than schedules.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("sessions of the model") // and so one test at a time
class SwitchEnumerationTest {
    private static final boolean LONG = Thorough.ON;
    private static final String OFFERED = "a.HANDSHAKE b.HANDSHAKE";
    private static final String ONE_COMPLETE = "a.HANDSHAKE b.HANDSHAKE a.HANDSHAKE";
    private static final String COMPLETE = "a.HANDSHAKE b.HANDSHAKE a.HANDSHAKE b.HANDSHAKE";
    private static final String ASLEEP = COMPLETE + " a.SLEEP_FOR_DATA b.SLEEP_FOR_DATA";
    /** By TCP, the handshake in the middle of it. */
    private static final String UNDER_WAY = "a.WRITE b.WRITE a.HANDSHAKE b.HANDSHAKE a.HANDSHAKE";
    private static final String[] BEGINNINGS = {"", OFFERED, ONE_COMPLETE, COMPLETE, ASLEEP, UNDER_WAY};

    /** Pieces so small that TCP has no room for two of them, nor a doorbell, and that a read gives half of one. */
    private static final Bounds SMALL = new Bounds(3, 2, 1, 1, 4, EnumSet.complementOf(EnumSet.of(Step.ANSWER_CALLS)));
    private static final Bounds WITHOUT_ENDS = new Bounds(3, 2, 1, 1, 6, EnumSet.of(Step.WRITE, Step.READ, Step.ARRIVE,
            Step.HANDSHAKE, Step.SLEEP_FOR_DATA, Step.WAKE));
    /** Pieces of which a first ring takes one, and the next one four. */
    private static final Bounds LARGE = new Bounds(9000, 4000, 3000, 9000, 30_000, EnumSet.complementOf(EnumSet.of(
            Step.REFUSE, Step.HANDSHAKE, Step.KILL_WITH_UNREAD)));

    /** The steps of ends that have not noticed their session's end. */
    private static final Step[] NEXT = {Step.READ, Step.WRITE, Step.WAKE, Step.HANDSHAKE, Step.END_OUTPUT, Step.CLOSE};
    /** Connections of one session. */
    private static final int AT_A_TIME = 2000;

    private SessionPair sessions;

    @BeforeEach
    void connect() throws VerbsException {
        sessions = SessionPair.ofOne();
    }

    @AfterEach
    void disconnect() throws VerbsException {
        sessions.close();
    }

    /**
     * All schedules of a length.
     *
     * @param schedules that were run, and
     * @param states that they came to, at least, when this was written: fewer of them prove less
     */
    private Enumeration enumerate(Bounds bounds, int length, int schedules, int states, String... beginnings)
            throws Exception {
        Enumeration all = new Enumeration(sessions, bounds);
        all.run(length, beginnings);
        System.out.println("SwitchEnumerationTest: " + all.schedules() + " schedules, " + all.states().size()
                + " states");
        assertThat(all.schedules()).isGreaterThanOrEqualTo(schedules);
        assertThat(all.states()).hasSizeGreaterThanOrEqualTo(states);
        assertThat(sessions.a.streams().all()).isEmpty();
        assertThat(sessions.b.streams().all()).isEmpty();
        return all;
    }

    @Test
    void everyByteArrivesForEachEnd() throws Exception {
        if (LONG) {
            enumerate(SMALL, 6, 333_535, 121_954, BEGINNINGS);
        } else {
            enumerate(SMALL, 4, 32_544, 13_264, BEGINNINGS);
        }
    }

    @Test
    void everyByteArrivesOnOpenConnections() throws Exception {
        if (LONG) {
            enumerate(WITHOUT_ENDS, 8, 85_713, 16_537, BEGINNINGS);
        } else {
            enumerate(WITHOUT_ENDS, 6, 18_905, 4_178, BEGINNINGS);
        }
    }

    @Test
    void everyByteArrivesWhileRingsGrow() throws Exception {
        if (LONG) {
            enumerate(LARGE, 6, 50_539, 14_423, COMPLETE, ASLEEP);
        } else {
            enumerate(LARGE, 4, 5_937, 1_976, COMPLETE, ASLEEP);
        }
    }

    /** Wherever a session fails, and whatever both ends do next. */
    @Test
    void failedSessionDeliversNoWrongByte() throws Exception {
        Enumeration all = LONG
                ? enumerate(SMALL, 3, 7_261, 3_071, BEGINNINGS)
                : enumerate(SMALL, 2, 1_145, 564, BEGINNINGS);
        List<byte[]> states = all.states();
        for (int from = 0; from < states.size(); from += AT_A_TIME) {
            for (Step next : NEXT) {
                failAll(all, states.subList(from, Math.min(from + AT_A_TIME, states.size())), next);
            }
        }
    }

    /** They are connections of one session, which fails for all of them. */
    private static void failAll(Enumeration all, List<byte[]> schedules, Step next) throws Exception {
        List<SwitchModel> models = new ArrayList<>();
        try (SessionPair failing = SessionPair.ofOne()) {
            for (byte[] schedule : schedules) {
                models.add(all.replay(failing, schedule));
            }
            failing.a.fail();
            for (int i = 0; i < models.size(); i++) {
                SwitchModel model = models.get(i);
                try {
                    model.sessionFailed();
                    all.step(model, next, model.a);
                    all.step(model, next, model.b);
                } catch (AssertionError | Exception e) {
                    throw new AssertionError(Enumeration.text(schedules.get(i)) + ", then " + next, e);
                }
            }
            failing.b.fail();
            for (int i = 0; i < models.size(); i++) {
                try {
                    models.get(i).settle();
                    models.get(i).end();
                } catch (AssertionError | Exception e) {
                    throw new AssertionError(Enumeration.text(schedules.get(i)) + ", then " + next + " on both", e);
                }
            }
        }
    }
}
