// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.verbena.stack.header.Ipv4Header;
import org.verbena.testkit.Seeds;

final class ReassemblyTest {
    private static final int SOURCE = Host.SUBNET + 2;

    private final Counts counts = new Counts();
    private final Reassembly all = new Reassembly(counts, Reassembly.IPV4_PATIENCE);

    private static MemorySegment fragment(int id, byte[] data, int from, int to, boolean more) {
        MemorySegment m = MemorySegment.ofArray(new byte[20 + to - from]);
        Ipv4Header.write(m, 0, 20 + to - from, id, from / 8 | (more ? Ipv4Header.MORE_FRAGMENTS : 0), 64,
                Ipv4Header.UDP, SOURCE,
                Host.SUBNET + 1);
        MemorySegment.copy(MemorySegment.ofArray(data), from, m, 20, to - from);
        return m;
    }

    private static byte[] data(Random r, int length) {
        byte[] b = new byte[length];
        r.nextBytes(b);
        return b;
    }

    /** Cuts data anywhere that fragments can be cut. */
    private static List<MemorySegment> cut(int id, byte[] data, Random r) {
        List<MemorySegment> list = new ArrayList<>();
        for (int at = 0; at < data.length;) {
            int n = Math.min(data.length - at, 8 * (1 + r.nextInt(200)));
            list.add(fragment(id, data, at, at + n, at + n < data.length));
            at += n;
        }
        return list;
    }

    /** The whole datagram if that was the last of its fragments, else null. */
    private @Nullable Datagram add(MemorySegment m, long at, long now) {
        Datagram d = new Datagram();
        d.memory = m;
        d.header = at;
        d.headerBytes = Ipv4Header.headerBytes(m, at);
        d.length = Ipv4Header.totalBytes(m, at) - d.headerBytes;
        d.protocol = Ipv4Header.protocol(m, at);
        d.path().set(0, IpAddress.mapped(Ipv4Header.destination(m, at)), 0, IpAddress.mapped(Ipv4Header.source(m, at)));
        int word = Ipv4Header.fragmentWord(m, at);
        return all.add(d, d.headerBytes, Ipv4Header.identification(m, at), (word & Ipv4Header.OFFSET) * 8, (word
                & Ipv4Header.MORE_FRAGMENTS) != 0, now) ? d : null;
    }

    private @Nullable Datagram late(long now) {
        Datagram d = new Datagram();
        return all.takeLate(d, now) ? d : null;
    }

    private static byte[] payload(Datagram p) {
        assertThat(p.headerBytes).isEqualTo(20);
        return p.memory.asSlice(p.at(), p.length()).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void fragmentsInAnyOrderAndRepeatedMakeTheDatagramOnce() {
        Seeds.each(300, r -> {
            byte[] data = data(r, 1 + r.nextInt(r.nextInt(10) == 0 ? 65_515 : 5000));
            List<MemorySegment> parts = cut(r.nextInt(65_536), data, r);
            Collections.shuffle(parts, r);
            int whole = 0;
            for (int i = 0; i < parts.size(); i++) {
                if (i > 0 && r.nextInt(4) == 0) {
                    assertThat(add(parts.get(r.nextInt(i)), 0, 0)).as("repeated").isNull();
                }
                Datagram p = add(parts.get(i), 0, 0);
                assertThat(p != null).isEqualTo(i == parts.size() - 1);
                if (p != null) {
                    assertThat(payload(p)).isEqualTo(data);
                    whole++;
                }
            }
            assertThat(whole).isEqualTo(1);
            assertThat(all.next()).isEqualTo(Long.MAX_VALUE);
        });
        assertThat(counts.reassemblyFailed).isZero();
    }

    @Test
    void datagramsAtOnceDoNotMix() {
        Seeds.each(50, r -> {
            List<byte[]> datas = new ArrayList<>();
            List<MemorySegment> parts = new ArrayList<>();
            for (int i = 0; i < Reassembly.MOST; i++) {
                datas.add(data(r, 1 + r.nextInt(9000)));
                parts.addAll(cut(i, datas.get(i), r));
            }
            Collections.shuffle(parts, r);
            int whole = 0;
            for (MemorySegment m : parts) {
                Datagram p = add(m, 0, 0);
                if (p != null) {
                    assertThat(payload(p)).isEqualTo(datas.get(Ipv4Header.identification(m, 0)));
                    whole++;
                }
            }
            assertThat(whole).isEqualTo(Reassembly.MOST);
        });
    }

    @Test
    void fragmentsThatOverlapEndTheDatagram() {
        byte[] data = data(new Random(1), 64);
        add(fragment(1, data, 0, 32, true), 0, 0);
        assertThat(add(fragment(1, data, 24, 64, false), 0, 0)).isNull();
        assertThat(counts.reassemblyFailed).isEqualTo(1);
        for (int at = 0; at < 64; at += 32) {
            assertThat(add(fragment(1, data, at, at + 32, at == 0), 0, 0)).as("none of it is taken any more")
                    .isNull();
        }
        assertThat(late(Reassembly.IPV4_PATIENCE)).isNull();
        add(fragment(1, data, 0, 32, true), 0, 0);
        assertThat(add(fragment(1, data, 32, 64, false), 0, 0)).as("another of that number, later").isNotNull();
    }

    @Test
    void fragmentsThatContradictTheEndAreRefused() {
        byte[] data = data(new Random(1), 128);
        add(fragment(1, data, 32, 64, false), 0, 0);
        assertThat(add(fragment(1, data, 64, 96, true), 0, 0)).as("behind the end").isNull();
        add(fragment(2, data, 64, 128, true), 0, 0);
        assertThat(add(fragment(2, data, 0, 40, false), 0, 0)).as("an end before what is there").isNull();
        add(fragment(3, data, 32, 64, false), 0, 0);
        assertThat(add(fragment(3, data, 64, 72, false), 0, 0)).as("two ends").isNull();
        assertThat(add(fragment(4, data, 0, 13, true), 0, 0)).as("not units of 8 bytes").isNull();
        assertThat(add(fragment(5, data, 0, 0, true), 0, 0)).as("empty").isNull();
        assertThat(counts.reassemblyFailed).isEqualTo(5);
        assertThat(counts.reassembled).isZero();
    }

    /** The end of a fragment at the highest offset is beyond what a packet can have. */
    @Test
    void aDatagramLongerThanAPacketIsRefused() {
        MemorySegment m = MemorySegment.ofArray(new byte[1020]);
        Ipv4Header.write(m, 0, 1020, 1, Ipv4Header.OFFSET, 64, Ipv4Header.UDP, SOURCE, Host.SUBNET + 1);
        assertThat(add(m, 0, 0)).isNull();
        assertThat(counts.reassemblyFailed).isEqualTo(1);
    }

    @Test
    void whatIsNotCompleteEndsAfterThirtySecondsOrWhenOthersComeIn() {
        byte[] data = data(new Random(1), 64);
        for (int i = 0; i < Reassembly.MOST + 4; i++) {
            add(fragment(i, data, 0, 32, true), 0, i);
        }
        assertThat(counts.reassemblyFailed).isEqualTo(4);
        assertThat(add(fragment(4, data, 32, 64, false), 0, 100)).isNotNull();
        assertThat(late(100)).isNull();
        assertThat(all.next()).isEqualTo(5 + Reassembly.IPV4_PATIENCE);
        assertThat(late(5 + Reassembly.IPV4_PATIENCE)).isNotNull();
        assertThat(late(5 + Reassembly.IPV4_PATIENCE)).isNull();
        assertThat(counts.reassemblyFailed).isEqualTo(5);
        for (int i = 0; i < Reassembly.MOST - 2; i++) {
            assertThat(late(100 + Reassembly.IPV4_PATIENCE)).isNotNull();
        }
        assertThat(late(100 + Reassembly.IPV4_PATIENCE)).isNull();
        assertThat(counts.reassemblyFailed).isEqualTo(4 + Reassembly.MOST - 1);
        assertThat(all.next()).isEqualTo(Long.MAX_VALUE);
    }
}
