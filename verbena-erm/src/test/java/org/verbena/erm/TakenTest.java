package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What has been told of, at the bounds of the numbers. */
class TakenTest {
    private static final int MOST = 4;

    private final Taken taken = new Taken(MOST);

    private boolean takes(int count) {
        boolean told = false;
        for (int i = 0; i < count; i++) {
            told |= taken.take();
        }
        return told;
    }

    @Test
    void controlTellsOfHalf() {
        assertThat(takes(1)).isFalse();
        assertThat(takes(1)).isTrue();
        assertThat(takes(1)).isFalse();
        assertThat(takes(1)).isTrue();
    }

    @Test
    void aNoticeThatIsNotTakenHasToldNothing() {
        assertThat(takes(1)).isFalse();
        assertThat(taken.tellByNotice(1, 0)).isOne();
        assertThat(taken.tellByNotice(2, 0)).isOne();
        assertThat(takes(1)).isTrue();
    }

    @Test
    void aNoticeThatIsTakenHasTold() {
        assertThat(takes(1)).isFalse();
        assertThat(taken.tellByNotice(1, 0)).isOne();
        assertThat(taken.tellByNotice(2, 1)).as("the first one has been taken").isOne();
        assertThat(takes(1)).isFalse();
        assertThat(takes(1)).isTrue();
    }

    /** Else, beyond 2^31 events one way, a single notice the other way had control tell no more for as many. */
    @Test
    void whatANoticeHasToldLongAgoIsNotSetBack() {
        assertThat(takes(1)).isFalse();
        taken.tellByNotice(1, 0);
        takes(10);
        assertThat(taken.tellByControl()).isEqualTo(11);
        taken.tellByNotice(2, 1); // the first notice has been taken, which told of one
        assertThat(takes(1)).as("told of 11, has taken 12").isFalse();
        assertThat(takes(1)).isTrue();
    }
}
