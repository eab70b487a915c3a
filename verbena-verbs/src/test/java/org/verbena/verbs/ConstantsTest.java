// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;

/** Constants have the C API's values, for they are copied into what is compiled against them; and helpers compute as C. */
class ConstantsTest {
    private static Map<String, Long> constants(Class<?> c) throws IllegalAccessException {
        Map<String, Long> all = new LinkedHashMap<>();
        for (Field f : c.getFields()) {
            if (Modifier.isStatic(f.getModifiers()) && f.getType().isPrimitive()) {
                all.put(f.getName(), ((Number) f.get(null)).longValue());
            }
        }
        return all;
    }

    /** Names and values in turn. */
    private static void assertValues(Class<?> c, Object... expected) throws IllegalAccessException {
        Map<String, Long> all = new LinkedHashMap<>();
        for (int i = 0; i < expected.length; i += 2) {
            all.put((String) expected[i], ((Number) expected[i + 1]).longValue());
        }
        assertThat(constants(c)).as(c.getSimpleName()).containsExactlyInAnyOrderEntriesOf(all);
    }

    @Test
    void flowConstantsMatchC() throws Exception {
        assertValues(FlowType.class, "NORMAL", 0, "ALL_DEFAULT", 1, "MC_DEFAULT", 2, "SNIFFER", 3);
        assertValues(FlowFlags.class, "DONT_TRAP", 2, "EGRESS", 4);
        assertValues(FlowSpecType.class, "ETH", 0x20, "IPV4", 0x30, "IPV6", 0x31, "IPV4_EXT", 0x32, "ESP", 0x34, "TCP",
                0x40, "UDP", 0x41, "VXLAN_TUNNEL", 0x50, "GRE", 0x51, "MPLS", 0x60, "INNER", 0x100, "ACTION_TAG",
                0x1000, "ACTION_DROP", 0x1001, "ACTION_HANDLE", 0x1002, "ACTION_COUNT", 0x1003);
    }

    @Test
    void xrcConstantsMatchC() throws Exception {
        assertValues(SharedReceiveQueueType.class, "BASIC", 0, "XRC", 1);
        assertValues(SharedReceiveQueueAttributes.class, "MAX_WR", 1, "LIMIT", 2, "TYPE", 1, "XRCD", 4, "CQ", 8,
                "COUNTERS", 1 << 17);
        assertValues(XrcDomainAttributes.class, "FD", 1, "OFLAGS", 2, "CREATE", 0100, "EXCLUSIVE", 0200);
        assertValues(QueuePairOpenAttributes.class, "NUM", 1, "CONTEXT", 4, "TYPE", 8);
    }

    @Test
    void counterConstantsMatchC() throws Exception {
        assertValues(ReadCountersFlags.class, "PREFER_CACHED", 1);
        assertThat(SamplePoint.PACKETS).isZero();
        assertThat(SamplePoint.BYTES).isOne();
    }

    @Test
    void receiveSideScalingConstantsMatchC() throws Exception {
        assertValues(WorkQueueState.class, "RESET", 0, "RDY", 1, "ERR", 2, "UNKNOWN", 3);
        assertValues(WorkQueueType.class, "RQ", 0);
        assertValues(WorkQueueFlags.class, "CVLAN_STRIPPING", 1, "SCATTER_FCS", 2, "DELAY_DROP", 4,
                "PCI_WRITE_END_PADDING", 8);
        assertValues(RxHashFields.class, "SRC_IPV4", 1, "DST_IPV4", 2, "SRC_IPV6", 4, "DST_IPV6", 8, "SRC_PORT_TCP", 16,
                "DST_PORT_TCP", 32, "SRC_PORT_UDP", 64, "DST_PORT_UDP", 128, "IPSEC_SPI", 256, "INNER",
                Integer.MIN_VALUE);
        assertValues(WorkQueueAttributes.class, "STATE", 1, "CURR_STATE", 2, "FLAGS", 4);
    }

    @Test
    void sendAndCompletionConstantsMatchC() throws Exception {
        assertValues(SendFlags.class, "NONE", 0, "FENCE", 1, "SIGNALED", 2, "SOLICITED", 4, "INLINE", 8, "IP_CSUM", 16,
                "DUMMY", 0x400);
        assertValues(WcFlags.class, "GRH", 1, "WITH_IMM", 2, "IP_CSUM_OK", 4, "WITH_INV", 8, "TM_SYNC_REQ", 16,
                "TM_MATCH", 32, "TM_DATA_VALID", 64, "CSUM_PARTIAL", 1 << 16, "CONTINUES", 1 << 17);
        assertValues(CompletionQueueAttributes.class, "WITH_BYTE_LEN", 1, "WITH_IMM", 2, "WITH_QP_NUM", 4,
                "WITH_SRC_QP", 8, "WITH_SLID", 16, "WITH_SL", 32, "WITH_DLID_PATH_BITS", 64,
                "WITH_COMPLETION_TIMESTAMP", 128, "WITH_CVLAN", 256, "WITH_FLOW_TAG", 512, "WITH_TM_INFO", 1024,
                "WITH_COMPLETION_TIMESTAMP_WALLCLOCK", 2048, "STANDARD_FIELDS", 127, "SINGLE_THREADED", 1,
                "IGNORE_OVERRUN", 2, "FLAGS", 1, "PARENT_DOMAIN", 2, "COUNTERS", 1 << 17);
        assertThat(constants(WcStatus.class)).containsEntry("TM_ERR", 22L).containsEntry("TM_RNDV_INCOMPLETE", 23L);
        assertThat(AsyncEventType.DEVICE_SPEED_CHANGE).isEqualTo(20);
        assertThat(CompletionQueueModification.MODERATE).isEqualTo(1);
    }

    @Test
    void deviceConstantsMatchC() throws Exception {
        assertThat(constants(DeviceCapabilityFlags.class)).containsEntry("RESIZE_MAX_WR", 1L)
                .containsEntry("MEM_WINDOW", 1L << 17).containsEntry("XRC", 1L << 20)
                .containsEntry("MANAGED_FLOW_STEERING", 1L << 29).containsEntry("RAW_SCATTER_FCS", 1L << 34);
        for (Map.Entry<String, Long> e : constants(DeviceCapabilityFlags.class).entrySet()) {
            assertThat(DeviceCapabilityFlags.toString(e.getValue())).isEqualTo(e.getKey());
        }
        assertThat(DeviceCapabilityFlags.toString(0)).isEqualTo("0");
        assertThat(DeviceCapabilityFlags.toString(1L << 20 | 1L << 50)).isEqualTo("XRC|0x4000000000000");
        assertValues(RawPacketCapabilities.class, "CVLAN_STRIPPING", 1, "SCATTER_FCS", 2, "IP_CSUM", 4, "DELAY_DROP",
                8);
        assertValues(NodeType.class, "CA", 1, "SWITCH", 2, "ROUTER", 3, "RNIC", 4, "USNIC", 5, "USNIC_UDP", 6,
                "UNSPECIFIED", 7);
    }

    /** Every class of constants prints its own by name, and others as numbers. */
    @Test
    void constantsPrintByName() throws Exception {
        for (Class<?> c : new Class<?>[] {FlowType.class, FlowSpecType.class, FlowField.class, WorkQueueState.class,
            WorkQueueType.class, NodeType.class, SharedReceiveQueueType.class, WcStatus.class, AsyncEventType.class}) {
            for (Map.Entry<String, Long> e : constants(c).entrySet()) {
                assertThat(c.getMethod("toString", int.class).invoke(null, e.getValue().intValue()))
                        .isEqualTo(e.getKey());
            }
            assertThat(c.getMethod("toString", int.class).invoke(null, 4711)).isEqualTo("4711");
        }
    }

    @Test
    void completionFlagsPrintByName() throws Exception {
        for (Map.Entry<String, Long> e : constants(WcFlags.class).entrySet()) {
            assertThat(WcFlags.toString(e.getValue().intValue())).isEqualTo(e.getKey());
        }
        assertThat(WcFlags.toString(WcFlags.GRH | WcFlags.WITH_IMM | 1 << 20)).isEqualTo("GRH|WITH_IMM|0x100000");
    }

    @Test
    void ratesComputeAsInC() throws Exception {
        assertThat(constants(Rate.class)).hasSize(24).containsEntry("MAX", 0L).containsEntry("GBPS_2_5", 2L)
                .containsEntry("GBPS_1200", 24L);
        for (long rate : constants(Rate.class).values()) {
            int r = (int) rate;
            if (r != Rate.MAX) {
                assertThat(Rate.ofMegabits(Rate.toMegabits(r))).isEqualTo(r);
                if (Rate.toMultiplier(r) > 0) {
                    assertThat(Rate.ofMultiplier(Rate.toMultiplier(r))).isEqualTo(r);
                }
            }
        }
        assertThat(Rate.toMegabits(Rate.GBPS_100)).isEqualTo(103_125);
        assertThat(Rate.toMultiplier(Rate.GBPS_40)).isEqualTo(16);
        assertThat(Rate.toMultiplier(Rate.GBPS_100)).isEqualTo(-1);
        assertThat(Rate.toMegabits(99)).isEqualTo(-1);
        assertThat(Rate.ofMegabits(7)).isEqualTo(Rate.MAX);
        assertThat(Rate.ofMultiplier(-1)).isEqualTo(Rate.MAX);
        assertThat(Rate.toString(Rate.GBPS_14)).isEqualTo("14062 Mbit/s");
    }

    @Test
    void udpPortIsDerivedFromTheFlowLabel() {
        assertThat(FlowLabel.toUdpSourcePort(0)).isEqualTo(0xc000);
        assertThat(FlowLabel.toUdpSourcePort(0x3fff)).isEqualTo(0xffff);
        assertThat(FlowLabel.toUdpSourcePort(0xfffff)).isEqualTo(0xc000 | 0x3fff ^ 0x3f);
        assertThat(FlowLabel.toUdpSourcePort(0xabcde)).isEqualTo(0xc000 | 0x3cde ^ 0x2a);
    }
}
