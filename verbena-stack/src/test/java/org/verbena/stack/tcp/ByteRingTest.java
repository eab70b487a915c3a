// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

/** Rings, and the blocks that they are in, against arrays. */
final class ByteRingTest {
    @Test
    void keepsWhatIsPutAcrossGrowthAndWrap() {
        Seeds.each(200, r -> {
            Blocks blocks = new Blocks(1 << 20);
            ByteRing ring = new ByteRing(blocks);
            int first = Peer.someInitial(r);
            int held = 0;
            for (int i = 0; i < 200; i++) {
                int n = r.nextInt(1 << r.nextInt(1, 14));
                if (held + n > 100_000 || !ring.reserve(first, held, held + n)) {
                    n = 0;
                } else if (r.nextBoolean()) {
                    byte[] pad = new byte[n + 7];
                    System.arraycopy(Peer.bytes(first + held, n), 0, pad, 7, n);
                    ring.put(first + held, MemorySegment.ofArray(pad), 7, n);
                } else {
                    ByteBuffer b = ByteBuffer.wrap(Peer.bytes(first + held, n));
                    ring.put(first + held, b, n);
                    assertThat(b.position()).isZero();
                }
                held += n;
                assertThat(blocks.used()).isEqualTo(ring.capacity());
                int from = held == 0 ? 0 : r.nextInt(held);
                int length = held == 0 ? 0 : r.nextInt(held - from + 1);
                if (length > 0) {
                    byte[] a = new byte[length + 3];
                    ring.get(first + from, MemorySegment.ofArray(a), 3, length);
                    assertThat(Arrays.copyOfRange(a, 3, a.length)).isEqualTo(Peer.bytes(first + from, length));
                    ByteBuffer b = ByteBuffer.allocate(length);
                    ring.get(first + from, b, length);
                    assertThat(b.array()).isEqualTo(Peer.bytes(first + from, length));
                }
                int gone = r.nextInt(held + 1);
                first += gone;
                held -= gone;
            }
            ring.clear();
            assertThat(ring.capacity()).isZero();
            assertThat(blocks.used()).isZero();
        });
    }

    @Test
    void blocksStayWithinTheirLimit() {
        Blocks b = new Blocks(100_000);
        Blocks.Block large = b.take(65_536);
        assertThat(large.size()).isEqualTo(65_536);
        assertThat(b.take(32_769)).isNull();
        Blocks.Block small = b.take(1);
        assertThat(small.size()).isEqualTo(Blocks.LEAST);
        assertThat(b.take(Blocks.LEAST + 1).size()).isEqualTo(2 * Blocks.LEAST);
        assertThat(b.take(Integer.MAX_VALUE)).isNull();
        assertThat(b.take(Blocks.MOST + 1)).isNull();
        b.giveBack(large);
        assertThat(b.used()).isEqualTo(3 * Blocks.LEAST);
        assertThat(b.take(40_000).size()).isEqualTo(65_536);
    }

    @Test
    void whatFindsNoMemoryIsAsBefore() {
        Blocks blocks = new Blocks(3 * Blocks.LEAST);
        ByteRing ring = new ByteRing(blocks);
        assertThat(ring.reserve(5, 0, 100)).isTrue();
        ring.put(5, ByteBuffer.wrap(Peer.bytes(5, 100)), 100);
        assertThat(ring.reserve(5, 100, 20_000)).isFalse();
        ByteBuffer b = ByteBuffer.allocate(100);
        ring.get(5, b, 100);
        assertThat(b.array()).isEqualTo(Peer.bytes(5, 100));
    }
}
