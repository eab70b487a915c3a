// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;

import org.junit.jupiter.api.Test;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;

final class FlowFilterTest {
    private static final int OURS = 10 << 24 | 2;
    private static final int THEIRS = 10 << 24 | 1;
    private static final long NET = 0xfd00L << 48;

    private static byte[] ipv4(int from, int to, int protocol, int fromPort, int toPort, boolean tagged) {
        byte[] f = new byte[60];
        MemorySegment m = MemorySegment.ofArray(f);
        int ip = begin(m, EthernetHeader.IPV4, tagged);
        Ipv4Header.write(m, ip, 40, 1, 0, 64, protocol, from, to);
        ports(m, ip + 20, fromPort, toPort);
        return f;
    }

    private static byte[] ipv6(long from, long to, int fromPort, int toPort) {
        byte[] f = new byte[78];
        MemorySegment m = MemorySegment.ofArray(f);
        int ip = begin(m, EthernetHeader.IPV6, false);
        Ipv6Header.write(m, ip, 0, 20, Ipv4Header.TCP, 64, NET, from, NET, to);
        ports(m, ip + 40, fromPort, toPort);
        return f;
    }

    private static int begin(MemorySegment m, int type, boolean tagged) {
        EthernetHeader.write(m, 0, 1, 2, tagged ? EthernetHeader.VLAN : type);
        if (tagged) {
            Bytes.put16(m, 16, type);
        }
        return tagged ? 18 : 14;
    }

    private static void ports(MemorySegment m, int at, int from, int to) {
        Bytes.put16(m, at, from);
        Bytes.put16(m, at + 2, to);
    }

    private static boolean takes(FlowFilter f, byte[] frame) {
        return f.takes(MemorySegment.ofArray(frame), 0, frame.length);
    }

    @Test
    void segmentsOfBothDirectionsAreTaken() {
        Path p = new Path();
        p.set(0, IpAddress.mapped(OURS), 0, IpAddress.mapped(THEIRS));
        FlowFilter f = new FlowFilter(p, 7, 4000);
        for (boolean tagged : new boolean[] {false, true}) {
            assertThat(takes(f, ipv4(OURS, THEIRS, Ipv4Header.TCP, 7, 4000, tagged))).isTrue();
            assertThat(takes(f, ipv4(THEIRS, OURS, Ipv4Header.TCP, 4000, 7, tagged))).isTrue();
            assertThat(takes(f, ipv4(THEIRS, OURS, Ipv4Header.UDP, 4000, 7, tagged))).isFalse();
            assertThat(takes(f, ipv4(OURS, THEIRS, Ipv4Header.TCP, 4000, 7, tagged))).isFalse();
            assertThat(takes(f, ipv4(THEIRS, OURS, Ipv4Header.TCP, 4001, 7, tagged))).isFalse();
            assertThat(takes(f, ipv4(THEIRS + 2, OURS, Ipv4Header.TCP, 4000, 7, tagged))).isFalse();
        }
        assertThat(takes(f, ipv6(2, 1, 7, 4000))).isFalse();
        p.set(NET, 2, NET, 1);
        FlowFilter six = new FlowFilter(p, 7, 4000);
        assertThat(takes(six, ipv6(2, 1, 7, 4000))).isTrue();
        assertThat(takes(six, ipv6(1, 2, 4000, 7))).isTrue();
        assertThat(takes(six, ipv6(1, 3, 4000, 7))).isFalse();
    }

    @Test
    void whatIsCutOrOfAnotherKindIsNotTaken() {
        Path p = new Path();
        p.set(0, IpAddress.mapped(OURS), 0, IpAddress.mapped(THEIRS));
        FlowFilter f = new FlowFilter(p, 0, 0);
        byte[] whole = ipv4(OURS, THEIRS, Ipv4Header.TCP, 0, 0, false);
        for (int n = 0; n < 38; n++) {
            assertThat(f.takes(MemorySegment.ofArray(whole), 0, n)).isFalse();
        }
        assertThat(takes(f, whole)).isTrue();
        whole[14] = 0x4f; // options up to where nothing is
        assertThat(takes(f, whole)).isFalse();
        whole[14] = 0x45;
        whole[21] = 1; // a later fragment
        assertThat(takes(f, whole)).isFalse();
        assertThat(takes(f, new byte[60])).isFalse();
    }
}
