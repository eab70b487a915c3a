// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;

class HeldPacketsTest {
    /** It may wait for its next use for hours. */
    @Test
    void holderForgetsItsChannel() {
        PacketHolder holder = new PacketHolder(1, 1);
        for (int i = 0; i < 2; i++) {
            holder.of(this, null, null);
            MemorySegment memory = MemorySegment.ofArray(new byte[10]);
            assertThat(holder.add(1, memory, 0, 5)).isEqualTo(5);
            assertThat(holder.memory(0, 0)).isSameAs(memory);
            assertThat(holder.channel()).isSameAs(this);
            holder.clear();
            assertThat(holder.channel()).isNull();
            assertThat(holder.count()).isZero();
        }
    }

    @Test
    void roomIsGivenBackFromTheOldestOn() {
        HeldPackets held = new HeldPackets();
        assertThat(held.released(7)).isEqualTo(7);
        int a = held.add(0);
        int b = held.add(10);
        int c = held.add(30);
        assertThat(held.released(60)).isZero();
        assertThat(held.free(b)).isTrue();
        assertThat(held.released(60)).isZero();
        assertThat(held.free(a)).isTrue();
        assertThat(held.released(60)).isEqualTo(30);
        assertThat(held.free(c)).isTrue();
        assertThat(held.released(60)).isEqualTo(60);
        assertThat(held.free(c)).isFalse();
        assertThat(held.free(a)).isFalse();
        assertThat(held.free(c + 1)).isFalse();
        assertThat(held.free(-1)).isFalse();
    }

    @Test
    void asManyAsTheLimitAreHeld() {
        HeldPackets held = new HeldPackets();
        for (int i = 0; i < HeldPackets.MOST; i++) {
            assertThat(held.hasRoom()).isTrue();
            held.add(i);
        }
        assertThat(held.hasRoom()).isFalse();
        held.free(1); // behind the oldest: no room
        assertThat(held.hasRoom()).isFalse();
        held.free(0);
        assertThat(held.hasRoom()).isTrue();
        assertThat(held.released(1 << 20)).isEqualTo(2);
        held.clear();
        assertThat(held.held()).isZero();
        assertThat(held.released(1 << 20)).isEqualTo(1 << 20);
    }

    /** Compared with a map. */
    @Test
    void anyOrder() {
        SplittableRandom random = new SplittableRandom(Seeds.FIRST);
        for (int round = 0; round < (Thorough.ON ? 200 : 20); round++) {
            HeldPackets held = new HeldPackets();
            TreeMap<Integer, Long> model = new TreeMap<>();
            long position = random.nextInt(100);
            int most = 1 + random.nextInt(200);
            for (int i = 0; i < 3000; i++) {
                if (random.nextInt(2) == 0 && model.size() < most && held.hasRoom()) {
                    model.put(held.add(position), position);
                    position += 1 + random.nextInt(1000);
                } else {
                    int number = random.nextInt(3000);
                    Integer near = model.ceilingKey(number);
                    int one = near != null && random.nextInt(4) > 0 ? near : number;
                    assertThat(held.isHeld(one)).isEqualTo(model.containsKey(one));
                    assertThat(held.free(one)).isEqualTo(model.remove(one) != null);
                }
                assertThat(held.held()).isEqualTo(model.size());
                assertThat(held.released(position)).isEqualTo(model.isEmpty()
                        ? position
                        : model.firstEntry()
                                .getValue());
            }
        }
    }
}
