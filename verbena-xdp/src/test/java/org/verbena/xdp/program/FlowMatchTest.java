// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.VerbsException;

class FlowMatchTest {
    private static FlowMatch match(FlowSpec... specs) throws VerbsException {
        FlowAttributes.Builder b = FlowAttributes.builder();
        for (FlowSpec s : specs) {
            b.spec(s);
        }
        return FlowMatch.of(b.build());
    }

    private static void refused(int errno, String why, FlowSpec... specs) {
        assertThatThrownBy(() -> match(specs)).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno())
                .isEqualTo(errno)).hasMessageContaining(why);
    }

    @Test
    void fieldsAreWhereTheKeyHasThem() throws Exception {
        FlowMatch m = match(FlowSpec.ethernet().match(FlowField.ETH_DESTINATION, 0x0203_0405_0607L).matchMasked(
                FlowField.ETH_VLAN, 0x2005, 0xfff),
                FlowSpec.ipv4().match(FlowField.IPV4_SOURCE, 0x0a00_0001).matchMasked(FlowField.IPV4_DESTINATION,
                        0x0a01_02ff, 0xffff_ff00L).match(FlowField.IPV4_TOS, 0xb8),
                FlowSpec.udp().match(FlowField.DESTINATION_PORT, 4791).match(FlowField.SOURCE_PORT, 53));
        assertThat(m.key()).hasToString("020304050607 0005 000000000000 0000 0a000001000000000000000000000000 "
                + "0a010200000000000000000000000000 00 0d 11 b8 0035 12b7");
        assertThat(m.bits()).hasToString("ffffffffffff 0fff 000000000000 0000 ffffffff000000000000000000000000 "
                + "ffffff00000000000000000000000000 00 0d ff ff ffff ffff");
        assertThat(m).hasToString(
                "IPv4, TCP or UDP, VLAN, Ethernet destination 02:03:04:05:06:07, VLAN tag 0x0005/0x0fff, "
                        + "source 10.0.0.1, destination 10.1.2.0/255.255.255.0, protocol 17, TOS 0xb8, source port 53, "
                        + "destination port 4791, priority 0");
        assertThat(m.level()).isEqualTo(FlowMatch.NORMAL);
        assertThat(FlowKey.of(m.key().bytes())).isEqualTo(m.key()).hasSameHashCodeAs(m.key()).isNotEqualTo(m.bits());
        FlowMatch six = match(FlowSpec.ipv6().match(FlowField.IPV6_TRAFFIC_CLASS, 8).match(FlowField.IPV6_NEXT_HEADER,
                58));
        assertThat(six.key().toString()).endsWith(" 00 02 3a 08 0000 0000");
        assertThat(six).hasToString("IPv6, protocol 58, TOS 0x08, priority 0");
        assertThat(match(FlowSpec.ipv6().match(FlowField.IPV6_SOURCE, HexFormat.of().parseHex(
                "00000000000000000000ffff0a000001")))).hasToString("IPv6, source ::ffff:10.0.0.1, priority 0");
        assertThat(FlowMatch.of(FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build())).hasToString(
                "any packet, by default");
    }

    @Test
    void orderIsLevelPriorityWatchersThenBits() throws Exception {
        FlowMatch sniffer = FlowMatch.of(FlowAttributes.builder().type(FlowType.SNIFFER).priority(65535).build());
        FlowMatch watcher = FlowMatch.of(FlowAttributes.builder().flags(FlowFlags.DONT_TRAP).build());
        FlowMatch port = match(FlowSpec.tcp().match(FlowField.SOURCE_PORT, 1));
        FlowMatch all = match();
        FlowMatch later = FlowMatch.of(FlowAttributes.builder().priority(65535).build());
        FlowMatch multicast = FlowMatch.of(FlowAttributes.builder().type(FlowType.MC_DEFAULT).build());
        FlowMatch rest = FlowMatch.of(FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build());
        assertThat(new long[] {sniffer.order(), watcher.order(), port.order(), all.order(), later.order(), multicast
                .order(), rest.order()}).isSorted().doesNotHaveDuplicates();
        assertThat(sniffer.watches()).isTrue();
        assertThat(rest.bits()).isEqualTo(FlowKey.EMPTY);
    }

    @Test
    void whatTheProgramDoesNotLookAtIsNotSupported() {
        int no = Errno.EOPNOTSUPP;
        refused(no, "tunnel", FlowSpec.ipv4().inner());
        refused(no, "headers", FlowSpec.vxlan());
        refused(no, "headers", FlowSpec.gre());
        refused(no, "headers", FlowSpec.mpls());
        refused(no, "headers", FlowSpec.esp());
        refused(no, "tag", FlowSpec.tag(7));
        refused(no, "IPV4_TTL", FlowSpec.ipv4().match(FlowField.IPV4_TTL, 1));
        refused(no, "IPV4_FLAGS", FlowSpec.ipv4().match(FlowField.IPV4_FLAGS, 1));
        refused(no, "IPV6_FLOW_LABEL", FlowSpec.ipv6().match(FlowField.IPV6_FLOW_LABEL, 1));
        refused(no, "IPV6_HOP_LIMIT", FlowSpec.ipv6().match(FlowField.IPV6_HOP_LIMIT, 1));
        assertThatThrownBy(() -> FlowMatch.of(FlowAttributes.builder().flags(FlowFlags.EGRESS).build()))
                .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(no));
        assertThatThrownBy(() -> FlowMatch.of(FlowAttributes.builder().type(9).build())).isInstanceOf(
                VerbsException.class);
    }

    @Test
    void contradictionIsInvalid() throws Exception {
        refused(Errno.EINVAL, "contradict", FlowSpec.ipv4().matchMasked(FlowField.IPV4_PROTOCOL, 0x10, 0x10), FlowSpec
                .tcp());
        assertThat(match(FlowSpec.ipv4().matchMasked(FlowField.IPV4_PROTOCOL, 0x06, 0x0f), FlowSpec.tcp()).key())
                .isEqualTo(match(FlowSpec.ipv4(), FlowSpec.tcp()).key());
        assertThat(match(FlowSpec.ipv4().matchMasked(FlowField.IPV4_TTL, 0, 0)).bits()).isEqualTo(match(FlowSpec.ipv4())
                .bits());
    }
}
