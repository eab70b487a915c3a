// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.linux.NetworkAddresses;
import org.verbena.testkit.Await;
import org.verbena.testkit.Finished;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.xdp.packet.IpAddresses;
import org.verbena.xdp.program.PacketModel;
import org.verbena.xdp.program.SpreadModel;

/** Work queues over four queues of an interface, and what the kernel sends by UDP over IPv6 from many addresses and ports. */
class SpreadIpv6Test {
    private static final int QUEUES = 4;
    private static final int PORT = 4000;
    private static final int UDP_HEADERS = 14 + 40 + 8;
    private static final int ADDRESSES = 20;
    private static final int PEERS = 100;
    private static final String RAW = "fd77::ffff";
    private static final int IPV6 = RxHashFields.SRC_IPV6 | RxHashFields.DST_IPV6;
    private static final int UDP = RxHashFields.SRC_PORT_UDP | RxHashFields.DST_PORT_UDP;

    /** The addresses of the kernel's end, which believes another one behind the wire. */
    private static void addresses(RawLink link) throws Exception {
        Files.writeString(Path.of("/proc/sys/net/ipv6/conf/one/disable_ipv6"), "0");
        for (int i = 0; i < ADDRESSES; i++) {
            NetworkAddresses.add(link.netlink, link.one, address(i), 64);
        }
        Finished done = Finished.run("ip", "-6", "neigh", "add", RAW, "dev", "one", "lladdr", HexFormat.ofDelimiter(":")
                .formatHex(link.mac("other")));
        assertThat(done.code()).as(done.output()).isZero();
    }

    /** One whose lower half has nothing in common with those of the others. */
    private static InetAddress address(int i) {
        byte[] bytes = InetAddress.ofLiteral(RAW).getAddress();
        ByteBuffer.wrap(bytes).putLong(8, new Random(i).nextLong());
        return IpAddresses.of(bytes);
    }

    private static RxHashConfiguration hash(Random random, int fields) {
        byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
        random.nextBytes(key);
        return SpreadEnd.hash(key, fields);
    }

    private static void send(DatagramChannel from, int port, int number, int more) throws Exception {
        from.send(ByteBuffer.allocate(4 + more).putInt(0, number), new InetSocketAddress(InetAddress.ofLiteral(RAW),
                port));
    }

    private static void run(int fields) throws Exception {
        RawLink.run(1500, QUEUES, link -> {
            addresses(link);
            List<DatagramChannel> peers = new ArrayList<>();
            try {
                for (int i = 0; i < PEERS; i++) {
                    peers.add(DatagramChannel.open().bind(new InetSocketAddress(address(i % ADDRESSES), 0)));
                }
                Seeds.each(2, random -> spread(peers, random, fields));
            } finally {
                for (DatagramChannel c : peers) {
                    c.close();
                }
            }
        });
    }

    private static void spread(List<DatagramChannel> peers, Random random, int fields) throws Exception {
        try (SpreadEnd end = SpreadEnd.ready("other", 2)) {
            RxHashConfiguration hash = hash(random, fields);
            end.ready(hash, 0).createFlow(FlowAttributes.builder().spec(FlowSpec.ipv6().match(
                    FlowField.IPV6_DESTINATION, InetAddress.ofLiteral(RAW).getAddress())).spec(FlowSpec.udp().match(
                            FlowField.DESTINATION_PORT, PORT)).build());
            BitSet missing = new BitSet();
            int[] counts = new int[end.queues.size()];
            for (int i = 0; i < 4 * PEERS; i++) {
                missing.set(i);
                send(peers.get(i % PEERS), PORT, i, random.nextInt(1400));
                send(peers.get(i % PEERS), PORT + 1, -1, 0); // for the kernel
                if (i % 50 == 49) { // no more than the rings have room for
                    Await.until("datagrams", () -> taken(end, hash, missing, counts) && missing.isEmpty(),
                            missing::toString);
                }
            }
            Await.never("another datagram", () -> !taken(end, hash, missing, counts));
            assertThat(Arrays.stream(counts).filter(n -> n > 0).count()).as("work queues of those in " + Arrays
                    .toString(counts)).isGreaterThanOrEqualTo((fields & UDP) == 0 ? 2 : counts.length);
        }
    }

    /** Takes what has come; false if something has come that should not. */
    private static boolean taken(SpreadEnd end, RxHashConfiguration hash, BitSet missing, int[] counts) {
        for (int i = 0; i < end.queues.size(); i++) {
            for (byte[] frame = end.frame(i); frame != null; frame = end.frame(i)) {
                int number = ByteBuffer.wrap(frame).getInt(UDP_HEADERS);
                assertThat(missing.get(number)).as("datagram " + number + " comes once").isTrue();
                missing.clear(number);
                assertThat(PacketModel.of(frame).field(FlowField.IPV6_SOURCE)).isPresent();
                int entry = SpreadModel.hash(hash, frame) & end.table.entries().size() - 1;
                assertThat(end.queues.get(i)).isSameAs(end.table.entries().get(entry));
                counts[i]++;
            }
        }
        return true;
    }

    @Test
    void everyPacketArrivesOnceOnTheQueueThatItsAddressesAndPortsSay() throws Exception {
        run(IPV6 | UDP);
    }

    @Test
    void everyPacketArrivesOnceOnTheQueueThatItsAddressesSay() throws Exception {
        run(IPV6);
    }
}
