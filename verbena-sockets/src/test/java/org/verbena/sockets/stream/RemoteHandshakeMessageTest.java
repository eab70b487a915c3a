// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.verbena.verbs.ConnectionParameters;

/** Messages between processes on two hosts, and what a third party may send instead. */
class RemoteHandshakeMessageTest {
    private static final int ROUNDS = 20_000;

    private static RemoteHandshakeMessage.SessionHello hello(Random random) {
        return new RemoteHandshakeMessage.SessionHello(random.nextInt(256), random.nextInt(1 << 16), random.nextInt(
                1 << 16),
                random.nextInt(1 << 16), random.nextInt(), random.nextInt(), random.nextInt(), random.nextLong(),
                random.nextLong(), random.nextLong(), random.nextLong());
    }

    private static RemoteHandshakeMessage.ControlMessage message(Random random) {
        int type = 1 + random.nextInt(3);
        @Nullable Offer offer = type == RemoteHandshakeMessage.DECLINE
                ? null
                : new Offer(random.nextInt(1 << 14), random.nextInt(), random.nextLong() & -8, random.nextInt(), random
                        .nextLong(), 1024 << random.nextInt(16), random.nextLong(), random.nextInt());
        return new RemoteHandshakeMessage.ControlMessage(type, random.nextInt(1 << 16), random.nextInt(1 << 16), random
                .nextInt(
                        1 << 16), random.nextLong(), offer);
    }

    @Test
    void messagesRoundTrip() {
        Random random = new Random(1);
        for (int i = 0; i < ROUNDS; i++) {
            RemoteHandshakeMessage.SessionHello hello = hello(random);
            assertThat(RemoteHandshakeMessage.sessionHello(RemoteHandshakeMessage.bytes(hello))).isEqualTo(hello);
            assertThat(RemoteHandshakeMessage.sessionHello(Arrays.copyOf(RemoteHandshakeMessage.bytes(hello), 196))).as(
                    "as it comes through a kernel").isEqualTo(hello);
            RemoteHandshakeMessage.ControlMessage message = message(random);
            assertThat(RemoteHandshakeMessage.controlMessage(RemoteHandshakeMessage.bytes(message))).isEqualTo(message);
        }
        for (int why = 1; why < 256; why++) {
            assertThat(RemoteHandshakeMessage.why(RemoteHandshakeMessage.refusal(why))).isEqualTo(why);
            assertThat(RemoteHandshakeMessage.why(Arrays.copyOf(RemoteHandshakeMessage.refusal(why), 148))).isEqualTo(
                    why);
        }
    }

    /** As docs/stream.md has it: another version has to find the fields where they are. */
    @Test
    void layoutMatchesTheDocument() {
        byte[] bytes = RemoteHandshakeMessage.bytes(new RemoteHandshakeMessage.SessionHello(1, 0x0203, 0x0405, 0x0607,
                0x2021_2223,
                0x2425_2627, 0x0809_0a0b, 0x0c0d_0e0f_1011_1213L, 0x1415_1617_1819_1a1bL, 0x3031_3233_3435_3637L,
                0x3839_3a3b_3c3d_3e3fL));
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("56425352" + "01" + "00" + "0203" + "0405" + "0607"
                + "08090a0b" + "0c0d0e0f10111213" + "1415161718191a1b" + "303132333435363738393a3b3c3d3e3f"
                + "20212223" + "24252627");
        assertThat(bytes).hasSizeLessThanOrEqualTo(ConnectionParameters.MAX_PRIVATE_DATA);
        assertThat(HexFormat.of().formatHex(RemoteHandshakeMessage.refusal(RemoteHandshakeMessage.UNKNOWN))).isEqualTo(
                "5642535201010000");
        byte[] message = RemoteHandshakeMessage.bytes(new RemoteHandshakeMessage.ControlMessage(
                RemoteHandshakeMessage.OFFER, 0, 0x0405, 0x0607, 0x1415,
                new Offer(7, 1, 2, 3, 4, 4096, 5, 6)));
        assertThat(HexFormat.of().formatHex(message, 0, 32)).isEqualTo("56425352" + "01" + "01" + "0000" + "0405"
                + "0607" + "00000000" + "0000000000001415" + "0000000000000000");
        assertThat(new String(message, 32, 8, java.nio.charset.StandardCharsets.US_ASCII)).isEqualTo("VBSTREAM");
    }

    @Test
    void randomBytesAreRefused() {
        Random random = new Random(2);
        for (int i = 0; i < ROUNDS; i++) {
            byte[] bytes = new byte[random.nextInt(120)];
            random.nextBytes(bytes);
            assertThat(RemoteHandshakeMessage.sessionHello(bytes)).isNull();
            assertThat(RemoteHandshakeMessage.controlMessage(bytes)).isNull();
            assertThat(RemoteHandshakeMessage.why(bytes)).isZero();
            byte[] hello = RemoteHandshakeMessage.bytes(hello(random));
            int length = random.nextInt(80);
            assertThat(RemoteHandshakeMessage.sessionHello(Arrays.copyOf(hello, length)) != null).isEqualTo(
                    length >= RemoteHandshakeMessage.PRIVATE_BYTES);
        }
    }

    /** Each message that is accepted has possible values. */
    @Test
    void randomFieldsAreParsedSanelyOrRefused() {
        Random random = new Random(3);
        int understood = 0;
        for (int i = 0; i < ROUNDS; i++) {
            byte[] bytes = RemoteHandshakeMessage.bytes(message(random));
            for (int k = random.nextInt(4); k > 0; k--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            RemoteHandshakeMessage.ControlMessage message = RemoteHandshakeMessage.controlMessage(bytes);
            if (message != null) {
                understood++;
                Offer offer = message.offer();
                assertThat(message.type()).isBetween(RemoteHandshakeMessage.OFFER, RemoteHandshakeMessage.DECLINE);
                assertThat(offer == null).isEqualTo(message.type() == RemoteHandshakeMessage.DECLINE);
                assertThat(offer == null || offer.isSane()).isTrue();
            }
        }
        assertThat(understood).isBetween(ROUNDS / 10, ROUNDS - ROUNDS / 10);
    }

    @Test
    void ipv4AddressHashesToItself() {
        assertThat(ConnectionName.fold(InetAddress.ofLiteral("10.1.2.3"))).isEqualTo(0x0a01_0203);
        assertThat(ConnectionName.fold(InetAddress.ofLiteral("2001:db8::1:2"))).isEqualTo(0x2001_0db8 ^ 0x0001_0002);
    }
}
