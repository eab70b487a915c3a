// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.shm.GarbageNumbers;
import org.verbena.testkit.Seeds;

class ControlMessageTest {
    private static MemorySegment message(byte[] bytes) {
        MemorySegment m = Arena.ofAuto().allocate(Math.max(1, bytes.length), 8).asSlice(0, bytes.length);
        MemorySegment.copy(bytes, 0, m, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return m;
    }

    /** Reads fields of random kinds until the end. */
    private static void read(byte[] bytes, Random random) {
        try {
            ControlMessage.Reader r = new ControlMessage.Reader(message(bytes));
            int fields = random.nextInt(8);
            for (int i = 0; i < fields; i++) {
                switch (random.nextInt(4)) {
                    case 0 -> r.getInt();
                    case 1 -> r.getLong();
                    case 2 -> assertThat(r.getBytes(56)).hasSizeLessThanOrEqualTo(56);
                    default -> assertThat(r.getText()).hasSizeLessThanOrEqualTo(ControlMessage.MAX_TEXT);
                }
            }
            r.end();
        } catch (ProtocolException refused) {
            assertThat(refused).hasMessageContaining("control message");
        }
    }

    @Test
    void randomBytesAreReadOrRefused() {
        Seeds.each(20_000, random -> {
            byte[] bytes = new byte[random.nextInt(random.nextBoolean() ? 24 : ControlMessage.MAX_BYTES)];
            random.nextBytes(bytes);
            read(bytes, random);
        });
    }

    @Test
    void changedMessageIsReadOrRefused() {
        Seeds.each(20_000, random -> {
            MemorySegment whole = new ControlMessage.Writer(random.nextInt(24)).putInt(random.nextInt()).putLong(
                    random.nextLong()).putBytes(new byte[random.nextInt(57)]).putText("x".repeat(random.nextInt(500)))
                    .segment();
            byte[] bytes = whole.toArray(ValueLayout.JAVA_BYTE);
            for (int i = 0; i < 1 + random.nextInt(4); i++) {
                bytes[random.nextInt(bytes.length)] = (byte) GarbageNumbers.next(random);
            }
            read(random.nextBoolean() ? bytes : java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)),
                    random);
        });
    }

    @Test
    void readerReturnsWhatWasWritten() throws Exception {
        MemorySegment m = new ControlMessage.Writer(ControlMessage.CM_REJECT).putLong(Long.MIN_VALUE).putInt(-7)
                .putBytes(new byte[] {1, 2, 3}).putText("Grüße, \u20ac").segment();
        ControlMessage.Reader r = new ControlMessage.Reader(m);
        assertThat(r.type()).isEqualTo(ControlMessage.CM_REJECT);
        assertThat(r.getLong()).isEqualTo(Long.MIN_VALUE);
        assertThat(r.getInt()).isEqualTo(-7);
        assertThat(r.getBytes(3)).containsExactly(1, 2, 3);
        assertThat(r.getText()).isEqualTo("Grüße, \u20ac");
        r.end();
    }

    @Test
    void textOfAnyLengthFitsIntoTheLargestMessage() throws Exception {
        for (int n : new int[] {399, 400, 401, 10_000}) {
            MemorySegment m = new ControlMessage.Writer(ControlMessage.CM_REJECT).putLong(1).putInt(1).putInt(2)
                    .putBytes(new byte[56]).putText("\u20ac".repeat(n)).segment();
            ControlMessage.Reader r = new ControlMessage.Reader(m);
            r.getLong();
            r.getInt();
            r.getInt();
            r.getBytes(56);
            assertThat(r.getText()).startsWith("\u20ac\u20ac").hasSizeLessThanOrEqualTo(ControlMessage.MAX_TEXT);
            r.end();
        }
    }

    @Test
    void lengthTooLongTooShortOrNegativeIsRefused() throws Exception {
        MemorySegment m = new ControlMessage.Writer(3).putInt(5).segment();
        ControlMessage.Reader longer = new ControlMessage.Reader(m);
        assertThatThrownBy(longer::end).isInstanceOf(ProtocolException.class).hasMessageContaining("too long");
        ControlMessage.Reader shorter = new ControlMessage.Reader(m);
        assertThatThrownBy(shorter::getLong).isInstanceOf(ProtocolException.class).hasMessageContaining("cut short");
        for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 5, 57}) {
            ControlMessage.Reader r = new ControlMessage.Reader(new ControlMessage.Writer(3).putInt(length).putInt(0)
                    .segment());
            assertThatThrownBy(() -> r.getBytes(56)).isInstanceOf(ProtocolException.class);
        }
        assertThatThrownBy(() -> new ControlMessage.Reader(message(new byte[3]))).isInstanceOf(ProtocolException.class);
    }
}
