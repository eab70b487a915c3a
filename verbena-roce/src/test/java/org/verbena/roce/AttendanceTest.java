package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a context's own thread stays away. */
class AttendanceTest {
    private final Attendance attendance = new Attendance();

    private void poll(int times, int packets) {
        for (int i = 0; i < times; i++) {
            attendance.polled(packets);
        }
    }

    @Test
    void anApplicationThatPollsOftenNeedsNoHelp() {
        assertThat(attendance.look()).isFalse();
        poll(Attendance.OFTEN, 0);
        assertThat(attendance.isAttended()).as("nobody has looked yet").isFalse();
        assertThat(attendance.look()).isTrue();
        assertThat(attendance.isAttended()).isTrue();
    }

    @Test
    void oneThatPollsNowAndThenNeedsSome() {
        poll(Attendance.OFTEN - 1, 0);
        assertThat(attendance.look()).isFalse();
        poll(Attendance.OFTEN - 1, 0);
        assertThat(attendance.look()).as("each time is judged by itself").isFalse();
    }

    @Test
    void whoIsBusyWithPacketsPollsTheLess() {
        poll(1, Attendance.OFTEN / Attendance.POLLS_A_PACKET);
        assertThat(attendance.look()).isTrue();
        poll(1, 1);
        assertThat(attendance.look()).isFalse();
    }

    @Test
    void whoStopsNeedsHelpAtOnce() {
        poll(1000, 3);
        assertThat(attendance.look()).isTrue();
        assertThat(attendance.look()).isFalse();
        assertThat(attendance.isAttended()).isFalse();
    }
}
