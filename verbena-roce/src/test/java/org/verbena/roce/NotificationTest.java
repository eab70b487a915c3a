// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a completion queue's channel is notified, in virtual time. */
class NotificationTest {
    private final Notification n = new Notification();

    @Test
    void eachArmingRaisesOneEvent() {
        assertThat(n.completed(true, 0)).isFalse();
        n.arm(false);
        assertThat(n.completed(false, 0)).isTrue();
        assertThat(n.completed(false, 0)).isFalse();
        assertThat(n.event(false)).isTrue();
        assertThat(n.event(true)).isTrue();
        assertThat(n.event(true)).isFalse();
    }

    @Test
    void solicitedArmingNeverNarrowsAnArming() {
        n.arm(true);
        assertThat(n.completed(false, 0)).isFalse();
        assertThat(n.completed(true, 0)).isTrue();
        n.arm(false);
        n.arm(true);
        assertThat(n.completed(false, 0)).isTrue();
    }

    @Test
    void moderationByCountAndPeriod() {
        n.moderate(3, 100, 0);
        n.arm(false);
        assertThat(n.deadline()).isEqualTo(Long.MAX_VALUE);
        assertThat(n.completed(false, 10)).isFalse();
        assertThat(n.deadline()).isEqualTo(110);
        assertThat(n.expired(109)).isFalse();
        assertThat(n.completed(false, 20)).isFalse();
        assertThat(n.completed(false, 30)).isTrue();
        assertThat(n.deadline()).isEqualTo(Long.MAX_VALUE);
        n.arm(false);
        assertThat(n.completed(false, 200)).isFalse();
        assertThat(n.expired(300)).isTrue();
        assertThat(n.event(true)).isTrue();
    }

    @Test
    void endOfModerationRaisesPendingEvent() {
        n.moderate(1000, 0, 0);
        n.arm(false);
        assertThat(n.completed(false, 0)).isFalse();
        assertThat(n.moderate(0, 0, 0)).isTrue();
        assertThat(n.event(true)).isTrue();
    }
}
