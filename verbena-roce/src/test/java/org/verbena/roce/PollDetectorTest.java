// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a context's own thread leaves progress to the application. */
class PollDetectorTest {
    private final PollDetector pollDetector = new PollDetector();

    private void poll(int times) {
        for (int i = 0; i < times; i++) {
            pollDetector.polled();
        }
    }

    @Test
    void frequentPollsAreDetected() {
        assertThat(pollDetector.sample(false)).isFalse();
        poll(PollDetector.FREQUENT);
        assertThat(pollDetector.isPolling()).as("not sampled yet").isFalse();
        assertThat(pollDetector.sample(false)).isTrue();
        assertThat(pollDetector.isPolling()).isTrue();
    }

    @Test
    void occasionalPollsAreNotEnough() {
        poll(PollDetector.FREQUENT - 1);
        assertThat(pollDetector.sample(false)).isFalse();
        poll(PollDetector.FREQUENT - 1);
        assertThat(pollDetector.sample(false)).as("each period is evaluated by itself").isFalse();
    }

    @Test
    void busyLockWithFewPollsIsEnough() {
        poll(1);
        assertThat(pollDetector.sample(true)).isTrue();
        poll(1);
        assertThat(pollDetector.sample(false)).isFalse();
    }

    @Test
    void busyLockWithoutPollsIsNotEnough() {
        assertThat(pollDetector.sample(true)).isFalse();
    }

    @Test
    void stoppedPollsAreDetectedAtNextSample() {
        poll(1000);
        assertThat(pollDetector.sample(false)).isTrue();
        assertThat(pollDetector.sample(false)).isFalse();
        assertThat(pollDetector.isPolling()).isFalse();
    }
}
