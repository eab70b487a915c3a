// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The invariant CRC, against packets of other implementations and against the definition, bit by bit. */
class IcrcTest {
    private static final int AT = 64;
    private final MemorySegment area = Arena.ofAuto().allocate(AT + 5000, 8);
    private final Icrc icrc = new Icrc(area);
    private final Identification identification = new Identification(5000);

    @ParameterizedTest
    @CsvSource(textBlock = """
            # scapy's test of a SEND over UC; its CNP, which a ConnectX-4 Lx sent; one of each family made by hand
            45010040047840004011b4d5c0a80007c0a80007c00012b7002caca2, 2460ffff000000d300cf17104630818be28935d90e9a95505401be885e500000, 78f353f3
            45c2003c718c4000401191610a0011010a001201000012b700280000, 8100ffff400001180000000000000000000000000000000000000000, 82fd002a
            4500004000004000401126ab0a0000010a000002c00012b7002c0000, 0440ffff000000118012345668656c6c6f2c20526f4345763220696372632121, 189cb9df
            60000000001c1140fe80000000000000021122fffe334455fe80000000000000021122fffe334466c00112b7001c0000, 1140ffff00000012001234561f000001, dc568b26
            """)
    void vectors(String headers, String packet, String expected) {
        byte[] ip = HexFormat.of().parseHex(headers);
        byte[] bytes = HexFormat.of().parseHex(packet);
        int onWire = ByteBuffer.wrap(HexFormat.of().parseHex(expected)).order(ByteOrder.LITTLE_ENDIAN)
                .getInt();
        int headerBytes = pseudoHeader(ip, bytes, true);
        byte[] before = packet(bytes.length);

        assertThat(icrc.of(AT, bytes.length, headerBytes)).isEqualTo(onWire);
        assertThat(packet(bytes.length)).as("the packet is unchanged").isEqualTo(before);
        assertThat(reference(ip, bytes)).isEqualTo(onWire);

        if (ip[0] == 0x45) { // the receiver does not see the identification, and solves for it
            pseudoHeader(ip, bytes, false);
            int difference = onWire ^ icrc.of(AT, bytes.length, headerBytes);
            assertThat(identification.solve(difference, bytes.length)).isEqualTo(ByteBuffer.wrap(ip).getShort(4)
                    & 0xFFFF);
        }
    }

    @Test
    void randomPacketsMatchReference() {
        Random random = new Random(4791);
        for (int round = 0; round < 2000; round++) {
            byte[] ip = new byte[random.nextBoolean() ? 28 : 48];
            random.nextBytes(ip);
            byte[] bytes = new byte[12 + random.nextInt(round % 50 == 0 ? 4900 : 300)];
            random.nextBytes(bytes);
            fixHeaders(ip, bytes.length + Icrc.BYTES);
            int headerBytes = pseudoHeader(ip, bytes, true);
            assertThat(icrc.of(AT, bytes.length, headerBytes)).isEqualTo(reference(ip, bytes));
        }
    }

    @Test
    void everyIdentificationIsSolved() {
        byte[] ip = new byte[28];
        byte[] bytes = new byte[1000];
        new Random(1).nextBytes(bytes);
        fixHeaders(ip, bytes.length + Icrc.BYTES);
        pseudoHeader(ip, bytes, false);
        int zero = icrc.of(AT, bytes.length, PseudoHeader.BYTES_4);
        for (int id = 0; id <= 0xFFFF; id++) {
            ByteBuffer.wrap(ip).putShort(4, (short) id);
            pseudoHeader(ip, bytes, true);
            int onWire = icrc.of(AT, bytes.length, PseudoHeader.BYTES_4);
            assertThat(identification.solve(onWire ^ zero, bytes.length)).isEqualTo(id);
        }
    }

    @Test
    void damageWithUnknownIdentificationIsDetected() {
        Random random = new Random(2);
        byte[] ip = new byte[28];
        int accepted = 0;
        int rounds = 200_000;
        byte[] bytes = new byte[200];
        random.nextBytes(bytes);
        fixHeaders(ip, bytes.length + Icrc.BYTES);
        pseudoHeader(ip, bytes, false);
        int zero = icrc.of(AT, bytes.length, PseudoHeader.BYTES_4);
        for (int i = 0; i < rounds; i++) {
            if (identification.solve(zero ^ random.nextInt(), bytes.length) != Identification.NONE) {
                accepted++;
            }
        }
        assertThat(accepted).as("of %d random CRCs, one in 65536 passes", rounds).isBetween(0, 15);
        // a burst of up to 16 bits is always detected, and passes as an identification only by chance
        int unseen = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = bytes.clone();
            int at = random.nextInt(damaged.length * 8 - 16);
            int burst = 1 + random.nextInt(0xFFFF);
            for (int bit = 0; bit < 16; bit++) {
                if ((burst >>> bit & 1) != 0) {
                    damaged[(at + bit) / 8] ^= (byte) (1 << (at + bit) % 8);
                }
            }
            damaged[4] = bytes[4]; // counts as ones
            if (!Arrays.equals(damaged, bytes)) {
                pseudoHeader(ip, damaged, false);
                int difference = zero ^ icrc.of(AT, bytes.length, PseudoHeader.BYTES_4);
                assertThat(difference).isNotZero();
                unseen += identification.solve(difference, bytes.length) == Identification.NONE ? 0 : 1;
            }
        }
        assertThat(unseen).as("of 20000 bursts, one in 65536 passes").isBetween(0, 4);
    }

    @Test
    void rangeOutsideAreaIsRejected() {
        assertThatThrownBy(() -> icrc.of(AT, 11, 36)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> icrc.of(AT, 5001, 36)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> icrc.of(35, 12, 36)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> icrc.of(AT, Integer.MAX_VALUE, 36)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Writes packet and pseudo header to the area, and returns the latter's length. */
    private int pseudoHeader(byte[] ip, byte[] packet, boolean withIdentification) {
        area.fill((byte) 0x5A);
        MemorySegment.copy(packet, 0, area, ValueLayout.JAVA_BYTE, AT, packet.length);
        ByteBuffer b = ByteBuffer.wrap(ip);
        long end = area.address() + AT;
        int length = packet.length + Icrc.BYTES;
        if (ip.length == 28) {
            PseudoHeader.put4(end, b.getInt(12), b.getInt(16), b.getShort(20) & 0xFFFF, b.getShort(22) & 0xFFFF, length,
                    withIdentification ? b.getShort(4) & 0xFFFF : 0);
            return PseudoHeader.BYTES_4;
        }
        PseudoHeader.put6(end, b.getLong(8), b.getLong(16), b.getLong(24), b.getLong(32), b.getShort(40) & 0xFFFF, b
                .getShort(42) & 0xFFFF, length);
        return PseudoHeader.BYTES_6;
    }

    private byte[] packet(int length) {
        return area.asSlice(AT, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Lengths, protocol and version as in any such packet; the rest is random. */
    private static void fixHeaders(byte[] ip, int length) {
        ByteBuffer b = ByteBuffer.wrap(ip);
        boolean four = ip.length == 28;
        if (four) {
            b.put(0, (byte) 0x45).putShort(2, (short) (28 + length)).putShort(6, (short) 0x4000).put(9, (byte) 17);
        } else {
            b.put(0, (byte) (0x60 | ip[0] & 0xF)).putShort(4, (short) (8 + length)).put(6, (byte) 17);
        }
        b.putShort(four ? 24 : 44, (short) (8 + length));
    }

    private static int reference(byte[] ip, byte[] packet) {
        byte[] all = Arrays.copyOf(ip, ip.length + packet.length);
        System.arraycopy(packet, 0, all, ip.length, packet.length);
        return IcrcReference.of(all);
    }
}
