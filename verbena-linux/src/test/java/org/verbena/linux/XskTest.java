// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.Capabilities;

/** Programs in the kernel and raw packets, between interfaces that exist only for the test. */
class XskTest {
    private static final int CHUNK = 4096;
    private static final int RING = 4;
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    @BeforeEach
    void needsCapabilities() {
        Capabilities.requireNetworkAndBpf();
    }

    /** The interfaces in the kernel's own table of this thread's namespace, as {@code ip link} would list them. */
    private static List<String> interfaces() throws Exception {
        return Files.readAllLines(Path.of("/proc/thread-self/net/dev")).stream().skip(2)
                .map(l -> l.substring(0, l.indexOf(':')).strip()).sorted().toList();
    }

    /** A counter of that table: packets received (2nd column) or sent (10th). */
    private static long packets(String name, int column) throws Exception {
        String line = Files.readAllLines(Path.of("/proc/thread-self/net/dev")).stream().filter(l -> l.strip()
                .startsWith(name + ":")).findFirst().orElseThrow();
        return Long.parseLong(line.substring(line.indexOf(':') + 1).strip().split("\\s+", -1)[column]);
    }

    private static String namespace() throws Exception {
        return Files.readSymbolicLink(Path.of("/proc/thread-self/ns/net")).toString();
    }

    @Test
    void namespaceIsLimitedToAction() throws Exception {
        String outside = namespace();
        List<String> before = interfaces();
        String inside = NetworkNamespace.callInNew(() -> {
            assertThat(interfaces()).containsExactly("lo");
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.createVeth(netlink, "one", "other");
                assertThat(interfaces()).containsExactly("lo", "one", "other");
                assertThatThrownBy(() -> NetworkLinks.createVeth(netlink, "one", "third"))
                        .isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(
                                Errno.EEXIST));
                NetlinkRequest odd = new NetlinkRequest(NetworkLinks.RTM_NEWLINK, NetlinkRequest.NLM_F_CREATE).append(
                        new byte[NetworkLinks.IFINFOMSG_BYTES]);
                odd.nest(NetworkLinks.IFLA_LINKINFO, () -> odd.attribute(NetworkLinks.IFLA_INFO_KIND, "nosuchkind"));
                assertThatThrownBy(() -> netlink.request(odd, "make it")).isInstanceOf(LinuxException.class).hasMessage(
                        "make it: EOPNOTSUPP (Operation not supported); kernel: Unknown device type");
                NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, "one"));
                NetworkLinks.delete(netlink, NetworkLinks.index(netlink, "other"));
                assertThat(interfaces()).containsExactly("lo");
            }
            return namespace();
        });
        assertThat(inside).isNotEqualTo(outside);
        assertThat(namespace()).isEqualTo(outside);
        assertThat(interfaces()).isEqualTo(before);
        assertThatThrownBy(() -> NetworkNamespace.callInNew((Callable<Integer>) () -> {
            throw new IOException("mine");
        })).isInstanceOf(IOException.class).hasMessage("mine");
    }

    @Test
    void mapsStoreValues() throws Exception {
        byte[] key = {1, 2, 3};
        try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_HASH, 3, 5, 2)) {
            assertThat(map.lookup(key)).isEmpty();
            map.update(key, new byte[] {5, 4, 3, 2, 1});
            assertThat(map.lookup(key).orElseThrow()).containsExactly(5, 4, 3, 2, 1);
            map.update(new byte[] {1, 2, 4}, new byte[5]);
            assertThatThrownBy(() -> map.update(new byte[] {1, 2, 5}, new byte[5])).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.E2BIG));
            assertThatThrownBy(() -> map.lookup(new byte[2])).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> map.update(key, new byte[6])).isInstanceOf(IllegalArgumentException.class);
            map.close();
            assertThatThrownBy(() -> map.lookup(key)).isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(() -> BpfMap.create(BpfMap.BPF_MAP_TYPE_HASH, 0, 4, 1)).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 1)).as("needs a table")
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static Fd load(long... instructions) throws LinuxException {
        return Bpf.load(Bpf.BPF_PROG_TYPE_XDP, instructions, "Apache-2.0");
    }

    @Test
    void programsRunAndVerifierErrorsAreReported() throws Exception {
        for (int answer = 0; answer < 5; answer++) {
            try (Fd program = load(Bpf.instruction(0xb7, 0, 0, 0, answer), Bpf.instruction(0x95, 0, 0, 0, 0))) {
                assertThat(Bpf.testRun(program, new byte[60])).isEqualTo(answer);
            }
        }
        assertThatThrownBy(() -> load(Bpf.instruction(0xbf, 0, 3, 0, 0), Bpf.instruction(0x95, 0, 0, 0, 0)))
                .isInstanceOf(LinuxException.class).hasMessageContaining("EACCES").hasMessageContaining("R3 !read_ok");
        assertThatThrownBy(() -> load(new long[0])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Bpf.instruction(256, 0, 0, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        try (Fd program = load(Bpf.instruction(0xb7, 0, 0, 0, 2), Bpf.instruction(0x95, 0, 0, 0, 0))) {
            assertThatThrownBy(() -> Bpf.testRun(program, new byte[13])).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static Fd redirect(BpfMap sockets) throws LinuxException {
        return load(Bpf.instruction(0x61, 2, 1, 16, 0), Bpf.instruction(0x18, 1, 1, 0, sockets.fd().value()), 0,
                Bpf.instruction(0xb7, 3, 0, 0, Bpf.XDP_PASS), Bpf.instruction(0x85, 0, 0, 0, 51),
                Bpf.instruction(0x95, 0, 0, 0, 0));
    }

    /** Ethernet of a type that no other sender here uses, with a number and a length of its own. */
    private static int put(MemorySegment chunk, int number) {
        int length = 60 + number % 1000;
        chunk.fill((byte) number);
        byte[] header = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, (byte) 0x88, (byte) 0xb5};
        MemorySegment.copy(header, 0, chunk, ValueLayout.JAVA_BYTE, 0, header.length);
        chunk.set(ValueLayout.JAVA_INT_UNALIGNED, 14, number);
        return length;
    }

    @Test
    void packetsPassRingsRepeatedlyAndAreCounted() throws Exception {
        for (int mode : new int[] {Bpf.XDP_FLAGS_DRV_MODE, Bpf.XDP_FLAGS_SKB_MODE}) {
            NetworkNamespace.callInNew(() -> {
                exchange(mode);
                return mode;
            });
        }
    }

    private static void exchange(int mode) throws Exception {
        NetworkNamespace.disableIpv6(); // its own packets use up the few chunks when this thread is not scheduled
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            NetworkLinks.createVeth(netlink, "one", "other");
            int one = NetworkLinks.index(netlink, "one");
            int other = NetworkLinks.index(netlink, "other");
            NetworkLinks.setUp(netlink, one);
            NetworkLinks.setUp(netlink, other);
            Mapping from = Mapping.anonymous(RING * CHUNK);
            Mapping to = Mapping.anonymous(RING * CHUNK);
            try (Xsk sender = Xsk.open(from, CHUNK, RING);
                    Xsk receiver = Xsk.open(to, CHUNK, RING);
                    BpfMap sockets = BpfMap.create(BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4, 1);
                    Fd program = redirect(sockets)) {
                sender.bind(one, 0, Xsk.XDP_COPY);
                receiver.bind(other, 0, Xsk.XDP_COPY);
                sockets.update(new byte[4], ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(receiver.fd()
                        .value()).array());
                for (int i = 0; i < RING; i++) {
                    assertThat(receiver.fill((long) i * CHUNK)).isTrue();
                }
                assertThat(receiver.fill(0)).as("the ring is full").isFalse();
                long before = packets("one", 9);
                try (Fd link = Bpf.attach(program, other, mode)) {
                    assertThat(link.value()).isPositive();
                    for (int number = 1; number <= 100; number++) {
                        int length = put(from.segment().asSlice((long) (number % RING) * CHUNK, CHUNK), number);
                        assertThat(sender.transmit((long) (number % RING) * CHUNK, length)).isTrue();
                        receive(sender, receiver, to.segment(), number, length);
                    }
                }
                assertThat(packets("one", 9) - before).isGreaterThanOrEqualTo(100);
                refusals(sender, one);
            }
            NetworkLinks.delete(netlink, one);
        }
    }

    /** Waits for a packet, among those that the kernel sends by itself (IPv6), and releases its chunk. */
    private static void receive(Xsk sender, Xsk receiver, MemorySegment memory, int number, int length) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        int error = sender.kick();
        while (true) {
            assertThat(System.nanoTime()).as("packet " + number + ", " + Errno.name(error)).isLessThan(deadline);
            MemorySegment packet = receiver.receive();
            if (packet == null) {
                error = error == 0 ? 0 : sender.kick();
                Thread.onSpinWait();
                continue;
            }
            boolean ours = packet.byteSize() == length && packet.get(ValueLayout.JAVA_INT_UNALIGNED, 14) == number;
            boolean whole = packet.get(ValueLayout.JAVA_BYTE, length - 1L) == (byte) number;
            long at = packet.address() - memory.address();
            assertThat(receiver.fill(at - at % CHUNK)).isTrue();
            if (ours) {
                assertThat(whole).isTrue();
                break;
            }
        }
        long sent = sender.completed();
        while (sent < 0) {
            assertThat(System.nanoTime()).as("completion of packet " + number).isLessThan(deadline);
            sent = sender.completed();
        }
        assertThat(sent).isEqualTo((long) (number % RING) * CHUNK);
    }

    private static void refusals(Xsk socket, int ifindex) throws Exception {
        assertThatThrownBy(() -> socket.transmit((long) RING * CHUNK, 60)).isInstanceOf(
                IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> socket.transmit(CHUNK - 10, 60)).as("two chunks").isInstanceOf(
                IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> socket.transmit(-1, 60)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> socket.transmit(0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> socket.fill(-CHUNK)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(socket.completed()).isEqualTo(-1);
        try (Xsk second = Xsk.open(Mapping.anonymous(CHUNK), CHUNK, RING)) {
            assertThat(second.kick()).as("not bound").isEqualTo(Errno.ENXIO);
            assertThatThrownBy(() -> second.bind(ifindex, 0, 0)).isInstanceOfSatisfying(LinuxException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
            second.close();
            assertThatThrownBy(second::receive).isInstanceOf(IllegalStateException.class);
            second.close();
        }
        Mapping memory = Mapping.anonymous(CHUNK);
        for (int[] wrong : new int[][] {{1024, 4}, {3000, 4}, {CHUNK, 3}, {CHUNK, 0}}) {
            assertThatThrownBy(() -> Xsk.open(memory, wrong[0], wrong[1])).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
