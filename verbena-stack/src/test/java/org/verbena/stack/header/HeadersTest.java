// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.InternetChecksum;
import org.verbena.testkit.Seeds;

final class HeadersTest {
    private static final int A = 0x0a00_0001;
    private static final int B = 0x0a00_0002;

    @Test
    void checksumsAreThoseOfThePlainestForm() {
        Seeds.each(500, r -> {
            byte[] b = new byte[r.nextInt(3000)];
            r.nextBytes(b);
            MemorySegment m = MemorySegment.ofArray(b);
            int at = b.length == 0 ? 0 : r.nextInt(b.length);
            int length = b.length - at;
            long sum = InternetChecksum.sum(ByteBuffer.wrap(b), at, length);
            assertThat(Checksum.of(m, at, length)).isEqualTo(~InternetChecksum.fold(sum) & 0xffff);
            int source = r.nextInt();
            int destination = r.nextInt();
            long pseudo = (source >>> 16) + (source & 0xffff) + (destination >>> 16) + (destination & 0xffff) + 17L
                    + length;
            assertThat(Checksum.of(m, at, length, Checksum.sumOf(source) + Checksum.sumOf(destination), 17)).isEqualTo(
                    ~InternetChecksum.fold(sum
                            + pseudo) & 0xffff);
        });
    }

    @Test
    void whatIsWrittenIsRead() {
        Seeds.each(200, r -> {
            MemorySegment m = MemorySegment.ofArray(new byte[100]);
            EthernetHeader e = new EthernetHeader(r.nextLong(1L << 48), r.nextLong(1L << 48), r.nextInt(1 << 16));
            EthernetHeader.write(m, 3, e.destination(), e.source(), e.type());
            assertThat(EthernetHeader.of(m, 3)).isEqualTo(e);
            ArpPacket a = new ArpPacket(1 + r.nextInt(2), r.nextLong(1L << 48), r.nextInt(), r.nextLong(1L << 48), r
                    .nextInt());
            ArpPacket.write(m, 5, a.operation(), a.senderMac(), a.sender(), a.targetMac(), a.target());
            assertThat(ArpPacket.isValid(m, 5, 28)).isTrue();
            assertThat(ArpPacket.of(m, 5)).isEqualTo(a);
            Ipv4Header i = new Ipv4Header(20, 20 + r.nextInt(65_516), r.nextInt(1 << 16), r.nextBoolean(), 8 * r
                    .nextInt(1 << 13),
                    r.nextInt(256), r.nextInt(256), r.nextInt(), r.nextInt());
            Ipv4Header.write(m, 1, i.totalBytes(), i.identification(), i.offset() / 8 | (i.moreFragments()
                    ? Ipv4Header.MORE_FRAGMENTS
                    : 0),
                    i.ttl(), i.protocol(), i.source(), i.destination());
            assertThat(Ipv4Header.check(m, 1, i.totalBytes())).isEqualTo(20);
            assertThat(Ipv4Header.of(m, 1)).isEqualTo(i);
            assertThat(Ipv4Header.check(m, 1, i.totalBytes() - 1)).isZero();
            UdpHeader u = new UdpHeader(r.nextInt(1 << 16), r.nextInt(1 << 16), 8 + r.nextInt(80));
            UdpHeader.write(m, 7, u.source(), u.destination(), u.length(), Checksum.sumOf(A) + Checksum.sumOf(B));
            assertThat(UdpHeader.isValid(m, 7, 93)).isTrue();
            assertThat(UdpHeader.of(m, 7)).isEqualTo(u);
            assertThat(UdpHeader.isIntact(m, 7, Checksum.sumOf(A) + Checksum.sumOf(B))).isTrue();
            assertThat(UdpHeader.isIntact(m, 7, Checksum.sumOf(A) + Checksum.sumOf(B + 1))).isFalse();
            assertThat(UdpHeader.isValid(m, 7, u.length() - 1)).isFalse();
        });
    }

    @Test
    void aBitThatIsWrongInAHeaderIsFound() {
        for (int bit = 0; bit < 160; bit++) {
            byte[] b = new byte[60];
            MemorySegment m = MemorySegment.ofArray(b);
            Ipv4Header.write(m, 0, 60, 1, 0, 64, 17, A, B);
            b[bit / 8] ^= (byte) (1 << bit % 8);
            assertThat(Ipv4Header.check(m, 0, 60)).as("bit %d", bit).isZero();
        }
    }

    private static boolean areAcceptable(int... options) {
        byte[] b = new byte[20 + options.length];
        for (int i = 0; i < options.length; i++) {
            b[20 + i] = (byte) options[i];
        }
        b[0] = (byte) (0x40 + b.length / 4);
        return Ipv4Header.areOptionsAcceptable(MemorySegment.ofArray(b), 0);
    }

    @Test
    void optionsAreWalkedAndSourceRoutesRefused() {
        assertThat(areAcceptable(1, 1, 1, 0)).isTrue();
        assertThat(areAcceptable(148, 4, 0, 0)).as("router alert").isTrue();
        assertThat(areAcceptable(0, 131, 3, 4)).as("behind the end").isTrue();
        assertThat(areAcceptable(1, 131, 3, 4)).as("loose source route").isFalse();
        assertThat(areAcceptable(137, 3, 4, 0)).as("strict source route").isFalse();
        assertThat(areAcceptable(148, 5, 0, 0)).as("longer than the header").isFalse();
        assertThat(areAcceptable(148, 1, 0, 0)).as("shorter than an option").isFalse();
        assertThat(areAcceptable(148, 0, 0, 0)).isFalse();
        assertThat(areAcceptable(1, 1, 1, 7)).as("without a length").isFalse();
    }
}
