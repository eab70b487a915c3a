// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The ends of TCP connections in this network namespace, as the kernel shows them. */
public final class TcpTable {
    /** An end that has sent a SYN and heard nothing yet. */
    public static final int SYN_SENT = 2;

    private TcpTable() {}

    /**
     * An end.
     *
     * @param port its own
     * @param peerPort the other end's
     * @param state of TCP, as the kernel numbers them
     * @param unacknowledged bytes that it has sent
     * @param unread bytes that it has received
     */
    public record End(int port, int peerPort, int state, long unacknowledged, long unread) {}

    /** All ends, of IPv4 and IPv6. */
    public static List<End> ends() throws IOException {
        return Stream.concat(lines("/proc/net/tcp"), lines("/proc/net/tcp6")).map(l -> {
            String[] f = l.trim().split(" +", -1);
            return new End((int) behindColon(f[1]), (int) behindColon(f[2]), Integer.parseInt(f[3], 16), Long.parseLong(
                    f[4].substring(0, f[4].indexOf(':')), 16), behindColon(f[4]));
        }).toList();
    }

    /** The end with these ports. */
    public static Optional<End> end(int port, int peerPort) throws IOException {
        return ends().stream().filter(e -> e.port == port && e.peerPort == peerPort).findFirst();
    }

    private static Stream<String> lines(String file) throws IOException {
        return Files.readAllLines(Path.of(file)).stream().skip(1);
    }

    private static long behindColon(String pair) {
        return Long.parseLong(pair.substring(pair.indexOf(':') + 1), 16);
    }
}
