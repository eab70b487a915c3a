// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What has been told of, and when it is to be. */
class TakenTest {
    private static final int MOST = 4;

    private final Taken taken = new Taken(MOST);

    private static boolean takes(Taken taken, int count) {
        boolean told = false;
        for (int i = 0; i < count; i++) {
            told |= taken.take();
        }
        return told;
    }

    private boolean takes(int count) {
        return takes(taken, count);
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
        assertThat(taken.count()).isOne();
        taken.toldByNotice(1, taken.count(), 0);
        taken.toldByNotice(2, taken.count(), 0);
        assertThat(takes(1)).isTrue();
    }

    @Test
    void aNoticeThatIsTakenHasTold() {
        assertThat(takes(1)).isFalse();
        assertThat(taken.count()).isOne();
        taken.toldByNotice(1, taken.count(), 0);
        taken.toldByNotice(2, taken.count(), 1); // the first one has been taken
        assertThat(takes(1)).isFalse();
        assertThat(takes(1)).isTrue();
    }

    @Test
    void whatANoticeHasToldLongAgoIsNotSetBack() {
        assertThat(takes(1)).isFalse();
        taken.toldByNotice(1, taken.count(), 0);
        takes(10);
        assertThat(taken.tellByControl()).isEqualTo(11);
        taken.toldByNotice(2, taken.count(), 1); // the first notice has been taken, which told of one
        assertThat(takes(1)).as("told of 11, has taken 12").isFalse();
        assertThat(takes(1)).isTrue();
    }

    @Test
    void aNoticeIsDueWhenASixteenthWasTakenOrSent() {
        Taken usual = new Taken(256);
        assertThat(usual.isDue(1000)).as("nothing was taken").isFalse();
        takes(usual, 15);
        assertThat(usual.isDue(15)).isFalse();
        assertThat(usual.isDue(16)).isTrue();
        takes(usual, 1);
        assertThat(usual.isDue(1)).isTrue();
        usual.toldByNotice(1, usual.count(), 0);
        assertThat(usual.isDue(2)).as("the peer has not taken it, and was told all the same").isFalse();
        takes(usual, 1);
        assertThat(usual.isDue(16)).isFalse();
        assertThat(usual.isDue(17)).isTrue();
    }

    /** Two ends that answer each other's copies, from numbers on beyond which an int begins again. */
    @Test
    void countsOnBeyondAnInt() {
        for (long before : new long[] {0, (1L << 31) - 500, (1L << 32) - 500, (1L << 33) - 500}) {
            Taken own = new Taken(256, before);
            Credit credit = new Credit(256, new Bell(), before);
            for (long n = before + 1; n < before + 1000; n++) {
                assertThat(credit.hasRoom(1)).as("%d", n).isTrue();
                if (own.isDue(n)) {
                    own.toldByNotice(n, own.count(), credit.taken());
                }
                credit.use();
                assertThat(own.take()).as("control has to tell %d", n).isFalse();
                assertThat(credit.byNotice((int) own.count())).isTrue();
                assertThat(credit.taken()).isEqualTo(n);
            }
            assertThat(credit.byNotice((int) own.count() + 257)).as("more than was sent").isFalse();
        }
    }

    /** One way, control tells alone; and the room is all there is. */
    @Test
    void controlAloneCountsOnBeyondAnInt() {
        for (long before : new long[] {0, (1L << 31) - 500, (1L << 32) - 500}) {
            Taken other = new Taken(256, before);
            Credit credit = new Credit(256, new Bell(), before);
            for (int i = 0; i < 1000; i++) {
                assertThat(credit.hasRoom(1)).isTrue();
                credit.use();
                if (other.take()) {
                    assertThat(credit.byControl(other.tellByControl())).isTrue();
                }
            }
            assertThat(credit.taken()).isGreaterThan(before + 1000 - 128);
        }
    }
}
