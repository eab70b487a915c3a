// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.linux.Errno;
import org.verbena.roce.transport.Path;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/** The wire over a network, between namespaces that exist only for the test: the packets that are really sent. */
class VethTest {
    private static final int FRAME_MTU = 1024;

    @ParameterizedTest
    @CsvSource({"0, false, 64", "1, false, 64", "0, true, 1", "1, true, 1", "0, true, 64", "1, true, 64"})
    void packetsOnVethMatchSpecification(int gidIndex, boolean segmenting, int mostSegments)
            throws Exception {
        VethWires.with(segmenting, mostSegments, (a, b, capture) -> {
            Gid from = a.addresses().get(gidIndex).gid();
            Gid to = b.addresses().get(gidIndex).gid();
            Path path = a.path(from, gidIndex, to, 0x28, 0, 33);
            assertThat(a.mtu()).isEqualTo(FRAME_MTU);
            List<String> sent = new ArrayList<>();
            Random random = new Random(gidIndex);
            capture.packets();
            for (int i = 0; i < 40; i++) {
                byte[] bytes = new byte[i % 20 == 19 ? 16 : 12 + FRAME_MTU];
                random.nextBytes(bytes);
                sent.add(UdpWireTest.hex(bytes));
                UdpWireTest.send(a, path, 2, bytes);
            }
            a.flush();
            assertThat(UdpWireTest.receive(b, 40)).isEqualTo(sent);
            assertThat(b.counts().icrcErrors).isZero();

            List<byte[]> seen = capture.packets();
            if (segmenting && mostSegments > 1) {
                assertThat(seen).as("they stay one segmented message").hasSize(2);
                return;
            }
            assertThat(seen).hasSize(40);
            for (int i = 0; i < seen.size(); i++) {
                byte[] ip = seen.get(i);
                byte[] withoutCrc = Arrays.copyOf(ip, ip.length - 4);
                assertThat(ByteBuffer.wrap(ip).order(ByteOrder.LITTLE_ENDIAN).getInt(ip.length - 4)).as("CRC of %s", i)
                        .isEqualTo(IcrcReference.of(withoutCrc));
                ByteBuffer header = ByteBuffer.wrap(ip);
                if (gidIndex == 0) {
                    assertThat(header.getShort(4)).as("identification").isEqualTo((short) (segmenting ? i % 20 : 0));
                    assertThat(header.getShort(6)).as("DF, no fragment").isEqualTo((short) 0x4000);
                    assertThat(header.get(1)).as("class with ECT(0)").isEqualTo((byte) 0x2A);
                    assertThat(header.get(8)).as("time to live").isEqualTo((byte) 33);
                } else {
                    assertThat(header.getInt(0) >>> 20).as("class with ECT(0)").isEqualTo(0x62A);
                    assertThat(header.get(7)).as("hop limit").isEqualTo((byte) 33);
                }
            }
        });
    }

    @Test
    void unreachableNetworkThrows() throws Exception {
        VethWires.with(false, 64, (a, b, capture) -> {
            Gid from = a.addresses().getFirst().gid();
            assertThatThrownBy(() -> a.path(from, 0, Gid.parse("::ffff:10.99.1.1"), 0, 0, 0)).isInstanceOfSatisfying(
                    VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENETUNREACH)).hasMessageContaining(
                            "10.99.1.1");
            // a packet that exceeds the interface's MTU is lost, and later ones are not
            Path path = a.path(from, 0, b.addresses().getFirst().gid(), 0, 0, 0);
            UdpWireTest.send(a, path, 0, new byte[2000]);
            UdpWireTest.send(a, path, 0, new byte[20]);
            a.flush();
            assertThat(UdpWireTest.receive(b, 1)).containsExactly(UdpWireTest.hex(new byte[20]));
            assertThat(a.counts().sendErrors).isOne();
            assertThat(a.counts().lastSendError).isEqualTo(Errno.EMSGSIZE);
            assertThat(a.counts().sent).isOne();
        });
    }

    @Test
    void ipv6GroupsReceive() throws Exception {
        VethWires.with(false, 64, (a, b, capture) -> {
            Gid group = Gid.parse("ff0e::4791");
            a.join(group);
            Path path = b.path(b.addresses().get(1).gid(), 1, group, 0, 0, 1);
            UdpWireTest.send(b, path, 0, new byte[16]);
            b.flush();
            assertThat(UdpWireTest.receive(a, 1)).hasSize(1);
        });
    }
}
