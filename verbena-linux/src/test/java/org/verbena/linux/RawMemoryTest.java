// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;

class RawMemoryTest {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(4096, 64);
    private final long a = RawMemory.addressOf(memory);

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void longs() {
        RawMemory.putLong(a, 1);
        assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1);
        RawMemory.putLongRelease(a, 2);
        assertThat(RawMemory.getLongAcquire(a)).isEqualTo(2);
        RawMemory.putLongOpaque(a, 3);
        assertThat(RawMemory.getLongOpaque(a)).isEqualTo(3);
        RawMemory.putLongVolatile(a, 4);
        assertThat(RawMemory.getLongVolatile(a)).isEqualTo(4).isEqualTo(RawMemory.getLong(a));
        assertThat(RawMemory.compareAndSetLong(a, 5, 6)).isFalse();
        assertThat(RawMemory.compareAndSetLong(a, 4, 6)).isTrue();
        assertThat(RawMemory.compareAndExchangeLong(a, 4, 7)).isEqualTo(6);
        assertThat(RawMemory.compareAndExchangeLong(a, 6, 7)).isEqualTo(6);
        assertThat(RawMemory.getAndAddLong(a, 3)).isEqualTo(7);
        assertThat(RawMemory.getAndBitwiseXorLong(a, 0xFF)).isEqualTo(10);
        assertThat(RawMemory.getAndBitwiseOrLong(a, 0x100)).isEqualTo(0xF5);
        assertThat(RawMemory.getAndBitwiseAndLong(a, 0x1F0)).isEqualTo(0x1F5);
        assertThat(RawMemory.getAndSetLong(a, 9)).isEqualTo(0x1F0);
        assertThat(RawMemory.getLong(a)).isEqualTo(9);
    }

    @Test
    void ints() {
        RawMemory.putInt(a, 1);
        assertThat(memory.get(ValueLayout.JAVA_INT, 0)).isEqualTo(1);
        RawMemory.putIntRelease(a, 2);
        assertThat(RawMemory.getIntAcquire(a)).isEqualTo(2);
        RawMemory.putIntOpaque(a, 3);
        assertThat(RawMemory.getIntOpaque(a)).isEqualTo(3);
        RawMemory.putIntVolatile(a, 4);
        assertThat(RawMemory.getIntVolatile(a)).isEqualTo(4).isEqualTo(RawMemory.getInt(a));
        assertThat(RawMemory.compareAndSetInt(a, 5, 6)).isFalse();
        assertThat(RawMemory.compareAndSetInt(a, 4, 6)).isTrue();
        assertThat(RawMemory.compareAndExchangeInt(a, 6, 7)).isEqualTo(6);
        assertThat(RawMemory.getAndAddInt(a, 3)).isEqualTo(7);
        assertThat(RawMemory.getAndBitwiseXorInt(a, 1)).isEqualTo(10);
        assertThat(RawMemory.getAndBitwiseOrInt(a, 4)).isEqualTo(11);
        assertThat(RawMemory.getAndBitwiseAndInt(a, 8)).isEqualTo(15);
        assertThat(RawMemory.getAndSetInt(a, 5)).isEqualTo(8);
        assertThat(memory.get(ValueLayout.JAVA_INT, 4)).isZero();
    }

    @Test
    void smallAndUnaligned() {
        RawMemory.putByte(a + 1, (byte) -7);
        assertThat(RawMemory.getByte(a + 1)).isEqualTo((byte) -7);
        RawMemory.putShort(a + 2, (short) -300);
        assertThat(RawMemory.getShort(a + 2)).isEqualTo((short) -300);
        RawMemory.putLongUnaligned(a + 13, 0x0102030405060708L);
        assertThat(RawMemory.getLongUnaligned(a + 13)).isEqualTo(0x0102030405060708L);
        RawMemory.putIntUnaligned(a + 27, 77);
        assertThat(RawMemory.getIntUnaligned(a + 27)).isEqualTo(77);
        RawMemory.putLong(a, 0x1122334455667788L);
        assertThat(RawMemory.getLong(a + 4)).as("the lowest bits of an address are ignored")
                .isEqualTo(0x1122334455667788L);
        RawMemory.putIntRelease(a + 2, 1);
        assertThat(RawMemory.getInt(a)).isEqualTo(1);
        assertThat(RawMemory.getShort(a + 1)).isEqualTo((short) 1);
    }

    @Test
    void ranges() {
        RawMemory.fill(a, 100, (byte) 3);
        RawMemory.copy(a + 50, a + 1000, 100);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 1049)).isEqualTo((byte) 3);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 1050)).isZero();
        MemorySegment view = RawMemory.segment(a + 1000, 16);
        assertThat(view.byteSize()).isEqualTo(16);
        assertThat(view.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 3);
        assertThatThrownBy(() -> view.get(ValueLayout.JAVA_BYTE, 16)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> RawMemory.segment(a, -1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> RawMemory.segment(-8, 8)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> RawMemory.addressOf(MemorySegment.ofArray(new byte[8])))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("heap");
    }
}
