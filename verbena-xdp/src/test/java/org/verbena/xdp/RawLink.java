// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;

/**
 * Two interfaces in a network namespace of a test: {@code one}, where the kernel has the address 10.77.0.1, and
 * {@code other}, behind which it believes 10.77.0.2 and where the device under test is.
 */
final class RawLink implements AutoCloseable {
    static final String KERNEL = "10.77.0.1";
    static final String RAW = "10.77.0.2";

    final Netlink netlink;
    final int one;
    final int other;
    private final Deque<Runnable> opened = new ArrayDeque<>();

    private RawLink(Netlink netlink, int one, int other) {
        this.netlink = netlink;
        this.one = one;
        this.other = other;
    }

    /** What a test does, on a thread in the namespace. */
    interface Action {
        void run(RawLink link) throws Exception;
    }

    static void run(int mtu, Action action) throws Exception {
        run(mtu, 0, action);
    }

    /** Both interfaces have that number of queues; with 0 as many as the kernel likes. */
    static void run(int mtu, int queues, Action action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            try (RawLink link = create(mtu, queues)) {
                action.run(link);
            }
            return mtu;
        });
    }

    private static RawLink create(int mtu, int queues) throws Exception {
        NetworkNamespace.disableIpv6(); // its own packets would come between
        Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
        if (queues == 0) {
            NetworkLinks.createVeth(netlink, "one", "other");
        } else {
            String n = Integer.toString(queues);
            Finished made = Finished.run("ip", "link", "add", "one", "numtxqueues", n, "numrxqueues", n, "type", "veth",
                    "peer", "name", "other", "numtxqueues", n, "numrxqueues", n);
            assertThat(made.code()).as(made.output()).isZero();
        }
        RawLink link = new RawLink(netlink, NetworkLinks.index(netlink, "one"), NetworkLinks.index(netlink, "other"));
        for (int index : new int[] {link.one, link.other}) {
            NetworkLinks.setMtu(netlink, index, mtu);
            NetworkLinks.setUp(netlink, index);
        }
        NetworkAddresses.add(netlink, link.one, InetAddress.getByName(KERNEL), 24);
        StringBuilder mac = new StringBuilder();
        for (byte b : link.mac("other")) {
            mac.append(mac.isEmpty() ? "" : ":").append("%02x".formatted(b));
        }
        Finished done = Finished.run("ip", "neigh", "add", RAW, "dev", "one", "lladdr", mac.toString());
        assertThat(done.code()).as(done.output()).isZero();
        return link;
    }

    byte[] mac(String name) throws Exception {
        NetworkLinks.Link link = NetworkLinks.list(netlink).stream().filter(l -> l.name().equals(name)).findFirst()
                .orElseThrow();
        byte[] mac = new byte[6];
        for (int i = 0; i < mac.length; i++) {
            mac[i] = link.hardwareAddress().get(i);
        }
        return mac;
    }

    /** Attaches a program that passes all packets of a queue to its socket, if that queue pair has it. */
    void redirect(int ifindex, XdpQueuePair... queuePairs) throws Exception {
        BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4, 8);
        opened.push(map::close);
        for (XdpQueuePair qp : queuePairs) {
            Fd fd = qp.socketFd();
            assertThat(fd).isNotNull();
            map.update(number(qp.interfaceQueue()), number(fd.value()));
        }
        long[] program = {Bpf.instruction(0x61, 2, 1, 16, 0), Bpf.instruction(0x18, 1, 1, 0, map.fd().value()), 0,
            Bpf.instruction(0xb7, 3, 0, 0, Bpf.XDP_PASS), Bpf.instruction(0x85, 0, 0, 0, 51),
            Bpf.instruction(0x95, 0, 0, 0, 0)};
        try (Fd loaded = Bpf.load(Bpf.BPF_PROG_TYPE_XDP, program, "Apache-2.0", "redirect",
                Bpf.BPF_F_XDP_HAS_FRAGS)) {
            opened.push(Bpf.attach(loaded, ifindex, Bpf.XDP_FLAGS_SKB_MODE)::close);
        }
    }

    /** The next datagram to a socket that does not block. */
    static byte[] receive(DatagramChannel peer) throws Exception {
        byte[] room = new byte[1 << 16];
        ByteBuffer got = ByteBuffer.wrap(room);
        Await.until("a datagram", () -> peer.receive(got) != null);
        return Arrays.copyOf(room, got.position());
    }

    private static byte[] number(int n) {
        return ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(n).array();
    }

    @Override
    public void close() throws LinuxException {
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
        NetworkLinks.delete(netlink, one);
        netlink.close();
    }
}
