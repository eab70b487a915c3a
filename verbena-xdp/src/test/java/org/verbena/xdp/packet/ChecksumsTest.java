// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.packet;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.random.RandomGenerator;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.InternetChecksum;
import org.verbena.testkit.Seeds;

/** Checksums of random frames against sums byte by byte. */
class ChecksumsTest {
    private static final int SPACE = 1 << 17;
    private final MemorySegment memory = Arena.ofAuto().allocate(SPACE);

    private int at;

    private void put16(int offset, int value) {
        memory.set(ValueLayout.JAVA_BYTE, at + offset, (byte) (value >> 8));
        memory.set(ValueLayout.JAVA_BYTE, at + offset + 1, (byte) value);
    }

    private int get16(int offset) {
        return (memory.get(ValueLayout.JAVA_BYTE, at + offset) & 0xff) << 8 | memory.get(ValueLayout.JAVA_BYTE, at
                + offset + 1) & 0xff;
    }

    private long plain(int offset, int length) {
        return InternetChecksum.sum(memory.asByteBuffer(), at + offset, length);
    }

    /** A random frame; what its pseudo-header's sum is. */
    private record Built(int total, int transport, int length, int field, long pseudo) {}

    private Built build(RandomGenerator random) {
        at = random.nextInt(64);
        memory.asSlice(0, SPACE).fill((byte) random.nextInt());
        int tags = random.nextInt(3);
        int network = 14 + 4 * tags;
        for (int i = 0; i < tags; i++) {
            put16(12 + 4 * i, i == 0 && tags == 2 ? 0x88a8 : 0x8100);
        }
        boolean six = random.nextBoolean();
        boolean udp = random.nextBoolean();
        int payload = random.nextInt(random.nextBoolean() ? 40 : 60_000);
        int length = (udp ? 8 : 20) + payload;
        int header = six ? 40 : 20 + 4 * random.nextInt(11);
        put16(network - 2, six ? 0x86dd : 0x0800);
        for (int i = 0; i < header + length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, at + network + i, (byte) random.nextInt());
        }
        if (six) {
            put16(network, 0x6000);
            put16(network + 4, length);
            put16(network + 6, (udp ? 17 : 6) << 8);
        } else {
            put16(network, 0x4000 | header / 4 << 8);
            put16(network + 2, header + length);
            put16(network + 6, random.nextBoolean() ? 0x4000 : 0);
            put16(network + 8, 64 << 8 | (udp ? 17 : 6));
            put16(network + 10, 0);
            put16(network + 10, ~InternetChecksum.fold(plain(network, header)));
        }
        long pseudo = (six ? plain(network + 8, 32) : plain(network + 12, 8)) + (udp ? 17 : 6) + length;
        return new Built(network + header + length, network + header, length, udp ? 6 : 16, pseudo);
    }

    private int check(Checksums c, RandomGenerator random, Built b, boolean partial) {
        int padding = random.nextInt(3);
        int first = Math.min(b.total + padding, b.transport + 20 + random.nextInt(200));
        int result = c.begin(memory, at, first, b.total + padding, partial);
        if (result >= 0) {
            return result;
        }
        int done = 0;
        for (int n = first; done < b.total + padding; done += n, n = Math.min(b.total + padding - done, 1 + random
                .nextInt(4000))) {
            c.add(memory, at + done, n);
        }
        return c.end();
    }

    @Test
    void sumsAreThoseOfSingleBytes() {
        Checksums c = new Checksums();
        Seeds.each(2000, random -> {
            Built b = build(random);
            int field = b.transport + b.field;
            put16(field, InternetChecksum.fold(b.pseudo));
            assertThat(check(c, random, b, true)).isEqualTo(Checksums.PARTIAL);
            put16(field, 0);
            int right = ~InternetChecksum.fold(b.pseudo + plain(b.transport, b.length)) & 0xffff;
            put16(field, right == 0 ? 0xffff : right);
            if (right != InternetChecksum.fold(b.pseudo)) {
                assertThat(check(c, random, b, true)).isEqualTo(Checksums.RIGHT);
            }
            put16(field, right ^ 1 << random.nextInt(16));
            if (get16(field) != 0 && get16(field) != InternetChecksum.fold(b.pseudo)) {
                assertThat(check(c, random, b, false)).isEqualTo(Checksums.WRONG);
            }
            assertThat(c.prepare(memory, at, b.total, b.total)).isTrue();
            assertThat(get16(field)).isEqualTo(InternetChecksum.fold(b.pseudo));
            assertThat(c.start()).isEqualTo(b.transport);
            assertThat(c.offset()).isEqualTo(b.field);
            c.beginSum();
            c.add(memory, at, b.total);
            c.write();
            assertThat(get16(field)).isEqualTo(right == 0 ? 0xffff : right);
        });
    }

    @Test
    void malformedFramesHaveNoChecksums() {
        Checksums c = new Checksums();
        Seeds.each(2000, random -> {
            Built b = build(random);
            int cut = random.nextInt(b.total);
            assertThat(c.begin(memory, at, cut, cut, true)).isEqualTo(Checksums.NONE);
            for (int i = 0; i < 3; i++) {
                memory.set(ValueLayout.JAVA_BYTE, at + random.nextInt(b.total), (byte) random.nextInt());
            }
            check(c, random, b, true); // whatever it says, it reads nothing outside
            int length = random.nextInt(100);
            for (int i = 0; i < length; i++) {
                memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) random.nextInt());
            }
            c.prepare(memory.asSlice(at, length), 0, length, length);
        });
    }
}
