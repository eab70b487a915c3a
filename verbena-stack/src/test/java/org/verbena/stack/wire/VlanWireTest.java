// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;

final class VlanWireTest {
    private static final int ID = 0x105;

    private static byte[] frame(int bytes) {
        byte[] f = new byte[bytes];
        new Random(bytes).nextBytes(f);
        Bytes.put16(MemorySegment.ofArray(f), 12, EthernetHeader.IPV4);
        return f;
    }

    /** With a tag behind the addresses. */
    private static byte[] tagged(byte[] f, int control) {
        byte[] t = new byte[f.length + 4];
        System.arraycopy(f, 0, t, 0, 12);
        Bytes.put16(MemorySegment.ofArray(t), 12, 0x8100);
        Bytes.put16(MemorySegment.ofArray(t), 14, control);
        System.arraycopy(f, 12, t, 16, f.length - 12);
        return t;
    }

    private static byte[] received(VlanWire w) throws Exception {
        ReceivedFrame f = Objects.requireNonNull(w.receive());
        byte[] b = new byte[f.bytes()];
        f.copyTo(0, MemorySegment.ofArray(b), 0, b.length);
        assertThat(f.memory().asSlice(f.at(), f.first()).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(Arrays.copyOf(b, f
                .first()));
        f.release();
        return b;
    }

    @ParameterizedTest
    @ValueSource(ints = {80, 200, 4096})
    void theTagOfItsLanIsTakenOut(int part) throws Exception {
        FakeWire fake = new FakeWire(1500, 4, part);
        VlanWire w = new VlanWire(fake, ID);
        for (int bytes : new int[] {14, 15, 56, 60, 200, 1514}) {
            for (int priority : new int[] {0, 0xe000, 0x1000}) {
                fake.put(tagged(frame(bytes), ID | priority));
                assertThat(received(w)).isEqualTo(frame(bytes));
            }
        }
        assertThat(w.receive()).isNull();
    }

    @Test
    void othersAreOfNoProtocolThatIsKnown() throws Exception {
        FakeWire fake = new FakeWire(1500, 4, 4096);
        VlanWire w = new VlanWire(fake, ID);
        byte[] f = frame(60);
        for (byte[] other : new byte[][] {f, tagged(f, 0), tagged(f, ID + 1), tagged(f, 0x205), tagged(f, 0xffff),
            tagged(tagged(f, ID), ID)}) {
            fake.put(other);
            assertThat(EthernetHeader.type(MemorySegment.ofArray(received(w)), 0)).isEqualTo(0x8100);
        }
        fake.put(Arrays.copyOf(tagged(f, ID), 17));
        assertThat(received(w)).hasSize(17);
    }

    @Test
    void whatIsSentHasTheTag() throws Exception {
        FakeWire fake = new FakeWire(1500, 4, 4096);
        VlanWire w = new VlanWire(fake, ID);
        for (int i = 0; i < 20; i++) { // buffers are used again
            byte[] f = frame(i == 0 ? 1514 : 60 + i);
            SendFrame s = Objects.requireNonNull(w.acquire());
            MemorySegment.copy(f, 0, s.memory(), ValueLayout.JAVA_BYTE, s.at(), f.length);
            w.send(s, f.length);
            assertThat(fake.takeSent()).containsExactly(tagged(f, ID));
        }
        SendFrame s = Objects.requireNonNull(w.acquire());
        w.giveBack(s);
        assertThat(fake.held()).isZero();
    }
}
