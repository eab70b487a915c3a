// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.DropReason;
import org.verbena.roce.transport.Packet;
import org.verbena.roce.transport.ReceivedPacket;
import org.verbena.testkit.Seeds;

/** Each header: written values are read back, are at the specified offsets, and change nothing else. */
class HeadersTest {
    private static final int ROOM = 64;
    private static final int BEFORE = 8;

    private final MemorySegment memory = Arena.ofAuto().allocate(ROOM, 8);
    /** Not a multiple of 8, like headers after a BTH. */
    private final long at = RawMemory.addressOf(memory) + BEFORE + 4;

    /** Fills the memory with noise, writes, and checks that nothing outside has changed; returns the bytes written. */
    private ByteBuffer written(Random random, int bytes, Runnable write) {
        byte[] noise = new byte[ROOM];
        random.nextBytes(noise);
        memory.copyFrom(MemorySegment.ofArray(noise));
        write.run();
        byte[] after = memory.toArray(ValueLayout.JAVA_BYTE);
        int from = BEFORE + 4;
        for (int i = 0; i < ROOM; i++) {
            if (i < from || i >= from + bytes) {
                assertThat(after[i]).as("byte %s", i).isEqualTo(noise[i]);
            }
        }
        return ByteBuffer.wrap(after, from, bytes).slice().order(ByteOrder.BIG_ENDIAN);
    }

    private static int at24(ByteBuffer b, int i) {
        return b.getInt(i - 1) & 0xffffff;
    }

    @Test
    void bth() {
        Seeds.each(2000, r -> {
            int opcode = r.nextInt(256);
            int pad = r.nextInt(4);
            int destination = r.nextInt(1 << 24);
            int psn = r.nextInt(1 << 24);
            boolean solicited = r.nextBoolean();
            boolean acknowledge = r.nextBoolean();
            ByteBuffer b = written(r, Bth.BYTES, () -> Bth.put(at, opcode, solicited, pad, destination, acknowledge,
                    psn | r.nextInt() << 24));
            assertThat(b.get(0) & 0xff).isEqualTo(opcode).isEqualTo(Bth.opcode(at));
            assertThat(b.get(1) & 0xff).isEqualTo((solicited ? 0x80 : 0) | 0x40 | pad << 4);
            assertThat(b.getShort(2)).isEqualTo((short) 0xffff);
            assertThat(b.get(4)).isZero();
            assertThat(at24(b, 5)).isEqualTo(destination).isEqualTo(Bth.destination(at));
            assertThat(b.get(8) & 0xff).isEqualTo(acknowledge ? 0x80 : 0);
            assertThat(at24(b, 9)).isEqualTo(psn).isEqualTo(Bth.psn(at));
            assertThat(Bth.isSolicited(at)).isEqualTo(solicited);
            assertThat(Bth.isAcknowledgeRequested(at)).isEqualTo(acknowledge);
            assertThat(Bth.pad(at)).isEqualTo(pad);
            assertThat(Bth.version(at)).isZero();
            assertThat(Bth.pkey(at)).isEqualTo(0xffff);
            Bth.setBackwardCongestion(at);
            assertThat(BigEndian.getByte(at + 4)).isEqualTo(0x40);
            assertThat(Bth.destination(at)).isEqualTo(destination);
        });
    }

    /** Random bytes give numbers in range, and no reader writes. */
    @Test
    void randomBytesReadInRange() {
        Seeds.each(2000, r -> written(r, 0, () -> {
            assertThat(Bth.version(at)).isBetween(0, 15);
            assertThat(Bth.pad(at)).isBetween(0, 3);
            assertThat(Bth.pkey(at)).isBetween(0, 0xffff);
            assertThat(Bth.psn(at)).isBetween(0, 0xffffff);
            assertThat(Reth.length(at)).isBetween(0L, 0xffffffffL);
            assertThat(Deth.source(at)).isBetween(0, 0xffffff);
            assertThat(Aeth.syndrome(at)).isBetween(0, 0xff);
            assertThat(Aeth.msn(at)).isBetween(0, 0xffffff);
            assertThat(Aeth.rnrNanos(Aeth.syndrome(at))).isBetween(10_000L, 655_360_000L);
            assertThat(XrcEth.sharedReceiveQueue(at)).isBetween(0, 0xffffff);
            assertThat(Feth.type(at)).isBetween(0, 15);
            assertThat(Feth.level(at)).isBetween(0, 3);
        }));
    }

    @Test
    void reth() {
        Seeds.each(2000, r -> {
            long address = r.nextLong();
            int key = r.nextInt();
            long length = r.nextInt() & 0xffffffffL;
            ByteBuffer b = written(r, Reth.BYTES, () -> Reth.put(at, address, key, length));
            assertThat(b.getLong(0)).isEqualTo(address).isEqualTo(Reth.address(at));
            assertThat(b.getInt(8)).isEqualTo(key).isEqualTo(Reth.rkey(at));
            assertThat(b.getInt(12) & 0xffffffffL).isEqualTo(length).isEqualTo(Reth.length(at));
        });
    }

    @Test
    void atomicEth() {
        Seeds.each(2000, r -> {
            long address = r.nextLong();
            int key = r.nextInt();
            long swap = r.nextLong();
            long compare = r.nextLong();
            ByteBuffer b = written(r, AtomicEth.BYTES, () -> AtomicEth.put(at, address, key, swap, compare));
            assertThat(b.getLong(0)).isEqualTo(address).isEqualTo(AtomicEth.address(at)).isEqualTo(Reth.address(at));
            assertThat(b.getInt(8)).isEqualTo(key).isEqualTo(AtomicEth.rkey(at)).isEqualTo(Reth.rkey(at));
            assertThat(b.getLong(12)).isEqualTo(swap).isEqualTo(AtomicEth.swapOrAdd(at));
            assertThat(b.getLong(20)).isEqualTo(compare).isEqualTo(AtomicEth.compare(at));
        });
    }

    @Test
    void deth() {
        Seeds.each(2000, r -> {
            int key = r.nextInt();
            int source = r.nextInt(1 << 24);
            ByteBuffer b = written(r, Deth.BYTES, () -> Deth.put(at, key, source));
            assertThat(b.getInt(0)).isEqualTo(key).isEqualTo(Deth.qkey(at));
            assertThat(b.get(4)).isZero();
            assertThat(at24(b, 5)).isEqualTo(source).isEqualTo(Deth.source(at));
        });
    }

    @Test
    void aeth() {
        Seeds.each(2000, r -> {
            int syndrome = r.nextInt(256);
            int msn = r.nextInt();
            ByteBuffer b = written(r, Aeth.BYTES, () -> Aeth.put(at, syndrome, msn));
            assertThat(b.get(0) & 0xff).isEqualTo(syndrome).isEqualTo(Aeth.syndrome(at));
            assertThat(at24(b, 1)).isEqualTo(msn & 0xffffff).isEqualTo(Aeth.msn(at));
        });
    }

    /** The table of IBTA volume 1, 9.7.5.2.8, in its milliseconds. */
    @Test
    void rnrTimersMatchTable() {
        String[] milliseconds = ("655.36 0.01 0.02 0.03 0.04 0.06 0.08 0.12 0.16 0.24 0.32 0.48 0.64 0.96 1.28 1.92 2.56 3.84"
                + " 5.12 7.68 10.24 15.36 20.48 30.72 40.96 61.44 81.92 122.88 163.84 245.76 327.68 491.52").split(" ");
        assertThat(milliseconds).hasSize(32);
        for (int code = 0; code < milliseconds.length; code++) {
            assertThat(Aeth.rnrNanos(Aeth.RNR_NAK | code)).as("code %s", code).isEqualTo(new BigDecimal(
                    milliseconds[code]).scaleByPowerOfTen(6).longValueExact());
        }
    }

    @Test
    void xrcEthAndFeth() {
        Seeds.each(500, r -> {
            int queue = r.nextInt(1 << 24);
            ByteBuffer b = written(r, XrcEth.BYTES, () -> XrcEth.put(at, queue));
            assertThat(b.getInt(0)).isEqualTo(queue).isEqualTo(XrcEth.sharedReceiveQueue(at));
            int type = r.nextInt(16);
            int level = r.nextInt(4);
            b = written(r, Feth.BYTES, () -> Feth.put(at, type, level));
            assertThat(b.getInt(0)).isEqualTo(type | level << 4);
            assertThat(Feth.type(at)).isEqualTo(type);
            assertThat(Feth.level(at)).isEqualTo(level);
        });
    }

    @Test
    void psnComparisonWrapsAtHalfTheSpace() {
        Seeds.each(5000, r -> {
            int a = r.nextInt(1 << 24);
            int distance = r.nextInt(1 << 24) - (1 << 23);
            assertThat(Psn.diff(Psn.add(a, distance), a)).isEqualTo(distance);
        });
    }

    /** The headers' lengths according to the specification's table. */
    @Test
    void opcodesHaveHeaderLengthsOfTable() {
        String rc = "12 12 12 16 12 16 28 12 12 16 28 32 28 16 12 16 16 16 24 40 40 0 16 16 0 0 0 0 32 28 0 0";
        int[] lengths = Arrays.stream(rc.split(" ")).mapToInt(Integer::parseInt).toArray();
        for (int op = 0; op < 32; op++) {
            assertThat(PacketOpcode.headers(op)).as("RC %x", op).isEqualTo(lengths[op]);
            boolean response = op >= 0x0d && op <= 0x12;
            assertThat(PacketOpcode.headers(0xa0 | op)).as("XRC %x", op).isEqualTo(lengths[op] == 0 || response
                    ? lengths[op]
                    : lengths[op] + 4);
            assertThat(PacketOpcode.headers(0x20 | op)).as("UC %x", op).isEqualTo(op < 0x0c ? lengths[op] : 0);
            assertThat(PacketOpcode.headers(0x60 | op)).as("UD %x", op).isEqualTo(op == 4 ? 20 : op == 5 ? 24 : 0);
            assertThat(PacketOpcode.headers(0x40 | op)).as("RD %x", op).isZero();
            assertThat(PacketOpcode.headers(0xc0 | op)).isZero();
            assertThat(PacketOpcode.headers(0xe0 | op)).isZero();
            assertThat(PacketOpcode.headers(0x80 | op)).isEqualTo(op == 1 ? 28 : 0);
        }
    }

    /** The first 12 bytes of the test vectors of the ICRC. */
    @Test
    void packetsOfOtherImplementationsParse() {
        byte[] send = HexFormat.of().parseHex("0440ffff0000001180123456");
        memory.asSlice(BEFORE + 4, 12).copyFrom(MemorySegment.ofArray(send));
        assertThat(Bth.opcode(at)).isEqualTo(PacketOpcode.SEND_ONLY);
        assertThat(Bth.destination(at)).isEqualTo(0x11);
        assertThat(Bth.isAcknowledgeRequested(at)).isTrue();
        assertThat(Bth.psn(at)).isEqualTo(0x123456);
        Bth.put(at, PacketOpcode.SEND_ONLY, false, 0, 0x11, true, 0x123456);
        assertThat(memory.asSlice(BEFORE + 4, 12).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(send);
    }

    /** Parsing a packet reads no byte after its end, whatever its headers are. */
    @Test
    void truncatedPacketsAreDropped() {
        Packet p = new Packet();
        ReceivedPacket raw = new ReceivedPacket();
        MemorySegment m = Arena.ofAuto().allocate(256, 8);
        Seeds.each(20_000, r -> {
            byte[] noise = new byte[256];
            r.nextBytes(noise);
            noise[1] &= (byte) 0xf0;
            noise[2] = (byte) 0xff;
            noise[3] = (byte) 0xff;
            m.copyFrom(MemorySegment.ofArray(noise));
            raw.address = RawMemory.addressOf(m);
            raw.length = r.nextInt(80);
            DropReason bad = p.parse(raw);
            if (bad == null) {
                assertThat(p.length).isNotNegative();
                assertThat(p.payload + p.length + Bth.pad(raw.address)).isEqualTo(raw.address + raw.length);
                assertThat(p.extended).isLessThanOrEqualTo(p.payload);
                assertThat(p.payload).isGreaterThanOrEqualTo(raw.address + PacketOpcode.headers(p.opcode));
            }
        });
    }
}
