// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.util.List;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

import org.verbena.cli.support.Units;

/** The options of librdmacm's {@code rstream}, and the additional ones of Verbena. */
final class RstreamOptions extends CmToolPlace {
    private static final int MAX_SIZE = 1 << 24;
    private static final int MIN_BUFFER = 4096;
    private static final int MAX_BUFFER = 1 << 28;

    @Option(names = {"-I", "--iterations"}, paramLabel = "N",
            description = "How often all of it is sent to and fro (1; a server without it goes on until its client"
                    + " ends).") private @Nullable Integer iterations;

    @Option(names = {"-C", "--count"}, paramLabel = "N",
            description = "Messages each way, of an iteration (${DEFAULT-VALUE}).") private int count = 1000;

    @Option(names = {"-S", "--size"}, paramLabel = "BYTES", converter = Units.Bytes.class, defaultValue = "1000",
            description = "Size of a message (${DEFAULT-VALUE}).") private long size;

    @Option(names = {"-B", "--buffer"}, paramLabel = "BYTES", converter = Units.Bytes.class, defaultValue = "512k",
            description = "Memory each way, an even number (${DEFAULT-VALUE}).") private long buffer;

    @Option(names = "-T", paramLabel = "v",
            description = "Taken as rstream takes it; bytes are always compared.") private List<String> tests = List
                    .of();

    /** Refuses values out of range. */
    void check() {
        checkPlace();
        range("--iterations", iterations(), 1, Integer.MAX_VALUE);
        range("--count", count, 1, Integer.MAX_VALUE);
        range("--size", size, 1, MAX_SIZE);
        range("--buffer", buffer, MIN_BUFFER, MAX_BUFFER);
        if (buffer % 2 != 0) {
            throw usage("--buffer " + buffer + ": must be even");
        }
        for (String t : tests) {
            if (!t.equals("v") && !t.equals("verify")) {
                throw usage("-T " + t + ": only v, which is verify, is there");
            }
        }
    }

    /** How often everything is exchanged; for an end that {@link #followsPeer}, at least. */
    int iterations() {
        Integer n = iterations;
        return n == null ? 1 : n;
    }

    /** Whether the end of the peer's stream marks the last iteration. */
    boolean followsPeer() {
        return isServer() && iterations == null;
    }

    int count() {
        return count;
    }

    int size() {
        return (int) size;
    }

    int buffer() {
        return (int) buffer;
    }
}
