// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.erm.ErmModel.Step;
import org.verbena.testkit.Thorough;

/**
 * Two ends that copy with events under all short schedules, as {@link ErmModelTest} under some long ones, with room for
 * one event, or two, or three. A schedule is run from its beginning each time; one that reaches a state that another
 * has reached in no more steps is not continued. Each state is then left to settle: a sleeper must have been woken if
 * there is something to poll, and when both ends have polled everything there must be credits again.
 */
class ErmEnumerationTest {
    private static final Set<Step> BOTH_WAYS = EnumSet.of(Step.WRITE, Step.TAKE, Step.CARRY_DATA, Step.CARRY_CONTROL,
            Step.PROGRESS);
    private static final Set<Step> WAITING = EnumSet.of(Step.WRITE, Step.TAKE, Step.CARRY_DATA, Step.PROGRESS,
            Step.SLEEP_FOR_EVENTS, Step.SLEEP_FOR_COMPLETIONS);
    private static final Set<Step> ASYNCHRONOUS = EnumSet.of(Step.ASYNC, Step.TAKE, Step.CARRY_CONTROL, Step.PROGRESS,
            Step.SLEEP_FOR_EVENTS);

    private static final List<Step> STEPS = List.of(Step.values());

    /** A step's number is that of its kind, plus this offset for the second end. */
    private static final int SECOND_END = 32;

    private final Set<Long> seen = new HashSet<>();
    private final List<byte[]> states = new ArrayList<>();
    private final List<Long> possible = new ArrayList<>();
    private int schedules;
    private long refusals;

    /**
     * All schedules of a length; with {@code -Dthorough} they are two steps longer.
     *
     * @param least lower bound: the schedules that were run when this was written
     * @param leastWhenLonger the same of those that are longer
     */
    private void enumerate(CreditLimit leeway, Set<Step> steps, int length, int least, int leastWhenLonger,
            String beginning) {
        visit(leeway, steps, schedule(beginning));
        int from = 0;
        for (int i = 0; i < (Thorough.ON ? length + 2 : length); i++) {
            int to = states.size();
            for (; from < to; from++) {
                byte[] before = states.get(from);
                for (int step = 0; step < 2 * SECOND_END; step++) {
                    if ((possible.get(from) & 1L << step) != 0) {
                        byte[] schedule = Arrays.copyOf(before, before.length + 1);
                        schedule[before.length] = (byte) step;
                        visit(leeway, steps, schedule);
                    }
                }
            }
        }
        System.out.println("ErmEnumerationTest: " + leeway + ", " + schedules + " schedules, " + states.size()
                + " states, " + refusals + " copies refused");
        assertThat(schedules).isGreaterThanOrEqualTo(Thorough.ON ? leastWhenLonger : least);
    }

    private void visit(CreditLimit leeway, Set<Step> steps, byte[] schedule) {
        schedules++;
        try {
            ErmModel model = new ErmModel(leeway, among -> 0, null);
            for (byte step : schedule) {
                model.step(STEPS.get(step % SECOND_END), step < SECOND_END ? model.a : model.b);
            }
            if (seen.add(ErmState.of(model))) {
                states.add(schedule);
                possible.add(possible(model, steps));
                refusals += model.a.refusals + model.b.refusals;
                model.settle();
            }
            model.end();
        } catch (AssertionError | Exception e) {
            throw new AssertionError(leeway + ": " + text(schedule), e);
        }
    }

    private static long possible(ErmModel model, Set<Step> steps) {
        long all = 0;
        for (Step step : steps) {
            all |= model.isPossible(step, model.a) ? 1L << STEPS.indexOf(step) : 0;
            all |= model.isPossible(step, model.b) ? 1L << STEPS.indexOf(step) + SECOND_END : 0;
        }
        return all;
    }

    private static byte[] schedule(String text) {
        String[] steps = text.isEmpty() ? new String[0] : text.split(" ", -1);
        byte[] schedule = new byte[steps.length];
        for (int i = 0; i < steps.length; i++) {
            int kind = STEPS.indexOf(Step.valueOf(steps[i].substring(2)));
            schedule[i] = (byte) (steps[i].startsWith("a.") ? kind : kind + SECOND_END);
        }
        return schedule;
    }

    private static String text(byte[] schedule) {
        StringBuilder text = new StringBuilder();
        for (byte step : schedule) {
            text.append(text.isEmpty() ? "" : " ").append(step < SECOND_END ? "a." : "b.").append(STEPS.get(step
                    % SECOND_END));
        }
        return text.toString();
    }

    @Test
    void oneCreditSchedules() {
        enumerate(new CreditLimit(1, 1), BOTH_WAYS, 10, 1_725, 3_171, "");
    }

    @Test
    void twoCreditSchedules() {
        enumerate(new CreditLimit(2, 1), BOTH_WAYS, 9, 4_997, 9_713, "a.WRITE b.WRITE");
    }

    @Test
    void fourCreditSchedules() {
        enumerate(new CreditLimit(4, 1), BOTH_WAYS, 7, 3_879, 10_513,
                "a.WRITE b.WRITE a.WRITE b.WRITE a.CARRY_DATA a.CARRY_DATA b.TAKE");
    }

    @Test
    void bothEndsWaitingSchedules() {
        enumerate(new CreditLimit(1, 1), WAITING, 4, 1_624, 9_513, "a.WRITE");
    }

    @Test
    void asyncCopySchedules() {
        enumerate(new CreditLimit(1, 1), ASYNCHRONOUS, 5, 1_763, 11_431, "");
    }
}
