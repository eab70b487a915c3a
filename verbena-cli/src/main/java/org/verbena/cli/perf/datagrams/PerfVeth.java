// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.Callable;

import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;

/**
 * Two veth pairs between two network namespaces, for processes that are started at their ends. The kernel removes all when they have
 * ended. The ends of a pair have one name, so that the processes have the same arguments.
 */
public final class PerfVeth {
    /** Where the listening process is reached. */
    public static final String LISTENER = "10.77.0.2";
    private static final String CLIENT = "10.77.0.1";
    /** The connection between the processes goes by this one. */
    private static final String LINK = "perf0";
    /** This one is for what leaves the kernel no packets; else it has those addresses. */
    private static final String ALONE = "perf1";
    /** The name of the near ends as long as they are in the far namespace is longer by this. */
    private static final String NEAR = "n";
    private static final int PREFIX = 24;

    private final Netlink far;

    private PerfVeth(Netlink far) {
        this.far = far;
    }

    /** The name of the device at both ends, for a test of raw packets. */
    public static String device(PerfTest test) {
        return "xdp_" + (test.isStack() ? ALONE : LINK);
    }

    /** What is done at the end of the listener, in the midst of which {@link #inNear} does what is to be done at the other one. */
    @FunctionalInterface
    public interface Far<T> {
        T call(PerfVeth pair) throws IOException;
    }

    public static <T> T inFar(Far<T> action) throws IOException {
        return inNamespace(() -> {
            NetworkNamespace.disableIpv6(); // its packets would come between those that are measured
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.createVeth(netlink, LINK, LINK + NEAR);
                NetworkLinks.createVeth(netlink, ALONE, ALONE + NEAR);
                up(netlink, LINK, LISTENER);
                up(netlink, ALONE, PerfStack.address(false));
                return action.call(new PerfVeth(netlink));
            }
        });
    }

    public <T> T inNear(Callable<T> action) throws IOException {
        return inNamespace(() -> {
            NetworkNamespace.disableIpv6(); // its packets would come between those that are measured
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE); Fd near = NetworkNamespace.open()) {
                for (String link : new String[] {LINK, ALONE}) {
                    NetworkLinks.move(far, NetworkLinks.index(far, link + NEAR), near);
                    NetworkLinks.rename(netlink, NetworkLinks.index(netlink, link + NEAR), link);
                }
                up(netlink, LINK, CLIENT);
                up(netlink, ALONE, PerfStack.address(true));
            }
            return action.call();
        });
    }

    private static <T> T inNamespace(Callable<T> action) throws IOException {
        try {
            return NetworkNamespace.callInNew(action);
        } catch (LinuxException e) {
            throw new CommandException(
                    "cannot make a veth pair between two network namespaces, for the tests of raw packets: "
                            + e.getMessage()
                            + ". Run it as root, or measure an interface of your own, by --listen and --connect, each"
                            + " with --device xdp_NAME", e);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted", e);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void up(Netlink netlink, String link, String address) throws IOException {
        int index = NetworkLinks.index(netlink, link);
        NetworkAddresses.add(netlink, index, InetAddress.ofLiteral(address), PREFIX);
        NetworkLinks.setUp(netlink, index);
    }
}
