// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.cm.CmCodec;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.PrivateData;
import org.verbena.roce.cm.RdmaCmHeader;
import org.verbena.roce.link.Gids;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;

/**
 * A peer connects and its RTU never arrives, as if it was lost each time: its data establish the connection (IBTA
 * volume 1, 12.9.7.2), and so does the end of the connection.
 */
class EstablishedByDataTest extends HandMadePackets {
    private static final int UC_SEND_ONLY = 0x24;
    private static final int CM_QKEY = 0x8001_0000;
    private static final int ID = 0x1234_5678;
    private static final int DETH = 8;
    private static final int BTH = 12;
    /** Longer than the test takes, and than {@link #PATIENCE_NANOS}. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private void say(CmMessage m) throws Exception {
        byte[] mad = CmCodec.encode(m);
        int[] words = new int[2 + mad.length / Integer.BYTES];
        words[0] = CM_QKEY;
        words[1] = 1;
        ByteBuffer.wrap(mad).asIntBuffer().get(words, 2, mad.length / Integer.BYTES);
        send(peer, packet(UD_SEND_ONLY, DEFAULT_PKEY, 1, words), 0);
    }

    private CmMessage.Rep awaitReply() {
        CmMessage[] heard = new CmMessage[1];
        for (long end = System.nanoTime() + PATIENCE_NANOS; heard[0] == null;) {
            assertThat(System.nanoTime() - end).as("no reply").isNegative();
            assertThat(cq.startPoll()).isNotZero(); // which makes progress
            peer.receive(1, p -> heard[0] = CmCodec.decode(Arrays.copyOfRange(RawMemory.segment(p.address, p.length)
                    .toArray(ValueLayout.JAVA_BYTE), BTH + DETH, p.length)));
        }
        assertThat(heard[0]).isInstanceOf(CmMessage.Rep.class);
        return (CmMessage.Rep) heard[0];
    }

    private CmMessage.Req request(Gid to, int port, boolean reliable) {
        return new CmMessage.Req(7, ID, RdmaCmHeader.service(port), 1, 0, PEERS_NUMBER, 1, 1, 17, 17, 15,
                reliable ? CmMessage.RC : CmMessage.UC, 0, 5, 7, 7, false, DEFAULT_PKEY, 3,
                new CmMessage.Route(PEER, to, 0, 0, 0, 64, 14), PrivateData.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RC", "UC", "DREQ"})
    void dataWithoutRtuEstablishesConnection(String by) throws Exception {
        Gid own = context.queryGid(1, 0);
        boolean reliable = !by.equals("UC");
        MemoryRegion memory = pd.allocate(64, 1);
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, context.createCompletionQueue(4)).type(
                reliable ? QueuePairType.RC : QueuePairType.UC).maxReceiveWr(1).build());
        try (ConnectionListener listener = context.connectionManager().listen(new InetSocketAddress(Gids.address(own),
                0))) {
            say(request(own, listener.localAddress().getPort(), reliable));
            CompletableFuture<Connection> accepted = CompletableFuture.supplyAsync(() -> {
                try {
                    return listener.awaitRequest(TIMEOUT).accept(qp, ConnectionParameters.builder().timeout(TIMEOUT)
                            .build());
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            CmMessage.Rep reply = awaitReply();
            assertThat(reply.queuePair()).isEqualTo(qp.number());
            assertThat(qp.receiveQueue().post(1, memory, 0, 64)).isZero();
            assertThat(accepted).isNotDone();
            switch (by) {
                case "RC" -> send(peer, numbered(reply.startingPsn(), RC_SEND_ONLY, DEFAULT_PKEY, qp.number(), 42), 0);
                case "UC" -> send(peer, numbered(reply.startingPsn(), UC_SEND_ONLY, DEFAULT_PKEY, qp.number(), 42), 0);
                default -> say(new CmMessage.Dreq(9, ID, reply.localId(), qp.number(), PrivateData.NONE));
            }
            Connection c = accepted.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            assertThat(c.queuePair()).isSameAs(qp);
        }
    }
}
