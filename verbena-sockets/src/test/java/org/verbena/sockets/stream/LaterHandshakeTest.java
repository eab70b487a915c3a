// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;

/** An end that has found nobody tries again when TCP has carried enough; all of these at the same time, for each waits for nobody. */
@Execution(ExecutionMode.CONCURRENT)
class LaterHandshakeTest extends EarningEnds {
    /** The end that was too early tries again. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Execution(ExecutionMode.CONCURRENT)
    void endsThatBeginApartMeetWhenTheBytesAreEnough(boolean clientIsEarly) throws Exception {
        Ends ends = earning();
        RingStream early = clientIsEarly ? ends.client() : ends.server();
        early.beginHandshake();
        assertThat(early.reason()).isEqualTo(FallbackReason.NONE);
        Await.until("nobody has come", () -> early.reason() == FallbackReason.PLAIN_PEER);
        assertThat(early.fallbackReason()).isNotEmpty();
        assertThat(early.staysWithTcp()).isFalse();
        roundTrips(ends, 1);
        while (!ends.areByRing()) {
            pass(ends.client(), ends.server(), 4096);
        }
        Await.until("no reason", () -> early.reason() == FallbackReason.NONE);
        pass(ends.server(), ends.client(), 100_000);
        close(ends);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void plainPeerStaysOneIfItsConnectionEndsInALaterAttempt() throws Exception {
        Tcp tcp = connect();
        RingStream client = (RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT, null, false);
        Stream server = new KernelStream(tcp.server(), Stream.Role.SERVER, FallbackReason.RULE);
        client.beginHandshake();
        Await.until("nobody has come", () -> client.reason() == FallbackReason.PLAIN_PEER);
        while (client.handshake() == null) { // until the messages are enough, from the end of the first attempt on
            pass(client, server, MESSAGE);
            pass(server, client, MESSAGE);
        }
        client.close(false);
        Await.until("its end", client::staysWithTcp);
        assertThat(client.reason()).isEqualTo(FallbackReason.PLAIN_PEER);
        server.close(false);
    }
}
