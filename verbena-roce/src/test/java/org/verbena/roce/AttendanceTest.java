// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a context's own thread stays away. */
class AttendanceTest {
    private final Attendance attendance = new Attendance();

    private void poll(int times) {
        for (int i = 0; i < times; i++) {
            attendance.polled();
        }
    }

    @Test
    void anApplicationThatPollsOftenNeedsNoHelp() {
        assertThat(attendance.look(false)).isFalse();
        poll(Attendance.OFTEN);
        assertThat(attendance.isAttended()).as("nobody has looked yet").isFalse();
        assertThat(attendance.look(false)).isTrue();
        assertThat(attendance.isAttended()).isTrue();
    }

    @Test
    void oneThatPollsNowAndThenNeedsSome() {
        poll(Attendance.OFTEN - 1);
        assertThat(attendance.look(false)).isFalse();
        poll(Attendance.OFTEN - 1);
        assertThat(attendance.look(false)).as("each time is judged by itself").isFalse();
    }

    @Test
    void whoIsMetAtItsPacketsNeedsNone() {
        poll(1);
        assertThat(attendance.look(true)).isTrue();
        poll(1);
        assertThat(attendance.look(false)).isFalse();
    }

    @Test
    void whoHasTheLockWithoutPollingIsSomebodyElse() {
        assertThat(attendance.look(true)).isFalse();
    }

    @Test
    void whoStopsNeedsHelpAtOnce() {
        poll(1000);
        assertThat(attendance.look(false)).isTrue();
        assertThat(attendance.look(false)).isFalse();
        assertThat(attendance.isAttended()).isFalse();
    }
}
