// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.Callable;

import org.verbena.cli.support.CommandException;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;

/**
 * A veth pair between two network namespaces, for processes that are started at its ends. The kernel removes both when they have
 * ended. The ends have one name, so that the processes have the same arguments.
 */
public final class PerfVeth {
    /** The name of the device at both ends. */
    public static final String DEVICE = "xdp_perf0";
    /** Where the listening process is reached. */
    public static final String LISTENER = "10.77.0.2";
    private static final String CLIENT = "10.77.0.1";
    private static final String LINK = "perf0";
    private static final String OTHER = "perf1";
    private static final int PREFIX = 24;

    private final Netlink far;

    private PerfVeth(Netlink far) {
        this.far = far;
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
                NetworkLinks.createVeth(netlink, LINK, OTHER);
                up(netlink, LISTENER);
                return action.call(new PerfVeth(netlink));
            }
        });
    }

    public <T> T inNear(Callable<T> action) throws IOException {
        return inNamespace(() -> {
            NetworkNamespace.disableIpv6(); // its packets would come between those that are measured
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE); Fd near = NetworkNamespace.open()) {
                NetworkLinks.move(far, NetworkLinks.index(far, OTHER), near);
                NetworkLinks.rename(netlink, NetworkLinks.index(netlink, OTHER), LINK);
                up(netlink, CLIENT);
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

    private static void up(Netlink netlink, String address) throws IOException {
        int index = NetworkLinks.index(netlink, LINK);
        NetworkAddresses.add(netlink, index, InetAddress.ofLiteral(address), PREFIX);
        NetworkLinks.setUp(netlink, index);
    }
}
