// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.net.InetAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.verbena.linux.Fd;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;

/**
 * Two network namespaces of a test with a wire between, on both ends of which the kernel has an address: {@code one}, 10.77.0.1,
 * in that of the test, and {@code other}, 10.77.0.2, in that of the peer.
 */
final class KernelLink implements AutoCloseable {
    final Netlink netlink;
    final int one;
    private final BlockingQueue<Callable<?>> tasks;

    private KernelLink(Netlink netlink, BlockingQueue<Callable<?>> tasks) throws Exception {
        this.netlink = netlink;
        this.tasks = tasks;
        one = NetworkLinks.index(netlink, "one");
    }

    /** What a test does, on a thread in the one namespace. */
    interface Action {
        void run(KernelLink link) throws Exception;
    }

    static void run(Action action) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            BlockingQueue<Callable<?>> tasks = new LinkedBlockingQueue<>();
            CompletableFuture<Fd> theirs = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> peer(tasks, theirs));
            Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
            NetworkLinks.createVeth(netlink, "one", "other");
            try (Fd namespace = theirs.get(60, TimeUnit.SECONDS)) {
                NetworkLinks.move(netlink, NetworkLinks.index(netlink, "other"), namespace);
            }
            address(netlink, "one", RawLink.KERNEL);
            try (KernelLink link = new KernelLink(netlink, tasks)) {
                link.peer(() -> {
                    try (Netlink n = Netlink.open(Netlink.NETLINK_ROUTE)) {
                        address(n, "other", RawLink.RAW);
                    }
                    return "";
                });
                action.run(link);
            }
            return "";
        });
    }

    private static void address(Netlink netlink, String name, String address) throws Exception {
        int index = NetworkLinks.index(netlink, name);
        NetworkAddresses.add(netlink, index, InetAddress.getByName(address), 24);
        NetworkLinks.setUp(netlink, index);
    }

    private static void peer(BlockingQueue<Callable<?>> tasks, CompletableFuture<Fd> namespace) {
        try {
            NetworkNamespace.callInNew(() -> {
                namespace.complete(NetworkNamespace.open());
                while (!"end".equals(tasks.take().call())) {
                    // until then the namespace is there, and with it the wire
                }
                return "";
            });
        } catch (Exception e) {
            namespace.completeExceptionally(e);
        }
    }

    /** Calls something in the peer's namespace; threads that it starts are there, too. */
    <T> T peer(Callable<T> task) throws Exception {
        FutureTask<T> future = new FutureTask<>(task);
        tasks.add(() -> {
            future.run();
            return "";
        });
        return future.get(60, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        tasks.add(() -> "end");
        netlink.close();
    }
}
