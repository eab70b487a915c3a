// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.StopHook;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.PacketCapture;
import org.verbena.linux.PcapFile;
import org.verbena.linux.XdpAttachment;
import org.verbena.xdp.monitor.FilterException;
import org.verbena.xdp.monitor.FlowMonitor;
import org.verbena.xdp.monitor.MonitorSample;
import org.verbena.xdp.monitor.PacketFilter;

/** Watches a network interface, prints a sample each interval, and writes packets to a file meanwhile. */
final class TrafficMonitor {
    /** Lines are not truncated. */
    private static final int UNLIMITED = 10_000;
    /** Longer than the kernel keeps a packet before the ring has it. */
    private static final long LAST_PACKETS_NANOS = TimeUnit.MILLISECONDS.toNanos(2 * PacketCapture.BLOCK_MILLIS);
    private static final long WAIT_MILLIS = 100;
    /** For the last sample and the rest of the file, on a busy machine. */
    private static final int STOP_SECONDS = 30;

    private final StatOptions options;
    private final TrafficOptions traffic;
    private final Optional<PacketFilter> filter;
    private final PrintWriter out;
    private final PrintWriter err;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final StatHistory history = new StatHistory();
    private final boolean blocks = System.out.charset().newEncoder().canEncode('█');
    private boolean names = true;

    /** {@code text} is the filter, maybe blank. */
    static TrafficMonitor of(CommandLine command, StatOptions options, TrafficOptions traffic, String text) {
        Optional<PacketFilter> filter;
        try {
            filter = text.isBlank() ? Optional.empty() : Optional.of(PacketFilter.of(text));
        } catch (FilterException e) {
            throw new ParameterException(command, e.getMessage() + System.lineSeparator() + "  "
                    + HumanText.printable(text) + System.lineSeparator() + "  " + " ".repeat(e.column() - 1) + "^");
        }
        return new TrafficMonitor(options, traffic, filter, command.getOut(), command.getErr());
    }

    private TrafficMonitor(StatOptions options, TrafficOptions traffic, Optional<PacketFilter> filter, PrintWriter out,
            PrintWriter err) {
        this.options = options;
        this.traffic = traffic;
        this.filter = filter;
        this.out = out;
        this.err = err;
    }

    /** Watches until Ctrl-C, the count is reached, or the interface is gone; returns the exit code. */
    int run() throws IOException, InterruptedException, StatFailure.Ended {
        Path path = traffic.write();
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            int index = index(netlink);
            if (path == null && isForScreen()) {
                try (FlowMonitor monitor = open(index)) {
                    return screen(netlink, index, monitor);
                }
            }
            try (StopHook _ = new StopHook("monitor", STOP_SECONDS, stopped::countDown); // until the file is whole
                    FlowMonitor monitor = open(index);
                    PcapFile file = path == null ? null : PcapFile.create(path, FlowMonitor.WHOLE)) {
                return watch(netlink, index, monitor, file);
            }
        }
    }

    private boolean isForScreen() {
        return !traffic.once() && !traffic.csv() && !options.json() && options.count() == 0 && StatScreen.isPossible();
    }

    private int screen(Netlink netlink, int index, FlowMonitor monitor)
            throws IOException, InterruptedException, StatFailure.Ended {
        TrafficView view = new TrafficView(traffic, System.nanoTime());
        int code = new StatScreen<>(view, _ -> {
            String xdp = xdp(netlink, index).orElseThrow(this::gone);
            return new TrafficLook(Instant.now(), monitor.read(), xdp);
        }, options.intervalNanos()).run();
        String problem = view.problem();
        if (!problem.isEmpty()) {
            throw new StatFailure.Ended(problem);
        }
        return code;
    }

    private StatFailure.Ended gone() {
        return new StatFailure.Ended("the network interface " + traffic.netdev() + " is gone");
    }

    private int index(Netlink netlink) throws IOException {
        try {
            int index = NetworkLinks.index(netlink, traffic.netdev());
            if (!NetworkLinks.kind(netlink, index).ethernet()) {
                throw new CommandException("the packets of " + HumanText.printable(traffic.netdev())
                        + " are no Ethernet frames, which alone can be watched: name the interface that they leave by");
            }
            return index;
        } catch (LinuxException | IllegalArgumentException e) {
            if (e instanceof LinuxException l && l.errno() != Errno.ENODEV) {
                throw l;
            }
            throw new CommandException("there is no network interface '" + HumanText.printable(traffic.netdev())
                    + "': there are " + NetworkLinks.list(netlink).stream().map(NetworkLinks.Link::name).collect(
                            Collectors.joining(", ")), e);
        }
    }

    private FlowMonitor open(int index) throws IOException {
        try {
            return FlowMonitor.open(index, filter, traffic.flows(), traffic.ringBytes());
        } catch (IllegalArgumentException e) { // more instructions than the kernel is given
            throw new CommandException("the filter is too long: " + e.getMessage(), e);
        } catch (LinuxException e) {
            if (e.errno() != Errno.EPERM && e.errno() != Errno.EACCES) {
                throw e;
            }
            throw new CommandException("the packets of " + traffic.netdev() + " cannot be watched: CAP_NET_RAW and"
                    + " CAP_BPF are needed, so run it as root, for instance by sudo (" + e.getMessage() + ")", e);
        }
    }

    private int watch(Netlink netlink, int index, FlowMonitor monitor, @Nullable PcapFile file)
            throws IOException, InterruptedException, StatFailure.Ended {
        err.println("watching " + traffic.netdev() + (traffic.filter().isEmpty()
                ? ""
                : " for " + HumanText.printable(traffic.filter())));
        err.flush();
        long begun = System.nanoTime();
        long due = begun;
        MonitorSample before = null;
        int count = traffic.once() ? 1 : options.count();
        for (int n = 1;; n++) {
            due = Math.max(due + options.intervalNanos(), System.nanoTime());
            boolean last = await(monitor, file, due) || n == count;
            Optional<String> xdp = xdp(netlink, index);
            if (last || xdp.isEmpty()) {
                monitor.stop(); // so that the file has the packets that are counted
            }
            if (file != null) {
                if (last || xdp.isEmpty()) {
                    drain(monitor, file);
                }
                file.flush();
            }
            MonitorSample now = monitor.read();
            print(TrafficReport.of(traffic, traffic.by(), begun, new TrafficLook(Instant.now(), now, xdp.orElse("")),
                    before, file == null ? -1 : file.packets()), n > 1);
            if (!StatOptions.flush(out)) {
                return 0;
            }
            if (xdp.isEmpty()) {
                throw gone();
            }
            if (last) {
                return 0;
            }
            before = now;
        }
    }

    /** Waits and takes packets meanwhile; true if the user wants no more. */
    private boolean await(FlowMonitor monitor, @Nullable PcapFile file, long until)
            throws IOException, InterruptedException {
        if (file == null) {
            return stopped.await(until - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        while (System.nanoTime() < until && stopped.getCount() > 0) {
            take(monitor, file, until);
        }
        return stopped.getCount() == 0;
    }

    private static void take(FlowMonitor monitor, PcapFile file, long until) throws IOException {
        long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        monitor.await((int) Math.clamp(left + 1, 0, WAIT_MILLIS));
        monitor.capture(file);
    }

    /** Takes the packets that the kernel still keeps. */
    private static void drain(FlowMonitor monitor, PcapFile file) throws IOException {
        long until = System.nanoTime() + LAST_PACKETS_NANOS;
        while (System.nanoTime() < until) {
            take(monitor, file, until);
        }
    }

    /** The XDP program of the interface, "" for none; empty if the interface is gone. */
    private Optional<String> xdp(Netlink netlink, int index) throws LinuxException {
        try {
            return NetworkLinks.index(netlink, traffic.netdev()) != index
                    ? Optional.empty()
                    : Optional.of(XdpAttachment.of(netlink, index).map(XdpAttachment::describe).orElse(""));
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENODEV) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private void print(TrafficReport report, boolean more) {
        if (options.json()) {
            out.println(report.json());
        } else if (traffic.csv()) {
            List<String> lines = report.csv(names);
            lines.forEach(out::println);
            names &= lines.isEmpty();
        } else {
            if (more) {
                out.println();
            }
            report.remember(history);
            report.text(traffic.once() ? null : history, blocks, UNLIMITED).forEach(out::println);
        }
    }
}
