// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.net.InetAddress;
import java.util.concurrent.Callable;

import org.verbena.linux.Fd;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.tests.faults.Users;

/** Two network namespaces with a cable between them. A command that is started from one of them runs there. */
public final class RoceNamespaces {
    public static final String DEVICE_A = "roce_vcable0";
    public static final String DEVICE_B = "roce_vcable1";
    public static final String ADDRESS_A = "10.47.92.1";
    public static final String ADDRESS_B = "10.47.92.2";
    /** IPv6, of the prefix for documentation. */
    public static final String ADDRESS6_A = "2001:db8:47:92::1";
    public static final String ADDRESS6_B = "2001:db8:47:92::2";

    /** The process to start in the other namespace. */
    @FunctionalInterface
    public interface Start<T> {
        T start() throws Exception;
    }

    /** The action of the test in its own namespace. */
    @FunctionalInterface
    public interface Action<T> {
        void run(T other) throws Exception;
    }

    private RoceNamespaces() {}

    /** Starts a process at the second end, and runs the action at the first; both ends disappear with the test. */
    public static <T extends AutoCloseable> void with(Start<T> second, Action<T> first) throws Exception {
        Users.needsRoot("make network namespaces");
        NetworkNamespace.callInNew((Callable<Integer>) () -> {
            try (Fd own = NetworkNamespace.open();
                    Netlink near = Netlink.open(Netlink.NETLINK_ROUTE);
                    T other = NetworkNamespace.callInNew((Callable<T>) () -> {
                        try (Netlink far = Netlink.open(Netlink.NETLINK_ROUTE)) {
                            NetworkLinks.createVeth(far, "vcable1", "vcable0");
                            NetworkLinks.move(far, NetworkLinks.index(far, "vcable0"), own);
                            address(far, "vcable1", ADDRESS_B, ADDRESS6_B);
                            address(near, "vcable0", ADDRESS_A, ADDRESS6_A);
                            awaitLink(far, "vcable1");
                            awaitLink(near, "vcable0");
                        }
                        return second.start();
                    })) {
                first.run(other);
            }
            return 0;
        });
    }

    /** The kernel may say a second late that a link is up; before it does, there is no device. */
    private static void awaitLink(Netlink netlink, String name) throws Exception {
        Await.until("the link of " + name + " is up", () -> NetworkLinks.list(netlink).stream().anyMatch(l -> l.name()
                .equals(name) && l.up()));
    }

    private static void address(Netlink netlink, String name, String four, String six) throws Exception {
        int index = NetworkLinks.index(netlink, name);
        NetworkAddresses.add(netlink, index, InetAddress.ofLiteral(four), 24);
        NetworkAddresses.add(netlink, index, InetAddress.ofLiteral(six), 64);
        NetworkLinks.setUp(netlink, index);
        NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, "lo"));
    }
}
