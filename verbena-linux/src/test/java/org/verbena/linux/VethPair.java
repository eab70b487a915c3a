// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;

/**
 * Two interfaces in a network namespace of a test: {@code one}, where the kernel has the address 10.77.0.1, and
 * {@code other}, behind which it believes 10.77.0.2 and where the test receives and sends raw packets.
 */
final class VethPair implements AutoCloseable {
    static final String KERNEL = "10.77.0.1";
    static final String RAW = "10.77.0.2";

    final Netlink netlink;
    final int one;
    final int other;

    private VethPair(Netlink netlink, int one, int other) {
        this.netlink = netlink;
        this.one = one;
        this.other = other;
    }

    /** What a test does with the pair, on a thread in the namespace. */
    interface Action {
        void run(VethPair pair) throws Exception;
    }

    static void run(int mtu, Action action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            try (VethPair pair = create(mtu)) {
                action.run(pair);
            }
            return mtu;
        });
    }

    private static VethPair create(int mtu) throws Exception {
        NetworkNamespace.disableIpv6(); // its own packets would come between
        Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
        NetworkLinks.createVeth(netlink, "one", "other");
        VethPair pair = new VethPair(netlink, NetworkLinks.index(netlink, "one"), NetworkLinks.index(netlink, "other"));
        for (int link : new int[] {pair.one, pair.other}) {
            NetworkLinks.setMtu(netlink, link, mtu);
            NetworkLinks.setUp(netlink, link);
        }
        NetworkAddresses.add(netlink, pair.one, InetAddress.getByName(KERNEL), 24);
        ip("neigh", "add", RAW, "dev", "one", "lladdr", mac(pair.mac("other")));
        return pair;
    }

    static void ip(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = "ip";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Finished done = Finished.run(command);
        assertThat(done.code()).as(String.join(" ", command) + ": " + done.output()).isZero();
    }

    private static String mac(byte[] mac) {
        StringBuilder text = new StringBuilder();
        for (byte b : mac) {
            text.append(text.isEmpty() ? "" : ":").append("%02x".formatted(b));
        }
        return text.toString();
    }

    byte[] mac(String name) throws LinuxException {
        NetworkLinks.Link link = NetworkLinks.list(netlink).stream().filter(l -> l.name().equals(name)).findFirst()
                .orElseThrow();
        byte[] mac = new byte[6];
        for (int i = 0; i < mac.length; i++) {
            mac[i] = link.hardwareAddress().get(i);
        }
        return mac;
    }

    /** A map of sockets with that one for queue 0, or further ones for the next. */
    static BpfMap sockets(Xsk... sockets) throws LinuxException {
        BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4, Math.max(1, sockets.length));
        for (int i = 0; i < sockets.length; i++) {
            map.update(number(i), number(sockets[i].fd().value()));
        }
        return map;
    }

    private static byte[] number(int n) {
        return ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(n).array();
    }

    /** Attaches a program that passes all packets of each queue to its socket in the map, of whatever length. */
    AutoCloseable redirect(int ifindex, BpfMap sockets, int mode) throws LinuxException {
        long[] program = {Bpf.instruction(0x61, 2, 1, 16, 0), Bpf.instruction(0x18, 1, 1, 0, sockets.fd().value()), 0,
            Bpf.instruction(0xb7, 3, 0, 0, Bpf.XDP_PASS), Bpf.instruction(0x85, 0, 0, 0, 51),
            Bpf.instruction(0x95, 0, 0, 0, 0)};
        try (Fd loaded = Bpf.load(Bpf.BPF_PROG_TYPE_XDP, program, "Apache-2.0", "redirect",
                Bpf.BPF_F_XDP_HAS_FRAGS)) {
            return Bpf.attach(loaded, ifindex, mode);
        }
    }

    @Override
    public void close() throws LinuxException {
        NetworkLinks.delete(netlink, one);
        netlink.close();
    }
}
