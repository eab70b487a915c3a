// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of packets, byte by byte. */
class PcapFileTest {
    @TempDir Path folder;

    @Test
    void headerIsThatOfLibpcapWithNanoseconds() throws Exception {
        Path path = folder.resolve("empty.pcap");
        Files.writeString(path, "what was there before".repeat(10));
        PcapFile.create(path, 4096).close();
        ByteBuffer b = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(b.remaining()).isEqualTo(24);
        assertThat(b.getInt()).isEqualTo(0xa1b23c4d);
        assertThat(b.getShort()).isEqualTo((short) 2);
        assertThat(b.getShort()).isEqualTo((short) 4);
        assertThat(b.getLong()).isZero();
        assertThat(b.getInt()).isEqualTo(4096);
        assertThat(b.getInt()).isOne();
    }

    /** Random packets, many times what the buffer holds; the file is read back. */
    @Test
    void packetsAreThereWithTheirTags() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Path path = folder.resolve("packets.pcap");
        ByteBuffer expected = ByteBuffer.allocate(64 << 20).order(ByteOrder.LITTLE_ENDIAN);
        try (PcapFile file = PcapFile.create(path, 1 << 18)) {
            for (int i = 0; i < 900; i++) {
                byte[] packet = new byte[random.nextInt(12, random.nextInt(10) == 0 ? 65_550 : 1500)];
                random.nextBytes(packet);
                int length = packet.length + random.nextInt(3);
                int tag = random.nextBoolean() ? 0 : 0x81000000 | random.nextInt(1 << 16);
                int more = tag == 0 ? 0 : 4;
                file.packet(4_000_000_000L, i, tag, length, MemorySegment.ofArray(packet).asReadOnly());
                expected.putInt((int) 4_000_000_000L).putInt(i).putInt(packet.length + more).putInt(length + more);
                expected.put(packet, 0, 12);
                if (tag != 0) {
                    expected.order(ByteOrder.BIG_ENDIAN).putInt(tag).order(ByteOrder.LITTLE_ENDIAN);
                }
                expected.put(packet, 12, packet.length - 12);
                if (random.nextInt(100) == 0) {
                    file.flush();
                }
            }
            assertThat(file.packets()).isEqualTo(900);
        }
        byte[] all = Files.readAllBytes(path);
        assertThat(Arrays.copyOfRange(all, 24, all.length)).as("seed " + seed).isEqualTo(Arrays.copyOf(expected.array(),
                expected.position()));
    }

    @Test
    void fileThatCannotBeWrittenIsNamed() {
        Path nowhere = folder.resolve("no/such.pcap");
        assertThatThrownBy(() -> PcapFile.create(nowhere, 1)).isInstanceOf(IOException.class).hasMessageContaining(
                "packets cannot be written to " + nowhere);
    }
}
