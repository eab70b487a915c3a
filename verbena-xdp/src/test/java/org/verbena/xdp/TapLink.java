// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.util.List;

import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowType;

/**
 * The TAP interface {@code vrb0} in a network namespace of a test: the kernel has the address 10.77.0.1 on it, and
 * believes 10.77.0.2 behind it, where the device {@code tap_vrb0} is.
 */
final class TapLink implements AutoCloseable {
    static final String DEVICE = "tap_vrb0";
    static final byte[] OURS = {2, 0, 0, 0, 0, 9};

    final Netlink netlink;
    final int index;

    private TapLink(Netlink netlink, int index) {
        this.netlink = netlink;
        this.index = index;
    }

    /** What a test does, on a thread in the namespace. */
    interface Action {
        void run(TapLink link) throws Exception;
    }

    /** Runs a test; {@code options} are more words for {@code ip tuntap add}. */
    static void run(int mtu, Action action, String... options) throws Exception {
        Capabilities.requireNetworkAndBpf();
        TapInterface.require();
        NetworkNamespace.callInNew(() -> {
            try (TapLink link = create(mtu, options)) {
                action.run(link);
            }
            return mtu;
        });
    }

    private static TapLink create(int mtu, String... options) throws Exception {
        NetworkNamespace.disableIpv6(); // its own packets would come between
        TapInterface.add("vrb0", options);
        Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
        TapLink link = new TapLink(netlink, NetworkLinks.index(netlink, "vrb0"));
        NetworkLinks.setMtu(netlink, link.index, mtu);
        NetworkAddresses.add(netlink, link.index, InetAddress.getByName(RawLink.KERNEL), 24);
        TapInterface.ip("neigh", "add", RawLink.RAW, "dev", "vrb0", "lladdr", "02:00:00:00:00:09");
        NetworkLinks.setUp(netlink, link.index);
        return link;
    }

    /** The kernel's address of Ethernet. */
    byte[] mac() throws Exception {
        List<Byte> address = NetworkLinks.list(netlink).stream().filter(l -> l.index() == index).findFirst()
                .orElseThrow().hardwareAddress();
        byte[] mac = new byte[6];
        for (int i = 0; i < mac.length; i++) {
            mac[i] = address.get(i);
        }
        return mac;
    }

    /** An end that receives all there is. */
    static RawEnd ready() throws Exception {
        RawEnd end = RawEnd.ready(DEVICE);
        end.qp.createFlow(everything());
        LinkState.awaitUp("vrb0");
        return end;
    }

    static FlowAttributes everything() {
        return FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build();
    }

    /** A socket of the kernel's that does not block. */
    static DatagramChannel kernelSocket() throws Exception {
        DatagramChannel c = DatagramChannel.open();
        c.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20);
        c.configureBlocking(false);
        return c.bind(new InetSocketAddress(RawLink.KERNEL, 0));
    }

    static int port(DatagramChannel c) throws Exception {
        return ((InetSocketAddress) c.getLocalAddress()).getPort();
    }

    @Override
    public void close() throws Exception {
        if (NetworkLinks.list(netlink).stream().anyMatch(l -> l.index() == index)) {
            NetworkLinks.delete(netlink, index);
        }
        netlink.close();
    }
}
