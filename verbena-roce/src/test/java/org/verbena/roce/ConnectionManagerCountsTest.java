// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.verbena.roce.cm.CmAgent;
import org.verbena.roce.cm.CmCodec;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.PrivateData;
import org.verbena.roce.cm.RdmaCmHeader;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.SamplePoint;

/** Each message that the connection manager does not accept is counted once, at the sample point for its reason. */
class ConnectionManagerCountsTest extends HandMadePackets {
    private static final int MANAGEMENT = 1;
    private static final int MANAGEMENT_QKEY = 0x8001_0000;
    private static final int SERVICE = 7473;

    private void say(int qkey, byte[] mad) throws Exception {
        int[] words = new int[2 + mad.length / Integer.BYTES];
        words[0] = qkey;
        words[1] = MANAGEMENT;
        ByteBuffer.wrap(mad).asIntBuffer().get(words, 2, words.length - 2);
        send(peer, packet(UD_SEND_ONLY, DEFAULT_PKEY, MANAGEMENT, words), 0);
    }

    private void request(int id) throws Exception {
        PrivateData data = new RdmaCmHeader(7, InetAddress.ofLiteral("127.66.6.8"), InetAddress.ofLiteral("127.0.0.1"))
                .with(new byte[0]);
        say(MANAGEMENT_QKEY, CmCodec.encode(new CmMessage.Req(id, id, RdmaCmHeader.service(SERVICE), 1, 0, 1, 1, 1,
                17, 17, 15, CmMessage.RC, 0, 1, 7, 7, false, DEFAULT_PKEY, 3, new CmMessage.Route(PEER, context
                        .queryGid(1,
                                0), 0, 0, 0, 64, 14), data)));
    }

    @Test
    void unreadDatagramsAreCounted() throws Exception {
        byte[] message = CmCodec.encode(new CmMessage.Rtu(1, 2, 3, PrivateData.NONE));
        assertCounted(SamplePoint.DEVICE_CM_DROPPED, context, () -> say(MANAGEMENT_QKEY + 1, message));
        assertCounted(SamplePoint.DEVICE_CM_DROPPED, context, () -> say(MANAGEMENT_QKEY, new byte[4]));
        assertCounted(SamplePoint.DEVICE_CM_DROPPED, context, () -> say(MANAGEMENT_QKEY, new byte[CmCodec.BYTES + 4]));
    }

    @Test
    void malformedMessagesAreCounted() throws Exception {
        assertCounted(SamplePoint.DEVICE_CM_MALFORMED, context, () -> say(MANAGEMENT_QKEY, new byte[CmCodec.BYTES]));
    }

    @Test
    void messagesWithoutConnectionAreCounted() throws Exception {
        assertCounted(SamplePoint.DEVICE_CM_UNEXPECTED, context, () -> say(MANAGEMENT_QKEY, CmCodec.encode(
                new CmMessage.Rtu(1, 2, 3, PrivateData.NONE))));
    }

    @Test
    void requestBeyondLimitIsCounted() throws Exception {
        try (ConnectionListener listener = context.connectionManager().listen(new InetSocketAddress(InetAddress
                .ofLiteral("0.0.0.0"), SERVICE))) {
            for (int id = 1; id <= CmAgent.MAX_OFFERED_OF_PEER; id++) {
                request(id);
                // arrived, and waits for its reply: no more are in flight than the device accepts at a time
                assertThat(listener.awaitRequest(Duration.ofNanos(PATIENCE_NANOS))).as("request %d", id).isNotNull();
            }
            assertCounted(SamplePoint.DEVICE_CM_REFUSED, context, () -> request(CmAgent.MAX_OFFERED_OF_PEER
                    + 1));
        }
    }
}
