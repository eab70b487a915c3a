// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;

/** The bytes of what is in the maps, which other processes read. */
class LayoutTest {
    private static final HexFormat HEX = HexFormat.of();

    @Test
    void entriesHaveTheirBytes() {
        FlowEntry entry = new FlowEntry(FlowAction.REDIRECT, 0x1234, 0x55667788, 0xfe);
        assertThat(HEX.formatHex(entry.bytes())).isEqualTo("02fe3412" + "88776655");
        assertThat(FlowEntry.of(entry.bytes())).isEqualTo(entry);
        assertThatThrownBy(() -> new FlowEntry(FlowAction.DROP, 1, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new FlowEntry(FlowAction.REDIRECT, 0x10000, 0, 0)).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> new FlowEntry(FlowAction.DROP, 0, -1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new FlowEntry(FlowAction.DROP, 0, 0, 256)).isInstanceOf(
                IllegalArgumentException.class);
    }

    @Test
    void countsAreSummedOverProcessors() {
        byte[] values = HEX.parseHex("01000000000000000a000000000000000200000000000080" + "0b00000000000000");
        assertThat(FlowCount.sum(values)).isEqualTo(new FlowCount(3 + Long.MIN_VALUE, 21));
    }

    @Test
    void masksAreInTheListThatIsInUse() {
        MaskList.Mask one = new MaskList.Mask(FlowKey.EMPTY.or(FlowKey.PROTOCOL, 0xff), 63, (1L << 48) - 1);
        MaskList.Mask two = new MaskList.Mask(FlowKey.EMPTY, 0, 0x010203040506L);
        MaskList empty = MaskList.empty(3).withLink(0x11223344);
        assertThat(empty.listed()).isEmpty();
        assertThat(empty.bytes()).hasSize(2368);
        MaskList prepared = empty.prepared(List.of(one, two));
        assertThat(prepared.listed()).as("not yet").isEmpty();
        MaskList listed = prepared.switched(2);
        assertThat(listed.listed()).containsExactly(one, two);
        MaskList used = listed.counted(0, 7);
        assertThat(used.masks()).containsExactly(one, two);
        assertThat(used.users(0)).isEqualTo(7);
        assertThat(HEX.formatHex(used.bytes(), 0, 20)).isEqualTo("0102000003000000" + "0200000003000000" + "44332211");
        assertThat(HEX.formatHex(used.bytes(), 1088 + 64 + 56, 1088 + 64 + 64)).isEqualTo("0000060504030201");
        assertThat(HEX.formatHex(used.bytes(), 2112, 2120)).isEqualTo("0700000000000000");
        assertThat(MaskList.of(used.bytes()).masks()).isEqualTo(used.masks());
        assertThat(used.counted(0, 0).counted(63, 1).masks()).containsExactly(one);
        assertThat(used.counted(0, 0).masks()).isEmpty();
        assertThat(used.counted(0, 0).listed()).as("at hand").containsExactly(one, two);
        assertThat(used.link()).isEqualTo(0x11223344);
        assertThat(used.queues()).isEqualTo(3);
        List<MaskList.Mask> most = new ArrayList<>();
        for (int i = 0; i < MaskList.MAX; i++) {
            most.add(new MaskList.Mask(FlowKey.EMPTY, i, i));
        }
        assertThat(used.prepared(most).switched(MaskList.MAX).counted(15, 1).masks()).isEqualTo(most);
        for (int[] wrong : new int[][] {{0, 17 << 8}, {0, 3 << 8}, {4, MaskList.LAYOUT + 1}, {8, 17}, {12, 0}, {64
                + 1024 + 56, 64}}) {
            byte[] bytes = used.bytes();
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(wrong[0], wrong[1]);
            assertThatThrownBy(() -> MaskList.of(bytes)).as("%d", wrong[0]).isInstanceOf(
                    IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> MaskList.of(new byte[2368])).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("layout");
        assertThatThrownBy(() -> FlowKey.of(new byte[55])).isInstanceOf(IllegalArgumentException.class);
    }

    /** As the documentation has it: a key of ones adds ones for each bit, and nothing is added for a field not chosen. */
    @Test
    void spreadHasTargetsAndTables() {
        byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
        Arrays.fill(key, (byte) -1);
        byte[] b = new Spread(RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, key, RxHashFields.DST_IPV4
                | RxHashFields.SRC_PORT_UDP), List.of(0x102, 3)).bytes();
        assertThat(b).hasSize(7688);
        assertThat(HEX.formatHex(b, 0, 14)).isEqualTo("0100000000000000" + "02010300" + "0000");
        assertThat(HEX.formatHex(b, 520, 1032)).as("source's address").matches("0+");
        assertThat(HEX.formatHex(b, 1032, 1048)).as("destination's").isEqualTo("00000000ffffffffffffffff00000000");
        assertThat(HEX.formatHex(b, 1544, 6152)).as("IPv6, TCP over IPv4").matches("0+");
        assertThat(HEX.formatHex(b, 6152, 6160)).as("UDP over IPv4").isEqualTo("00000000ffffffff");
    }
}
