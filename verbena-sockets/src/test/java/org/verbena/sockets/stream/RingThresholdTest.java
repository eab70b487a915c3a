// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a connection has carried enough for rings. */
class RingThresholdTest {
    private static final long BYTES = 1 << 20;

    private final RingThreshold threshold = new RingThreshold(true);

    private void roundTrips(int n) {
        roundTrips(threshold, n);
    }

    private static void roundTrips(RingThreshold of, int n) {
        for (int i = 0; i < n; i++) {
            of.sent();
            of.received();
        }
    }

    @Test
    void bytesOfBothDirectionsReachIt() {
        assertThat(threshold.isReached(BYTES - 1)).isFalse();
        assertThat(threshold.isReached(BYTES)).isTrue();
    }

    @Test
    void messagesThatAreAnsweredReachIt() {
        roundTrips(127);
        assertThat(threshold.isReached(0)).isFalse();
        roundTrips(1);
        assertThat(threshold.isReached(0)).isTrue();
    }

    /** The peer cannot count them: it may read many at once. */
    @Test
    void messagesOneAfterTheOtherCountAsOne() {
        for (int i = 0; i < 1000; i++) {
            threshold.received();
        }
        assertThat(threshold.isReached(0)).isFalse();
    }

    @Test
    void oneHandshakeBegins() {
        assertThat(threshold.begin()).isTrue();
        assertThat(threshold.begin()).isFalse();
        assertThat(threshold.end()).as("it has begun").isFalse();
    }

    @Test
    void nextHandshakeAfterMessagesIsByBytes() {
        roundTrips(128);
        assertThat(threshold.begin()).isTrue();
        assertThat(threshold.continueAfter(1000)).isTrue();
        assertThat(threshold.isReached(1000)).as("by messages").isFalse();
        assertThat(threshold.isReached(BYTES)).isTrue();
        assertThat(threshold.begin()).isTrue();
        assertThat(threshold.continueAfter(BYTES)).as("the peer has seen as many bytes").isFalse();
        assertThat(threshold.begin()).isFalse();
    }

    /** An end that begins at once may have a peer that first counts. */
    @Test
    void nextHandshakeAfterOneAtOnceIsByMessages() {
        RingThreshold atOnce = new RingThreshold(false);
        assertThat(atOnce.isWaiting()).isFalse();
        assertThat(atOnce.begin()).isTrue();
        assertThat(atOnce.isWaiting()).isFalse();
        assertThat(atOnce.continueAfter(10)).isTrue();
        assertThat(atOnce.isWaiting()).isTrue();
        assertThat(atOnce.isReached(10)).isFalse();
        roundTrips(atOnce, 128);
        assertThat(atOnce.isReached(10)).isTrue();
    }

    @Test
    void noHandshakeBeginsAfterTheEnd() {
        assertThat(threshold.end()).isTrue();
        assertThat(threshold.begin()).isFalse();
    }
}
