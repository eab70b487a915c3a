// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Flows: what specifications say, and which contradict each other. */
class FlowRulesTest {
    private static final FlowSpec ETH = FlowSpec.ethernet();
    private static final FlowSpec IPV4 = FlowSpec.ipv4();
    private static final FlowSpec IPV6 = FlowSpec.ipv6();
    private static final FlowSpec TCP = FlowSpec.tcp();
    private static final FlowSpec UDP = FlowSpec.udp();

    private static @Nullable String objection(FlowSpec... specs) {
        FlowAttributes.Builder b = FlowAttributes.builder();
        List.of(specs).forEach(b::spec);
        return FlowRules.objection(QueuePairType.RAW_PACKET, 1, b.build());
    }

    private static @Nullable String objection(FlowAttributes.Builder b) {
        return FlowRules.objection(QueuePairType.RAW_PACKET, 2, b.build());
    }

    @Test
    void consistentSpecificationsAreAllowed() {
        assertThat(objection()).isNull();
        assertThat(objection(ETH, IPV4, UDP)).isNull();
        assertThat(objection(UDP, IPV4, ETH)).as("in any order").isNull();
        assertThat(objection(ETH.match(FlowField.ETH_TYPE, 0x0800), IPV4.match(FlowField.IPV4_PROTOCOL, 17), UDP))
                .isNull();
        assertThat(objection(ETH.match(FlowField.ETH_TYPE, 0x86dd), IPV6.match(FlowField.IPV6_NEXT_HEADER, 6), TCP))
                .isNull();
        assertThat(objection(IPV4, FlowSpec.esp())).isNull();
        assertThat(objection(IPV4, UDP, FlowSpec.vxlan(), ETH.inner(), IPV6.inner(), TCP.inner())).isNull();
        assertThat(objection(IPV4, FlowSpec.gre(), IPV4.inner(), UDP.inner())).isNull();
        assertThat(objection(ETH.match(FlowField.ETH_TYPE, 0x8847), FlowSpec.mpls())).isNull();
        assertThat(objection(UDP, FlowSpec.tag(7))).isNull();
        assertThat(objection(UDP, FlowSpec.drop())).isNull();
    }

    @Test
    void contradictionsAreNamed() {
        assertThat(objection(IPV4, IPV6)).contains("same layer");
        assertThat(objection(IPV4, IPV4)).contains("same layer");
        assertThat(objection(IPV4, IPV4.match(FlowField.IPV4_TTL, 1))).contains("same layer");
        assertThat(objection(TCP, UDP)).contains("same layer");
        assertThat(objection(ETH, ETH)).contains("same layer");
        assertThat(objection(FlowSpec.esp(), UDP)).contains("same layer");
        assertThat(objection(FlowSpec.gre(), FlowSpec.vxlan())).contains("same layer");
        assertThat(objection(UDP, FlowSpec.vxlan(), IPV4.inner(), IPV6.inner())).contains("same layer");
        assertThat(objection(ETH.match(FlowField.ETH_TYPE, 0x86dd), IPV4)).contains("another type");
        assertThat(objection(ETH.match(FlowField.ETH_TYPE, 0x0800), IPV6)).contains("another type");
        assertThat(objection(ETH.match(FlowField.ETH_TYPE, 0x0800), FlowSpec.mpls())).contains("another type");
        assertThat(objection(IPV4.match(FlowField.IPV4_PROTOCOL, 6), UDP)).contains("another protocol");
        assertThat(objection(IPV6.match(FlowField.IPV6_NEXT_HEADER, 17), TCP)).contains("another protocol");
        assertThat(objection(IPV4.match(FlowField.IPV4_PROTOCOL, 6), FlowSpec.esp())).contains("another protocol");
        assertThat(objection(IPV4.match(FlowField.IPV4_PROTOCOL, 6), FlowSpec.gre())).contains("another protocol");
        assertThat(objection(IPV4.match(FlowField.IPV4_PROTOCOL, 6), FlowSpec.vxlan())).contains("another protocol");
        assertThat(objection(TCP, FlowSpec.vxlan())).contains("not inside TCP");
        assertThat(objection(UDP, FlowSpec.gre())).contains("not inside UDP");
        assertThat(objection(FlowSpec.tag(1), FlowSpec.tag(2))).contains("twice");
        assertThat(objection(FlowSpec.tag(1), FlowSpec.drop())).contains("no tag");
    }

    /** A mask that leaves bits open excludes nothing. */
    @Test
    void onlyAFullMaskContradicts() {
        assertThat(objection(IPV4.matchMasked(FlowField.IPV4_PROTOCOL, 6, 0x0f), UDP)).isNull();
    }

    @Test
    void attributesOutOfRangeAreNamed() {
        assertThat(FlowRules.objection(QueuePairType.RC, 1, FlowAttributes.builder().build())).contains("RC");
        assertThat(FlowRules.objection(QueuePairType.UD, 1, FlowAttributes.builder().build())).isNull();
        assertThat(objection(FlowAttributes.builder().type(4))).contains("4");
        assertThat(objection(FlowAttributes.builder().type(-1))).contains("-1");
        assertThat(objection(FlowAttributes.builder().port(2))).isNull();
        assertThat(objection(FlowAttributes.builder().port(3))).contains("port is 3");
        assertThat(objection(FlowAttributes.builder().port(0))).contains("port is 0");
        assertThat(objection(FlowAttributes.builder().priority(0xffff))).isNull();
        assertThat(objection(FlowAttributes.builder().priority(0x10000))).contains("priority");
        assertThat(objection(FlowAttributes.builder().priority(-1))).contains("priority");
        assertThat(objection(FlowAttributes.builder().flags(1))).contains("0x1");
        assertThat(objection(FlowAttributes.builder().flags(8))).contains("0x8");
        assertThat(objection(FlowAttributes.builder().flags(FlowFlags.DONT_TRAP))).isNull();
        assertThat(objection(FlowAttributes.builder().flags(FlowFlags.DONT_TRAP | FlowFlags.EGRESS))).isNotNull();
        assertThat(objection(FlowAttributes.builder().flags(FlowFlags.DONT_TRAP).spec(FlowSpec.drop()))).isNotNull();
        for (int type : new int[] {FlowType.ALL_DEFAULT, FlowType.MC_DEFAULT, FlowType.SNIFFER}) {
            assertThat(objection(FlowAttributes.builder().type(type))).isNull();
            assertThat(objection(FlowAttributes.builder().type(type).spec(FlowSpec.tag(1)))).isNull();
            assertThat(objection(FlowAttributes.builder().type(type).flags(FlowFlags.DONT_TRAP))).contains("DONT_TRAP");
            assertThat(objection(FlowAttributes.builder().type(type).spec(UDP))).contains("everything");
        }
    }

    @Test
    void specificationKeepsItsValues() {
        byte[] mac = {1, 2, 3, 4, 5, (byte) 0xff};
        FlowSpec s = ETH.match(FlowField.ETH_DESTINATION, mac).matchMasked(FlowField.ETH_VLAN, 5, 0xfff);
        assertThat(s.valueBytes(FlowField.ETH_DESTINATION)).isEqualTo(mac);
        assertThat(s.maskBytes(FlowField.ETH_DESTINATION)).containsOnly(-1);
        assertThat(s.value(FlowField.ETH_DESTINATION)).isEqualTo(0x0102030405ffL);
        assertThat(s.value(FlowField.ETH_VLAN)).isEqualTo(5);
        assertThat(s.mask(FlowField.ETH_VLAN)).isEqualTo(0xfff);
        assertThat(s.mask(FlowField.ETH_TYPE)).isZero();
        assertThat(s.fields()).containsExactlyInAnyOrder(FlowField.ETH_DESTINATION, FlowField.ETH_VLAN);
        assertThat(s).isEqualTo(ETH.matchMasked(FlowField.ETH_VLAN, 5, 0xfff).match(FlowField.ETH_DESTINATION, mac))
                .isNotEqualTo(ETH).hasToString("ETH ETH_DESTINATION=0x102030405ff/0xffffffffffff ETH_VLAN=0x5/0xfff");
        byte[] address = new byte[16];
        address[0] = (byte) 0xfe;
        address[15] = 1;
        assertThat(IPV6.match(FlowField.IPV6_SOURCE, address).valueBytes(FlowField.IPV6_SOURCE)).isEqualTo(address);
    }

    @Test
    void ipv4SpecificationBecomesExtendedForOtherFields() {
        assertThat(IPV4.match(FlowField.IPV4_SOURCE, 1).type()).isEqualTo(FlowSpecType.IPV4);
        FlowSpec s = IPV4.inner().match(FlowField.IPV4_TOS, 1).match(FlowField.IPV4_SOURCE, 0xffffffffL);
        assertThat(s.type()).isEqualTo(FlowSpecType.IPV4_EXT | FlowSpecType.INNER);
        assertThat(FlowSpecType.toString(s.type())).isEqualTo("INNER|IPV4_EXT");
        assertThat(s.isInner()).isTrue();
        assertThat(FlowSpec.tag(3).isInner()).isFalse();
        assertThat(FlowSpec.tag(3).tagNumber()).isEqualTo(3);
        assertThat(FlowSpec.tag(3)).isNotEqualTo(FlowSpec.tag(4)).hasToString("ACTION_TAG 3");
    }

    @Test
    void fieldsNotInTheHeaderAreRefused() {
        assertThatThrownBy(() -> TCP.match(FlowField.ETH_TYPE, 1)).hasMessageContaining("TCP has no field ETH_TYPE");
        assertThatThrownBy(() -> TCP.match(4711, 1)).hasMessageContaining("4711");
        assertThatThrownBy(() -> TCP.match(-1, 1)).hasMessageContaining("-1");
        assertThatThrownBy(() -> TCP.match(FlowField.SOURCE_PORT, 0x10000)).hasMessageContaining("16 bits");
        assertThatThrownBy(() -> TCP.match(FlowField.SOURCE_PORT, -1)).hasMessageContaining("16 bits");
        assertThatThrownBy(() -> TCP.matchMasked(FlowField.SOURCE_PORT, 1, 0x10000)).hasMessageContaining("16 bits");
        assertThatThrownBy(() -> IPV6.match(FlowField.IPV6_SOURCE, new byte[4])).hasMessageContaining("16 bytes");
        assertThatThrownBy(() -> FlowSpec.drop().inner()).hasMessageContaining("no tunnel");
    }

    @Test
    void receiveHashConfigurationIsChecked() {
        byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
        assertThat(hash(1, key, 0)).isNull();
        assertThat(hash(1, key, RxHashFields.IPV4 | RxHashFields.TCP | RxHashFields.INNER)).isNull();
        assertThat(hash(1, key, RxHashFields.IPV6 | RxHashFields.UDP)).isNull();
        assertThat(hash(1, key, RxHashFields.IPV4 | RxHashFields.IPSEC_SPI)).isNull();
        assertThat(hash(0, key, 0)).contains("function");
        assertThat(hash(1, new byte[39], 0)).contains("39");
        assertThat(hash(1, key, RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV6)).contains("not both");
        assertThat(hash(1, key, RxHashFields.SRC_PORT_TCP | RxHashFields.DST_PORT_UDP)).contains("not both");
        assertThat(hash(1, key, RxHashFields.UDP | RxHashFields.IPSEC_SPI)).contains("encrypted");
        assertThat(hash(1, key, 1 << 9)).contains("0x200");
    }

    private static @Nullable String hash(int function, byte[] key, int fields) {
        return RxHashConfiguration.of(function, key, fields).objection();
    }
}
