// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

import org.verbena.linux.PacketCapture;

/** Options of {@code monitor} that an interface has, and a process has not. */
final class TrafficOptions {
    private static final int MIB = 1 << 20;
    private static final int MAX_RING = 1024;
    private static final int LEAST_FLOWS = 512;
    private static final int MAX_FLOWS = 1 << 22;

    @Option(names = {"-1", "--once"}, description = "Of an interface: watch for one interval, or until Ctrl-C, print,"
            + " end.") private boolean once;

    @Option(names = "--csv", description = "Of an interface: print comma-separated values.") private boolean csv;

    @Option(names = {"-b", "--by"}, paramLabel = "WHAT", defaultValue = "flow",
            description = "Of an interface: a line for each flow, address or port. Default flow.") private TrafficBy by = TrafficBy.FLOW;

    @Option(names = {"-s", "--sort"}, paramLabel = "COLUMN", defaultValue = "",
            description = "Of an interface: sort by a column: flow, address or port, packets/s, bytes/s, avg-packets/s,"
                    + " avg-bytes/s, packets, bytes. Default bytes/s.") private String sort = "";

    @Option(names = {"-l", "--lines"}, paramLabel = "N",
            description = "Of an interface: the first N lines only. Default 20, of JSON and CSV all.") private @Nullable Integer lines;

    @Option(names = {"-w", "--write"}, paramLabel = "FILE",
            description = "Of an interface: write the packets to a file in the format of libpcap, for Wireshark.") private @Nullable Path write;

    @Option(names = "--flows", paramLabel = "N", defaultValue = "65536",
            description = "Of an interface: how many flows it knows at once, 512 to 4194304. Default 65536.") private int flows;

    @Option(names = "--ring", paramLabel = "MIB", defaultValue = "32",
            description = "Of an interface: room for packets that are to be written, in MiB, 1 to 1023. Default 32.") private int ring;

    private String netdev = "";
    private String filter = "";

    /** Refuses options that processes do not have. */
    static void refuse(CommandSpec spec) {
        ParseResult parsed = spec.commandLine().getParseResult();
        for (String option : new String[] {"--once", "--csv", "--by", "--sort", "--lines", "--write", "--flows",
            "--ring"}) {
            if (parsed.hasMatchedOption(option)) {
                throw new ParameterException(spec.commandLine(), option + " is for network interfaces, not for"
                        + " processes");
            }
        }
    }

    /** Refuses invalid combinations. */
    void check(CommandSpec spec, StatOptions others) {
        if (others.cached()) {
            throw wrong(spec, "--cached is for processes, not for network interfaces");
        }
        if (once && others.count() > 0) {
            throw wrong(spec, "--once and --count exclude each other");
        }
        if (csv && others.json()) {
            throw wrong(spec, "--csv and --json exclude each other");
        }
        if (!sort.isEmpty() && !sort.equals(by.toString()) && !TrafficReport.FIGURES.contains(sort)) {
            throw wrong(spec, "there is no column '" + sort + "': " + by + ", " + String.join(", ",
                    TrafficReport.FIGURES));
        }
        Integer most = lines;
        if (most != null && most < 1) {
            throw wrong(spec, "--lines must be 1 or more");
        }
        if (flows < LEAST_FLOWS || flows > MAX_FLOWS) {
            throw wrong(spec, "--flows must be " + LEAST_FLOWS + " to " + MAX_FLOWS);
        }
        if (ring < 1 || ring >= MAX_RING) {
            throw wrong(spec, "--ring must be 1 to " + (MAX_RING - 1));
        }
    }

    private static ParameterException wrong(CommandSpec spec, String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }

    /** What is to be monitored. */
    void target(String interfaceName, String packets) {
        netdev = interfaceName;
        filter = packets;
    }

    String netdev() {
        return netdev;
    }

    /** In the words of pcap; empty for all packets. */
    String filter() {
        return filter;
    }

    boolean once() {
        return once;
    }

    boolean csv() {
        return csv;
    }

    TrafficBy by() {
        return by;
    }

    /** A column; empty for the usual order. */
    String sort() {
        return sort;
    }

    /** How many lines at most. */
    int lines(int usual) {
        Integer most = lines;
        return most == null ? usual : most;
    }

    /** The file for packets. */
    @Nullable
    Path write() {
        return write;
    }

    int flows() {
        return flows;
    }

    /** Bytes of the ring; 0 if nothing is to be written. */
    int ringBytes() {
        return write == null ? 0 : ring * MIB / PacketCapture.BLOCK_BYTES * PacketCapture.BLOCK_BYTES;
    }
}
