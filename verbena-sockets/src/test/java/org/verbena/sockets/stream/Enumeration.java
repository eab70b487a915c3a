// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.verbena.sockets.stream.SwitchModel.End;

/**
 * All schedules of a {@link SwitchModel} up to a length, from given beginnings. A schedule is a sequence of steps; it is run
 * from its beginning each time, for the product's objects cannot be copied. One whose state another has come to, with no
 * more steps, is not gone on with: what follows is the same. Each state is then left alone, and must come to its end.
 */
final class Enumeration {
    /** What happens at one end. */
    enum Step {
        WRITE, READ, ARRIVE, HANDSHAKE, REFUSE, SLEEP_FOR_DATA, SLEEP_FOR_SPACE, WAKE, ANSWER_CALLS, END_OUTPUT, CLOSE,
        CLOSE_BY_RESET, KILL, KILL_WITH_UNREAD;

        private static final Step[] ALL = values();
    }

    /**
     * What is enumerated.
     *
     * @param window bytes of each direction that TCP takes before they are read
     * @param piece bytes of a write
     * @param room bytes of a read
     * @param part bytes that TCP brings at once
     * @param most bytes that an end writes, before the last piece
     * @param steps that there are
     */
    record Bounds(int window, int piece, int room, int part, int most, Set<Step> steps) {}

    private static final class State {
        final byte[] schedule;
        /** Bits of the steps that may come next. */
        final int possible;

        State(byte[] schedule, int possible) {
            this.schedule = schedule;
            this.possible = possible;
        }
    }

    /** A step's number is that of its kind, and this if it is the second end's. */
    private static final int SECOND_END = 16;

    private final SessionPair sessions;
    private final Bounds bounds;
    private final Set<Long> seen = new HashSet<>();
    private final List<State> states = new ArrayList<>();
    private long schedules;

    Enumeration(SessionPair sessions, Bounds bounds) {
        this.sessions = sessions;
        this.bounds = bounds;
    }

    /** Schedules that were run, of those that were not cut off. */
    long schedules() {
        return schedules;
    }

    /** A shortest schedule for each of the states. */
    List<byte[]> states() {
        return states.stream().map(state -> state.schedule).toList();
    }

    /** @param length steps of a schedule, those of its beginning not counted */
    void run(int length, String... beginnings) throws Exception {
        for (String beginning : beginnings) {
            visit(schedule(beginning));
        }
        int from = 0;
        for (int i = 0; i < length; i++) {
            int to = states.size();
            for (; from < to; from++) {
                State state = states.get(from);
                byte[] before = state.schedule;
                for (int step = 0; step < 2 * SECOND_END; step++) {
                    if ((state.possible & 1 << step) != 0) {
                        byte[] schedule = Arrays.copyOf(before, before.length + 1);
                        schedule[before.length] = (byte) step;
                        visit(schedule);
                    }
                }
            }
        }
    }

    private void visit(byte[] schedule) throws Exception {
        schedules++;
        try {
            SwitchModel model = replay(sessions, schedule);
            model.checkSleepers();
            if (seen.add(ModelState.of(model))) {
                states.add(new State(schedule, possible(model)));
                model.settle();
            }
            model.end();
        } catch (AssertionError | Exception e) {
            throw new AssertionError(text(schedule), e);
        }
    }

    /** A connection that has come through a schedule. */
    SwitchModel replay(SessionPair of, byte[] schedule) throws Exception {
        SwitchModel model = new SwitchModel(of, bounds.window);
        for (byte step : schedule) {
            step(model, step);
        }
        return model;
    }

    private void step(SwitchModel model, int number) throws Exception {
        step(model, Step.ALL[number % SECOND_END], number < SECOND_END ? model.a : model.b);
    }

    void step(SwitchModel model, Step step, End end) throws Exception {
        switch (step) {
            case WRITE -> model.write(end, bounds.piece);
            case READ -> model.read(end, bounds.room);
            case ARRIVE -> end.tcp.arrive(bounds.part);
            case HANDSHAKE -> model.stepHandshake(end, false);
            case REFUSE -> model.stepHandshake(end, true);
            case SLEEP_FOR_DATA -> model.sleep(end, SwitchModel.READ);
            case SLEEP_FOR_SPACE -> model.sleep(end, SwitchModel.WRITE);
            case WAKE -> model.wake(end);
            case ANSWER_CALLS -> model.answerCalls(end);
            case END_OUTPUT -> model.endOutput(end);
            case CLOSE -> model.close(end, false);
            case CLOSE_BY_RESET -> model.close(end, true);
            case KILL -> model.kill(end, false);
            case KILL_WITH_UNREAD -> model.kill(end, true);
        }
        model.wakeNotified();
    }

    private int possible(SwitchModel model) {
        int all = 0;
        for (Step step : bounds.steps) {
            int bit = 1 << Arrays.asList(Step.ALL).indexOf(step);
            all |= isPossible(step, model.a) ? bit : 0;
            all |= isPossible(step, model.b) ? bit << SECOND_END : 0;
        }
        return all;
    }

    private boolean isPossible(Step step, End end) {
        return switch (step) {
            case WRITE -> !end.isGone() && !end.outputEnded && end.written < bounds.most;
            case READ, SLEEP_FOR_DATA, SLEEP_FOR_SPACE -> !end.isGone() && !end.sawEnd && !end.sawError;
            case ARRIVE -> !end.isGone() && end.tcp.willBeReadable();
            case HANDSHAKE -> !end.killed && !end.complete && !end.fellBack;
            case REFUSE -> !end.killed && !end.fellBack && end.link == null;
            case END_OUTPUT -> !end.isGone() && !end.outputEnded;
            case ANSWER_CALLS -> !end.killed;
            case WAKE, CLOSE, CLOSE_BY_RESET, KILL, KILL_WITH_UNREAD -> !end.isGone();
        };
    }

    /** As {@link #text} writes it. */
    static byte[] schedule(String text) {
        String[] steps = text.isEmpty() ? new String[0] : text.split(" ", -1);
        byte[] schedule = new byte[steps.length];
        for (int i = 0; i < steps.length; i++) {
            int kind = Arrays.asList(Step.ALL).indexOf(Step.valueOf(steps[i].substring(2)));
            schedule[i] = (byte) (steps[i].startsWith("a.") ? kind : kind + SECOND_END);
        }
        return schedule;
    }

    static String text(byte[] schedule) {
        StringBuilder text = new StringBuilder();
        for (byte step : schedule) {
            text.append(text.isEmpty() ? "" : " ").append(step < SECOND_END ? "a." : "b.")
                    .append(Step.ALL[step % SECOND_END]);
        }
        return text.toString();
    }
}
