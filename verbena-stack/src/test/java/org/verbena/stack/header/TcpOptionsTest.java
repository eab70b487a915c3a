// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

/** Options as they should be, and as they should not. */
final class TcpOptionsTest {
    private static TcpOptions read(int... options) {
        byte[] b = new byte[TcpHeader.BYTES + options.length + 8];
        for (int i = 0; i < options.length; i++) {
            b[TcpHeader.BYTES + i] = (byte) options[i];
        }
        for (int i = TcpHeader.BYTES + options.length; i < b.length; i++) {
            b[i] = 1; // no option begins here
        }
        TcpOptions o = new TcpOptions();
        o.read(MemorySegment.ofArray(b), 0, TcpHeader.BYTES + options.length);
        return o;
    }

    private static void isEmpty(TcpOptions o) {
        assertThat(o.maximumSegmentSize()).isZero();
        assertThat(o.windowScale()).isEqualTo(-1);
        assertThat(o.isSackPermitted()).isFalse();
        assertThat(o.hasTimestamps()).isFalse();
        assertThat(o.isSigned()).isFalse();
        assertThat(o.blocks()).isZero();
    }

    @Test
    void readsThoseOfASyn() {
        TcpOptions o = read(2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7);
        assertThat(o.maximumSegmentSize()).isEqualTo(1460);
        assertThat(o.isSackPermitted()).isTrue();
        assertThat(o.timestamp()).isEqualTo(1);
        assertThat(o.echo()).isEqualTo(2);
        assertThat(o.windowScale()).isEqualTo(7);
        isEmpty(read());
    }

    @Test
    void aLengthThatIsWrongEndsTheReading() {
        isEmpty(read(2));
        isEmpty(read(2, 4));
        isEmpty(read(2, 4, 5));
        isEmpty(read(2, 0, 4, 2));
        isEmpty(read(2, 1, 4, 2));
        isEmpty(read(2, 255, 4, 2));
        isEmpty(read(77, 3, 4, 2));
        isEmpty(read(0, 4, 2, 0)); // behind the end
        assertThat(read(1, 1, 4, 2, 2).isSackPermitted()).isTrue();
    }

    @Test
    void anOptionOfAnotherLengthIsIgnored() {
        isEmpty(read(2, 3, 5, 2, 5, 1, 1, 1, 2, 2));
        isEmpty(read(3, 2, 3, 4, 7, 7));
        isEmpty(read(4, 3, 1));
        isEmpty(read(8, 9, 1, 2, 3, 4, 5, 6, 7));
        isEmpty(read(8, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9));
        isEmpty(read(5, 2));
        isEmpty(read(5, 9, 1, 2, 3, 4, 5, 6, 7));
        assertThat(read(9, 4, 7, 7, 4, 2).isSackPermitted()).as("others are skipped").isTrue();
        assertThat(read(3, 3, 255).windowScale()).isEqualTo(14);
        assertThat(read(29, 4, 1, 1).isSigned()).isTrue();
        assertThat(read(5, 14, 0, 0, 0, 1, 0, 0, 0, 2, 9, 9, 9, 9).blocks()).isEqualTo(1);
    }

    @Test
    void blocksAreAsManyAsFit() {
        int[] b = new int[34];
        b[0] = 5;
        b[1] = 34;
        for (int i = 0; i < 8; i++) {
            b[2 + 4 * i + 3] = i + 1;
        }
        TcpOptions o = read(b);
        assertThat(o.blocks()).isEqualTo(4);
        for (int i = 0; i < 4; i++) {
            assertThat(o.left(i)).isEqualTo(2 * i + 1);
            assertThat(o.right(i)).isEqualTo(2 * i + 2);
        }
        isEmpty(read(5, 34, 0, 0, 0, 1, 0, 0, 0, 2));
    }

    @Test
    void anythingMayCome() {
        Seeds.each(2000, r -> {
            int[] b = new int[r.nextInt(41)];
            for (int i = 0; i < b.length; i++) {
                b[i] = r.nextInt(3) == 0 ? r.nextInt(256) : r.nextInt(12);
            }
            TcpOptions o = read(b);
            assertThat(o.blocks()).isBetween(0, 4);
            assertThat(o.windowScale()).isBetween(-1, 14);
            assertThat(o.maximumSegmentSize()).isBetween(0, 0xffff);
        });
    }
}
