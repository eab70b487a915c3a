// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

/** What is received, against a set of bytes. */
final class ReceiverTest {
    private static final int LIMIT = 20_000;
    private static final int SEGMENT = 1000;

    @Test
    void rangesAreThoseOfASetOfBytes() {
        Seeds.each(200, r -> {
            int initial = Peer.someInitial(r);
            Receiver c = new Receiver(new Blocks(1 << 20), LIMIT);
            c.scale = r.nextInt(5);
            c.begin(initial);
            BitSet model = new BitSet();
            int read = 1;
            for (int i = 0; i < 300; i++) {
                int next = c.next - initial;
                int edge = c.edge - initial;
                int from = Math.max(1, next - 200 + r.nextInt(Math.max(edge - next, 1) + 200));
                int n = Math.min(1 + r.nextInt(SEGMENT), edge - from);
                if (n > 0) {
                    take(c, initial, from, n, model, r);
                }
                if (r.nextInt(4) == 0) {
                    ByteBuffer b = ByteBuffer.allocate(r.nextInt(4000));
                    int got = c.read(b, false);
                    for (int j = 0; j < got; j++) {
                        assertThat(b.get(j)).isEqualTo(Peer.value(read + j));
                    }
                    read += got;
                }
                int field = c.tell(SEGMENT, c.scale);
                assertThat(field).isBetween(0, 0xffff);
                assertThat(c.edge - initial).as("what was told is never taken back").isGreaterThanOrEqualTo(edge);
                assertThat(c.edge - c.read).as("no more than there is room for").isLessThanOrEqualTo(LIMIT
                        + (1 << c.scale));
                assertThat(c.edge - c.next - (field << c.scale)).isBetween(0, (1 << c.scale) - 1);
            }
        });
    }

    private static void take(Receiver c, int initial, int from, int n, BitSet model, Random r) {
        int before = c.next - initial;
        int pad = r.nextInt(5);
        byte[] b = new byte[pad + n];
        System.arraycopy(Peer.bytes(from, n), 0, b, pad, n);
        BitSet old = model.get(from, from + n);
        int got = c.take(from + initial, MemorySegment.ofArray(b), null, pad, n);
        if (!old.isEmpty()) {
            assertThat(c.repeated).isTrue();
            int first = from + old.nextSetBit(0);
            assertThat(c.repeatedLeft - initial).isEqualTo(first);
            assertThat(c.repeatedRight - initial).isEqualTo(Math.min(model.nextClearBit(first), from + n));
        } else {
            assertThat(c.repeated).isFalse();
        }
        c.repeated = false;
        assertThat(got).isNotNegative();
        model.set(from, from + n);
        int next = model.nextClearBit(1);
        assertThat(c.next - initial).isEqualTo(next);
        assertThat(got).isEqualTo(next - before);
        int ranges = 0;
        for (int i = model.nextSetBit(next); i >= 0; i = model.nextSetBit(model.nextClearBit(i))) {
            assertThat(c.left(ranges) - initial).isEqualTo(i);
            assertThat(c.right(ranges) - initial).isEqualTo(model.nextClearBit(i));
            ranges++;
        }
        assertThat(c.ranges()).isEqualTo(ranges);
        if (from + n > next && ranges > 0) {
            int latest = c.latestRange(-1);
            assertThat(c.left(latest) - initial).as("the range of what came last is the first to be told")
                    .isLessThanOrEqualTo(Math.max(from, next));
            assertThat(c.right(latest) - initial).isGreaterThanOrEqualTo(from + n);
        }
        int told = 0;
        for (int i = c.latestRange(-1); i >= 0; i = c.latestRange(i)) {
            told++;
        }
        assertThat(told).isEqualTo(ranges);
    }

    @Test
    void bytesOneByOneTakeNoMoreThanTheBuffer() {
        int[] scales = {0, 4, 10};
        for (int scale : scales) {
            Receiver c = new Receiver(new Blocks(1 << 20), LIMIT);
            c.scale = scale;
            c.begin(7);
            byte[] one = {1};
            int taken = 0;
            while (c.window() > 0 && taken < 3 * LIMIT) {
                taken += c.take(c.next, MemorySegment.ofArray(one), null, 0, 1);
                c.tell(SEGMENT, scale);
            }
            assertThat(taken).isLessThanOrEqualTo(LIMIT + (1 << scale));
        }
    }
}
