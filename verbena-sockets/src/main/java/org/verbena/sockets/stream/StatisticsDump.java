// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Connections as {@code vma_stats -v 3} has them. Its numbers are of offloaded bytes where here a ring carried them, and of the OS where TCP did; a line
 * whose numbers are all 0 is left out. Bytes are counted in 64 bits. Numbers of packets are not known, for rings carry none.
 */
public final class StatisticsDump {
    /** The first line of a block, and the last of all. */
    public static final String RULE = "======================================================";

    private static final int KILO = 10;

    private StatisticsDump() {}

    /** One connection. */
    public static List<String> of(Stream stream) {
        List<String> lines = new ArrayList<>();
        add(stream, lines);
        lines.add(RULE);
        return lines;
    }

    /** All connections of this process that are open, the oldest first. */
    public static List<String> all() {
        List<Stream> open = new ArrayList<>(StreamCounters.open());
        open.sort(Comparator.comparingLong(Stream::number));
        List<String> lines = new ArrayList<>();
        open.forEach(s -> add(s, lines));
        lines.add(RULE);
        return lines;
    }

    private static void add(Stream s, List<String> to) {
        SocketChannel tcp = s.tcp();
        StreamFigures f = s.figures();
        StreamState now = s.state();
        to.add(RULE);
        to.add("\tFd=[" + s.number() + "]"); // a descriptor says nothing in Java, and is another's soon
        String why = s.fallbackReason();
        to.add("- TCP, " + (now.inputByRing() && now.outputByRing()
                ? "Offloaded"
                : now.inputByRing() || now.outputByRing()
                        ? "Offloaded in one direction"
                        : "Not offloaded" + (why.isEmpty() ? " yet" : ": " + why)));
        to.add("- Local Address   = [" + text(local(tcp)) + "]");
        to.add("- Foreign Address = [" + text(remote(tcp)) + "]");
        add(to, "Tx Offload: %d / %d / %d [kilobytes/bytes/stalls]", f.sentByRing() >> KILO, f.sentByRing(),
                f.stalls());
        add(to, "Tx OS info: %d / %d [kilobytes/bytes]", f.sentByTcp() >> KILO, f.sentByTcp());
        add(to, "Tx byte: cur %d / limit %d", now.outOccupied(), now.outRing());
        add(to, "Rx Offload: %d / %d [kilobytes/bytes]", f.receivedByRing() >> KILO, f.receivedByRing());
        add(to, "Rx OS info: %d / %d [kilobytes/bytes]", f.receivedByTcp() >> KILO, f.receivedByTcp());
        add(to, "Rx byte: cur %d / limit %d", now.inOccupied(), now.inRing());
        RingPackets held = RingPackets.of(s);
        add(to, "Rx zero copy buffers: cur %d", held == null ? 0 : held.held());
        String leak = held == null ? null : held.leak();
        if (leak != null) {
            to.add("Rx zero copy leak: " + leak);
        }
        add(to, "Doorbells: %d / %d [sent/received]", f.doorbells(), f.wakeUps());
        add(to, "Ring growths: %d", f.growths());
    }

    /** A line, unless all its numbers are 0. */
    private static void add(List<String> to, String format, long... numbers) {
        boolean any = false;
        Object[] all = new Object[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            any |= numbers[i] != 0;
            all[i] = numbers[i];
        }
        if (any) {
            to.add(String.format(java.util.Locale.ROOT, format, all));
        }
    }

    private static @Nullable SocketAddress local(SocketChannel tcp) {
        try {
            return tcp.getLocalAddress();
        } catch (IOException closed) {
            return null;
        }
    }

    private static @Nullable SocketAddress remote(SocketChannel tcp) {
        try {
            return tcp.getRemoteAddress();
        } catch (IOException closed) {
            return null;
        }
    }

    private static String text(@Nullable SocketAddress address) {
        return address == null ? "closed" : address.toString().replaceFirst("^.*/", "");
    }
}
