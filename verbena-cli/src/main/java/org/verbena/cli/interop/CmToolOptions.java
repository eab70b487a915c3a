// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;

import picocli.CommandLine.Option;

import org.verbena.cli.support.Units;

/** The options of librdmacm's {@code ucmatose} and {@code udaddy}, and the additional ones of Verbena. */
final class CmToolOptions extends CmToolPlace {
    private static final int MAX_SIZE = 1 << 20;
    private static final int MAX_COUNT = 16_384;
    /** The most memory that the messages of one connection may take. */
    private static final long MAX_BYTES = 1L << 30;

    @Option(names = {"-c", "--connections"}, paramLabel = "N",
            description = "How many connections (${DEFAULT-VALUE}).") private int connections = 1;

    @Option(names = {"-C", "--count"}, paramLabel = "N",
            description = "Messages each way (${DEFAULT-VALUE}).") private int count = 10;

    @Option(names = {"-S", "--size"}, paramLabel = "BYTES", converter = Units.Bytes.class, defaultValue = "100",
            description = "Size of a message (${DEFAULT-VALUE}).") private long size;

    /** Refuses values out of range. */
    void check() {
        checkPlace();
        range("--connections", connections, 1, 1024);
        range("--count", count, 0, MAX_COUNT);
        range("--size", size, 1, MAX_SIZE);
        if (count * size > MAX_BYTES) {
            throw usage("--count " + count + " of --size " + size + ": the messages of a connection may have "
                    + MAX_BYTES + " bytes in all");
        }
    }

    int connections() {
        return connections;
    }

    int count() {
        return count;
    }

    int size() {
        return (int) size;
    }

    /** Reports what was done, in the given nanoseconds. */
    void report(long nanos) throws IOException {
        report(connections, count, size, nanos);
    }
}
