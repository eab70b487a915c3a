// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.spi.PeerRendezvous;
import org.verbena.testkit.Await;
import org.verbena.testkit.Descriptors;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/** Peering with an end that stops halfway. */
@Isolated("it counts what others of the process do, too")
class PeeringTest {
    private static final long NUMBER = 77;

    /**
     * Creates the per-process state, and stays open while memory is counted, so that none of it is released meanwhile.
     */
    private static @Nullable Ends first;

    @BeforeAll
    static void openFirst() throws Exception {
        first = Ends.open();
    }

    @AfterAll
    static void closeFirst() throws Exception {
        Objects.requireNonNull(first).close();
    }

    /**
     * One end, driven by hand: the other one asks for remote memory, the handshake of the stream is complete, and each
     * has received the other's token.
     */
    private static PeerRendezvous introduced(SocketChannel byHand, SocketChannel asks) throws InterruptedException {
        PeerRendezvous other = Objects.requireNonNull(PeerRendezvous.of(byHand));
        RemoteMemory.of(asks);
        Await.until("the handshake is complete at the other end", other::isHandshakeComplete);
        other.announce(NUMBER);
        Await.until("the other end has sent and received its nonce", () -> other.isAnnounced() && other
                .peerNonce() != 0);
        return other;
    }

    /** Memory that the provider has allocated for this process; each link has some. */
    private static long memories() {
        return Descriptors.count("/memfd:verbena");
    }

    /**
     * The end that was accepted has made both queue pairs when the request for the first comes; none comes for the
     * second.
     */
    @ParameterizedTest
    @ValueSource(ints = {Handshake.COPIES, Handshake.CONTROL})
    void halfConnectedLinkIsReleased(int which) throws Exception {
        SocketChannel[] pair = Ends.channels();
        try (SocketChannel a = pair[0]; SocketChannel b = pair[1]) {
            PeerRendezvous other = introduced(a, b);
            Context context = Objects.requireNonNull(other.context());
            long before = memories();
            try (CompletionChannel channel = context.createCompletionChannel()) {
                PeerLink half = new PeerLink(context, channel, CreditLimit.DEFAULT);
                long own = memories();
                Handshake asked = Handshake.own(which, other.peerNonce(), NUMBER);
                half.connected(context.connectionManager().connect(which == Handshake.COPIES
                        ? half.data()
                        : half
                                .control(), Objects.requireNonNull(other.listener()), ConnectionParameters.builder()
                                        .privateData(asked.bytes()).build()));
                assertThat(memories()).as("the other end has a link, too").isGreaterThan(own);
                assertThat(RemoteMemory.whyNot(b)).isEqualTo("the ends are about to connect their queue pairs");
                assertThat(RemoteMemory.of(b)).isEmpty();
                b.close();
                half.disconnect();
                Await.until("everything is closed", () -> half.closeAll() == null);
            }
            Await.until("memory is given back", () -> memories() <= before);
            assertThat(RemoteMemory.whyNot(b)).isEqualTo("the channel is closed");
        }
    }

    /** A request without this end's token does not come from the other end of the connection. */
    @Test
    void rejectsRequestWithWrongToken() throws Exception {
        SocketChannel[] pair = Ends.channels();
        try (SocketChannel a = pair[0]; SocketChannel b = pair[1]) {
            PeerRendezvous other = introduced(a, b);
            Context context = Objects.requireNonNull(other.context());
            for (Handshake wrong : new Handshake[] {Handshake.own(0, other.peerNonce() + 1, NUMBER), Handshake.own(0,
                    other
                            .peerNonce(), NUMBER + 1), Handshake.own(0, NUMBER, other.peerNonce()), Handshake.own(0, 0,
                                    0)}) {
                try (CompletionChannel channel = context.createCompletionChannel()) {
                    PeerLink half = new PeerLink(context, channel, CreditLimit.DEFAULT);
                    long before = memories();
                    assertThatThrownBy(() -> context.connectionManager().connect(half.data(), Objects.requireNonNull(
                            other
                                    .listener()), ConnectionParameters.builder().timeout(Duration.ofSeconds(2))
                                            .privateData(wrong
                                                    .bytes()).build())).as("%s", wrong).isInstanceOf(
                                                            VerbsException.class);
                    assertThat(memories()).as("nothing was created for it").isEqualTo(before);
                    Await.until("everything is closed", () -> half.closeAll() == null);
                }
            }
            assertThat(RemoteMemory.of(b)).isEmpty();
        }
    }
}
