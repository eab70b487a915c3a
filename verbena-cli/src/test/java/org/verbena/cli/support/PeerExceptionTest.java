// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.WcStatus;

class PeerExceptionTest {
    @Test
    void aFlushedRequestTellsOfTheOneThatHasFailed() {
        assertThat(PeerException.text("the receive", WcStatus.WR_FLUSH_ERR, "REM_INV_REQ_ERR for wrId 2")).isEqualTo(
                "the receive ended, since the queue pair failed with REM_INV_REQ_ERR: the two ends differ; give both the same size and the same MTU");
        assertThat(PeerException.text("the send", WcStatus.REM_INV_REQ_ERR, "")).startsWith(
                "the send failed with REM_INV_REQ_ERR: the two ends differ");
        assertThat(PeerException.text("the send", WcStatus.WR_FLUSH_ERR, "")).isEqualTo(
                "the send failed with WR_FLUSH_ERR: the peer ended or gave up; see what the peer says");
        assertThat(PeerException.text("the send", WcStatus.WR_FLUSH_ERR, "the peer is gone")).isEqualTo(
                "the send failed with WR_FLUSH_ERR: the peer is gone; see what the peer says");
    }
}
