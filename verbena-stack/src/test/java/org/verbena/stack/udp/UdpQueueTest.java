// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.udp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

class UdpQueueTest {
    private static final int BYTES = 4096;
    private static final int RECORD = 24;

    private record Sent(int source, ByteBuffer bytes) {}

    private static int room(int length) {
        return RECORD + (length + 7 & ~7);
    }

    /** As a queue of objects has it, over many turns of the ring; what an empty ring holds is always taken. */
    @Test
    void datagramsComeOutAsTheyWentIn() {
        Seeds.each(20, random -> {
            UdpQueue q = new UdpQueue(7, BYTES);
            ArrayDeque<Sent> waiting = new ArrayDeque<>();
            int used = 0;
            for (int i = 0; i < 5000; i++) {
                if (random.nextInt(100) < 55) {
                    byte[] bytes = new byte[random.nextInt(random.nextInt(10) == 0 ? BYTES + 100 : 300)];
                    random.nextBytes(bytes);
                    if (q.offer(MemorySegment.ofArray(bytes), 0, bytes.length, ~i, i, i & 0xffff)) {
                        waiting.add(new Sent(i, ByteBuffer.wrap(bytes)));
                        used += room(bytes.length);
                        assertThat(used).isLessThanOrEqualTo(BYTES);
                    } else {
                        assertThat(waiting.isEmpty() && room(bytes.length) <= BYTES).isFalse();
                    }
                } else if (!waiting.isEmpty()) {
                    Sent s = waiting.remove();
                    used -= room(s.bytes.remaining());
                    assertThat(q.sourceLow()).isEqualTo(s.source);
                    assertThat(q.sourceHigh()).isEqualTo(~s.source);
                    assertThat(q.sourcePort()).isEqualTo(s.source & 0xffff);
                    ByteBuffer into = ByteBuffer.allocate(BYTES);
                    q.take(into);
                    assertThat(into.flip()).isEqualTo(s.bytes);
                }
                assertThat(q.isEmpty()).isEqualTo(waiting.isEmpty());
            }
        });
    }

    /** The ring ends where a datagram does, or a little behind it. */
    @Test
    void ringMayEndBehindADatagram() {
        for (int length : new int[] {BYTES / 2 - RECORD, BYTES / 2 - RECORD - 8, BYTES / 2 - RECORD - 32}) {
            UdpQueue q = new UdpQueue(7, BYTES);
            MemorySegment bytes = MemorySegment.ofArray(new byte[length]);
            assertThat(q.offer(bytes, 0, length, 0, 1, 1)).isTrue();
            assertThat(q.offer(bytes, 0, length, 0, 2, 2)).isTrue();
            for (int i = 3; i < 10; i++) {
                assertThat(q.offer(bytes, 0, length, 0, i, i)).isFalse();
                assertThat(q.dropped()).isEqualTo(i - 2);
                assertThat(q.sourceLow()).isEqualTo(i - 2);
                q.take(ByteBuffer.allocate(BYTES));
                assertThat(q.offer(bytes, 0, length, 0, i, i)).isTrue();
            }
        }
    }

    @Test
    void connectForgetsWhatWaits() {
        UdpQueue q = new UdpQueue(7, BYTES);
        MemorySegment bytes = MemorySegment.ofArray(new byte[100]);
        assertThat(q.offer(bytes, 0, 100, 0, 1, 1)).isTrue();
        q.connect(0, 2, 2);
        assertThat(q.isEmpty()).isTrue();
        assertThat(q.offer(bytes, 0, 100, 0, 2, 2)).isTrue();
        assertThat(q.sourceLow()).isEqualTo(2);
    }
}
