// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.verbena.sockets.SocketObjectType;
import org.verbena.telemetry.EntryView;
import org.verbena.telemetry.SamplePoints;
import org.verbena.verbs.spi.Ipv6Text;

/** What the numbers in an entry of a socket, or of what belongs to sockets, mean. */
public final class SocketAttributes {
    private static final String[] ROLES = {"", "client", "server"};
    private static final String[] CARRIERS = {"", "tcp", "ring"};

    private SocketAttributes() {}

    static Map<String, Object> of(EntryView e) {
        Map<String, Object> all = new LinkedHashMap<>();
        long[] a = e.attributes();
        switch (e.type()) {
            case SocketObjectType.SOCKETS -> {
                all.put("open", a[SocketLayout.OPEN]);
                all.put("listening", a[SocketLayout.LISTENING]);
                all.put("notShown", a[SocketLayout.NOT_PUBLISHED]);
                if ((a[SocketLayout.ACTIVE] & SocketLayout.AGENT) != 0) {
                    all.put("active", parts(a[SocketLayout.ACTIVE]));
                    all.put("inactive", parts(~a[SocketLayout.ACTIVE]));
                    all.put("listenersFromBefore", a[SocketLayout.PLAIN_LISTENERS]);
                }
                if (a[SocketLayout.MEMORY_LIMIT] != 0) {
                    all.put("ringBytes", a[SocketLayout.RING_BYTES]);
                    all.put("ringLimit", a[SocketLayout.RING_LIMIT]);
                    all.put("memoryLimit", a[SocketLayout.MEMORY_LIMIT] & SocketLayout.MEMORY_SHORT - 1);
                    all.put("memoryLimitOf", a[SocketLayout.MEMORY_LIMIT] < 0 ? "control group" : "machine");
                    all.put("memoryShort", (a[SocketLayout.MEMORY_LIMIT] & SocketLayout.MEMORY_SHORT) != 0);
                }
            }
            case SocketObjectType.CONNECTION, SocketObjectType.LISTENER -> socket(all, e.type(), a);
            case SocketObjectType.RULE -> {
                all.put("text", e.name());
                all.put("line", a[SocketLayout.LINE]);
                String source = RuleSource.of(a);
                if (!source.isEmpty()) {
                    all.put("source", source);
                }
            }
            default -> all.put("name", e.name());
        }
        return all;
    }

    private static String parts(long bits) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < SocketLayout.PARTS.size(); i++) {
            if ((bits >>> i & 1) != 0) {
                b.append(b.isEmpty() ? "" : ", ").append(SocketLayout.PARTS.get(i));
            }
        }
        return b.toString();
    }

    private static void local(Map<String, Object> all, long[] a) {
        long ports = a[SocketLayout.PORTS];
        all.put("local", address(a, SocketLayout.LOCAL, (int) (ports >>> 48), (int) ports & SocketLayout.LOCAL_IPV4));
    }

    /** Adds, of a connection: both addresses, and which end this one is. */
    public static void ends(Map<String, Object> all, long[] a) {
        long ports = a[SocketLayout.PORTS];
        int bits = (int) ports;
        local(all, a);
        all.put("remote", address(a, SocketLayout.REMOTE, (int) (ports >>> 32) & 0xffff,
                bits & SocketLayout.REMOTE_IPV4));
        put(all, "role", ROLES, bits >>> SocketLayout.ROLE & 3);
    }

    private static void socket(Map<String, Object> all, int type, long[] a) {
        int bits = (int) a[SocketLayout.PORTS];
        if (type == SocketObjectType.CONNECTION) {
            ends(all, a);
        } else {
            local(all, a);
        }
        put(all, "inBy", CARRIERS, bits >>> SocketLayout.IN_BY & 3);
        put(all, "outBy", CARRIERS, bits >>> SocketLayout.OUT_BY & 3);
        int reason = bits >>> SocketLayout.REASON & 0xff;
        if (reason != 0) { // a sample point for each: so its name is the point's
            all.put("byTcpFor", SamplePoints.toString(SocketLayout.FIRST_REASON + reason)
                    .replace("SOCKETS_BY_TCP_", "").toLowerCase(Locale.ROOT));
        }
        if (a[SocketLayout.RULE] != 0) {
            all.put("rule", a[SocketLayout.RULE]);
        }
        ring(all, "out", a[SocketLayout.OUT_RING]);
        ring(all, "in", a[SocketLayout.IN_RING]);
    }

    private static void ring(Map<String, Object> all, String direction, long sizeAndOccupied) {
        if (sizeAndOccupied >>> 32 != 0) {
            all.put(direction + "Ring", sizeAndOccupied >>> 32);
            all.put(direction + "Occupied", sizeAndOccupied & 0xffff_ffffL);
        }
    }

    private static void put(Map<String, Object> all, String name, String[] words, int i) {
        if (i < words.length && !words[i].isEmpty()) {
            all.put(name, words[i]);
        }
    }

    /** As {@code 10.0.0.1:80} or {@code [::1]:80}; anything may stand there, and gives some address. */
    private static String address(long[] a, int at, int port, int ipv4) {
        if (ipv4 != 0) {
            return Ipv6Text.ipv4((int) (a[at] >>> 32)) + ":" + port;
        }
        return "[" + Ipv6Text.of(a[at], a[at + 1]) + "]:" + port;
    }
}
