// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

import org.junit.jupiter.api.Test;

/** What any process of the user may send: it is read without harm, and what is accepted can be meant. */
class HandshakeMessageFuzzTest {
    private static final int ROUNDS = 200_000;

    @Test
    void randomBytesAreRefused() {
        Random random = new Random(1);
        byte[] bytes = new byte[2 * HandshakeMessage.BYTES];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(bytes.length, 8);
            for (int i = 0; i < ROUNDS; i++) {
                random.nextBytes(bytes);
                message.copyFrom(MemorySegment.ofArray(bytes));
                int length = random.nextInt(bytes.length + 1);
                assertThat(HandshakeMessage.type(message, length)).isZero();
                assertThat(HandshakeMessage.hello(message, length)).isNull();
                assertThat(HandshakeMessage.offer(message, length)).isNull();
            }
        }
    }

    @Test
    void randomFieldsAreParsedSanelyOrRefused() {
        Random random = new Random(2);
        int accepted = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
            for (int i = 0; i < ROUNDS; i++) {
                HandshakeMessage.put(message, new Offer(random.nextInt(1000), random.nextInt(), random.nextLong() & -8,
                        random
                                .nextInt(), random.nextLong(), 1 << random.nextInt(32), random.nextLong(), random
                                        .nextInt()));
                for (int flips = random.nextInt(4); flips > 0; flips--) {
                    int at = random.nextInt(HandshakeMessage.BYTES);
                    message.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
                }
                int length = random.nextInt(8) == 0 ? random.nextInt(HandshakeMessage.BYTES) : HandshakeMessage.BYTES;
                Offer offer = HandshakeMessage.offer(message, length);
                if (offer != null) {
                    accepted++;
                    assertThat(length).isEqualTo(HandshakeMessage.BYTES);
                    assertThat(offer.index()).isNotNegative();
                    assertThat(offer.blockAddress() & 7).isZero();
                    assertThat(Integer.bitCount(offer.ringSize())).isOne();
                    assertThat(offer.ringSize()).isBetween(1024, 1 << 30);
                }
            }
        }
        assertThat(accepted).as("offers that could be meant").isBetween(ROUNDS / 10, ROUNDS);
    }

    @Test
    void messagesRoundTrip() {
        Random random = new Random(3);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
            for (int i = 0; i < 1000; i++) {
                HandshakeMessage.Hello hello = new HandshakeMessage.Hello(HandshakeMessage.VERSION, random.nextLong(),
                        random.nextLong(),
                        random.nextLong(), random.nextInt(), random.nextLong());
                HandshakeMessage.put(message, hello);
                assertThat(HandshakeMessage.hello(message, HandshakeMessage.BYTES)).isEqualTo(hello);
                assertThat(HandshakeMessage.offer(message, HandshakeMessage.BYTES)).isNull();
                Offer offer = new Offer(random.nextInt(1 << 14), random.nextInt(), random.nextLong() & -8, random
                        .nextInt(),
                        random.nextLong(), 4096, random.nextLong(), random.nextInt());
                HandshakeMessage.put(message, offer);
                assertThat(HandshakeMessage.offer(message, HandshakeMessage.BYTES)).isEqualTo(offer);
                assertThat(HandshakeMessage.hello(message, HandshakeMessage.BYTES)).isNull();
            }
        }
    }
}
