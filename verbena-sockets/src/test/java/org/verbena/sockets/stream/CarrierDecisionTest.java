// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A connection counts for the reason why TCP carries it, and for one only. */
@Isolated // counts of the process
class CarrierDecisionTest {
    private static final long BYTES = 1 << 20;

    private SocketChannel tcp;
    private Map<FallbackReason, Long> before;

    @BeforeEach
    void open() throws Exception {
        tcp = SocketChannel.open();
        before = counts();
    }

    @AfterEach
    void close() throws Exception {
        tcp.close();
    }

    private static Map<FallbackReason, Long> counts() {
        Map<FallbackReason, Long> all = new EnumMap<>(FallbackReason.class);
        for (FallbackReason reason : FallbackReason.values()) {
            all.put(reason, StreamCounters.fallbacks(reason));
        }
        return all;
    }

    private void assertCounted(FallbackReason... reasons) {
        Map<FallbackReason, Long> expected = new EnumMap<>(before);
        for (FallbackReason reason : reasons) {
            if (reason != FallbackReason.NONE) {
                expected.merge(reason, 1L, Long::sum);
            }
        }
        assertThat(counts()).as(Arrays.toString(reasons)).isEqualTo(expected);
    }

    @Test
    void laterHandshakeThatSucceedsTakesTheReasonBack() {
        CarrierDecision decision = new CarrierDecision(tcp, true);
        assertCounted(FallbackReason.NOT_EARNED);
        assertThat(decision.begin()).isTrue();
        assertCounted();
        assertThat(decision.fail(FallbackReason.PLAIN_PEER, true, 1000)).isFalse();
        assertCounted(FallbackReason.PLAIN_PEER);
        assertThat(decision.begin()).isTrue();
        assertCounted(FallbackReason.PLAIN_PEER);
        decision.succeed();
        assertCounted();
        assertThat(decision.isFinallyTcp()).isFalse();
    }

    @Test
    void plainPeerStaysOneIfItClosesInALaterHandshake() {
        CarrierDecision decision = new CarrierDecision(tcp, false);
        assertCounted();
        assertThat(decision.isEarning()).isFalse();
        assertThat(decision.begin()).isTrue();
        assertThat(decision.fail(FallbackReason.PLAIN_PEER, true, 1000)).isFalse();
        assertThat(decision.isEarning()).isTrue();
        assertThat(decision.begin()).isTrue();
        assertThat(decision.fail(FallbackReason.CLOSED_EARLY, true, 2000)).isTrue();
        assertCounted(FallbackReason.PLAIN_PEER);
        assertThat(decision.isFinallyTcp()).isTrue();
    }

    @Test
    void plainPeerIsFinalWhenTheBytesAreEnough() {
        CarrierDecision decision = new CarrierDecision(tcp, true);
        assertThat(decision.sent(BYTES - 1)).isFalse();
        assertThat(decision.received(BYTES)).isTrue();
        assertThat(decision.begin()).isTrue();
        assertThat(decision.isEarning()).isFalse();
        assertThat(decision.fail(FallbackReason.PLAIN_PEER, true, BYTES)).isTrue();
        assertCounted(FallbackReason.PLAIN_PEER);
        assertThat(decision.sentence()).isNotEmpty();
    }

    @Test
    void preventedHandshakeDoesNotBegin() {
        CarrierDecision decision = new CarrierDecision(tcp, true);
        assertThat(decision.prevent()).isTrue();
        assertThat(decision.isEarning()).isFalse();
        assertThat(decision.begin()).isFalse();
        assertThat(decision.fail(FallbackReason.RULE, false, 0)).isTrue();
        assertCounted(FallbackReason.RULE);
    }
}
