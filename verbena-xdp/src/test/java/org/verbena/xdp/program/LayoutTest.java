// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import org.junit.jupiter.api.Test;

/** The bytes of what is in the maps, which other processes read. */
class LayoutTest {
    private static final HexFormat HEX = HexFormat.of();

    @Test
    void entriesHaveTheirBytes() {
        FlowEntry entry = new FlowEntry(FlowAction.REDIRECT, 0x1234, 0x55667788, 0x0102030405060708L);
        assertThat(HEX.formatHex(entry.bytes())).isEqualTo("02003412" + "88776655" + "0807060504030201");
        assertThat(FlowEntry.of(entry.bytes())).isEqualTo(entry);
        assertThatThrownBy(() -> new FlowEntry(FlowAction.DROP, 1, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new FlowEntry(FlowAction.REDIRECT, 0x10000, 0, 0)).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> new FlowEntry(FlowAction.DROP, 0, -1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void countsAreSummedOverProcessors() {
        byte[] values = HEX.parseHex("01000000000000000a000000000000000200000000000080" + "0b00000000000000");
        assertThat(FlowCount.sum(values)).isEqualTo(new FlowCount(3 + Long.MIN_VALUE, 21));
    }

    @Test
    void masksAreInTheListThatIsInUse() {
        MaskList.Mask one = new MaskList.Mask(FlowKey.EMPTY.or(FlowKey.PROTOCOL, 0xff), 200, (1L << 48) - 1);
        MaskList.Mask two = new MaskList.Mask(FlowKey.EMPTY, 0, 0x010203040506L);
        MaskList empty = MaskList.empty();
        assertThat(empty.masks()).isEmpty();
        assertThat(empty.bytes()).hasSize(2112);
        MaskList prepared = empty.prepared(List.of(one, two));
        assertThat(prepared.masks()).as("not yet").isEmpty();
        MaskList used = prepared.switched(2);
        assertThat(used.masks()).containsExactly(one, two);
        assertThat(HEX.formatHex(used.bytes(), 0, 8)).isEqualTo("0102000001000000");
        assertThat(HEX.formatHex(used.bytes(), 1088 + 64 + 56, 1088 + 64 + 64)).isEqualTo("0000060504030201");
        assertThat(MaskList.of(used.bytes()).masks()).isEqualTo(used.masks());
        assertThat(used.shortened(1).masks()).containsExactly(one);
        List<MaskList.Mask> most = new ArrayList<>();
        for (int i = 0; i < MaskList.MAX; i++) {
            most.add(new MaskList.Mask(FlowKey.EMPTY, i, i));
        }
        assertThat(used.prepared(most).switched(MaskList.MAX).masks()).isEqualTo(most);
        assertThatThrownBy(() -> MaskList.of(new byte[2112])).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("layout");
        assertThatThrownBy(() -> FlowKey.of(new byte[55])).isInstanceOf(IllegalArgumentException.class);
    }
}
