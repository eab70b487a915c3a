// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which credits have been returned, and when they are due. */
class CreditReturnTest {
    private static final int CREDITS = 4;

    private final CreditReturn creditReturn = new CreditReturn(CREDITS);

    private static boolean consume(CreditReturn taken, int count) {
        boolean returned = false;
        for (int i = 0; i < count; i++) {
            returned |= taken.consume();
        }
        return returned;
    }

    private boolean consume(int count) {
        return consume(creditReturn, count);
    }

    @Test
    void controlReturnsHalf() {
        assertThat(consume(1)).isFalse();
        assertThat(consume(1)).isTrue();
        assertThat(consume(1)).isFalse();
        assertThat(consume(1)).isTrue();
    }

    @Test
    void unconsumedCompletionReturnsNothing() {
        assertThat(consume(1)).isFalse();
        assertThat(creditReturn.consumed()).isOne();
        creditReturn.returnedInBand(1, creditReturn.consumed(), 0);
        creditReturn.returnedInBand(2, creditReturn.consumed(), 0);
        assertThat(consume(1)).isTrue();
    }

    @Test
    void consumedCompletionReturnsCredits() {
        assertThat(consume(1)).isFalse();
        assertThat(creditReturn.consumed()).isOne();
        creditReturn.returnedInBand(1, creditReturn.consumed(), 0);
        creditReturn.returnedInBand(2, creditReturn.consumed(), 1); // the first one has been consumed
        assertThat(consume(1)).isFalse();
        assertThat(consume(1)).isTrue();
    }

    @Test
    void staleConfirmationDoesNotLowerReturned() {
        assertThat(consume(1)).isFalse();
        creditReturn.returnedInBand(1, creditReturn.consumed(), 0);
        consume(10);
        assertThat(creditReturn.returnByControl()).isEqualTo(11);
        creditReturn.returnedInBand(2, creditReturn.consumed(), 1); // the first completion has been consumed, which returned one
        assertThat(consume(1)).as("returned 11, consumed 12").isFalse();
        assertThat(consume(1)).isTrue();
    }

    @Test
    void completionIsDueAfterASixteenth() {
        CreditReturn usual = new CreditReturn(256);
        assertThat(usual.isDue(1000)).as("nothing was consumed").isFalse();
        consume(usual, 15);
        assertThat(usual.isDue(15)).isFalse();
        assertThat(usual.isDue(16)).isTrue();
        consume(usual, 1);
        assertThat(usual.isDue(1)).isTrue();
        usual.returnedInBand(1, usual.consumed(), 0);
        assertThat(usual.isDue(2)).as("the peer has not consumed it, but it was sent").isFalse();
        consume(usual, 1);
        assertThat(usual.isDue(16)).isFalse();
        assertThat(usual.isDue(17)).isTrue();
    }

    /** Two ends that answer each other's copies, with counters that wrap an int on the way. */
    @Test
    void counterWrapsOnTheWire() {
        for (long before : new long[] {0, (1L << 31) - 500, (1L << 32) - 500, (1L << 33) - 500}) {
            CreditReturn own = new CreditReturn(256, before);
            Credit credit = new Credit(256, new Wakeup(), before);
            for (long n = before + 1; n < before + 1000; n++) {
                assertThat(credit.hasRoom(1)).as("%d", n).isTrue();
                if (own.isDue(n)) {
                    own.returnedInBand(n, own.consumed(), credit.consumed());
                }
                credit.use();
                assertThat(own.consume()).as("control has to return %d", n).isFalse();
                assertThat(credit.returnedByCompletion((int) own.consumed())).isTrue();
                assertThat(credit.consumed()).isEqualTo(n);
            }
            assertThat(credit.returnedByCompletion((int) own.consumed() + 257)).as("more than was sent").isFalse();
        }
    }

    /** One way, only control returns credits; and all credits are used. */
    @Test
    void counterWrapsByControlAlone() {
        for (long before : new long[] {0, (1L << 31) - 500, (1L << 32) - 500}) {
            CreditReturn other = new CreditReturn(256, before);
            Credit credit = new Credit(256, new Wakeup(), before);
            for (int i = 0; i < 1000; i++) {
                assertThat(credit.hasRoom(1)).isTrue();
                credit.use();
                if (other.consume()) {
                    assertThat(credit.returnedByControl(other.returnByControl())).isTrue();
                }
            }
            assertThat(credit.consumed()).isGreaterThan(before + 1000 - 128);
        }
    }
}
