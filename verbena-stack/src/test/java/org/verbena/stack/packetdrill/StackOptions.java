// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.verbena.stack.model.TcpSettings;

/** Options of the stack by FreeBSD's names, and those of sockets by the system's, as settings. */
final class StackOptions {
    private static final int KEEP_INIT = 75_000;
    /** Options that are there with one value only: what the stack always does. */
    private static final Map<String, Set<String>> FIXED = Map.ofEntries(Map.entry("net.inet.tcp.blackhole", Set.of(
            "0")),
            Map.entry("net.inet.tcp.insecure_rst", Set.of("0")), Map.entry("net.inet.tcp.insecure_syn", Set.of("0")),
            Map.entry("net.inet.tcp.drop_synfin", Set.of("1")), Map.entry("net.inet.tcp.icmp_may_rst", Set.of("1")),
            Map.entry("net.inet.tcp.rexmit_drop_options", Set.of("0")),
            Map.entry("net.inet.tcp.rexmit_initial", Set.of("1000")),
            Map.entry("net.inet.tcp.rexmit_slop", Set.of("200")),
            Map.entry("net.inet.tcp.hostcache.purgenow", Set.of("1")),
            Map.entry("net.inet.tcp.ecn.maxretries", Set.of("1")),
            Map.entry("net.inet.tcp.syncookies", Set.of("1")),
            Map.entry("net.inet.tcp.syncookies_only", Set.of("0")),
            Map.entry("net.inet.tcp.tolerate_missing_ts", Set.of("0")),
            Map.entry("net.inet.tcp.keepinit", Set.of(String.valueOf(KEEP_INIT))));

    private final Map<String, Long> values = new HashMap<>();
    /** What a segment takes of a link of 1500 bytes: FreeBSD's buffers are a multiple of it. */
    private final int segment;

    StackOptions(boolean ipv4) {
        segment = ipv4 ? 1460 : 1440;
        set("SO_RCVBUF", 65_536);
        set("SO_SNDBUF", 32_768);
        values.put("TCP_KEEPIDLE", 7200L);
        values.put("TCP_KEEPINTVL", 75L);
        values.put("TCP_KEEPCNT", 8L);
        values.put("rfc1323", 1L);
        values.put("sack", 1L);
        values.put("ecn", 0L);
        values.put("delack", 40L);
    }

    /** Those of a new socket. */
    StackOptions(StackOptions of) {
        segment = of.segment;
        values.putAll(of.values);
    }

    /** Sets one of the stack. */
    boolean sysctl(String name, String value) {
        if (FIXED.containsKey(name)) {
            return FIXED.get(name).contains(value);
        }
        if (!value.matches("\\d{1,9}")) {
            return false;
        }
        long v = Long.parseLong(value);
        switch (name) {
            case "kern.ipc.maxsockbuf" -> {}
            case "net.inet.tcp.recvspace" -> set("SO_RCVBUF", v);
            case "net.inet.tcp.sendspace" -> set("SO_SNDBUF", v);
            case "net.inet.tcp.rfc1323" -> values.put("rfc1323", v);
            case "net.inet.tcp.sack.enable" -> values.put("sack", v);
            case "net.inet.tcp.ecn.enable" -> values.put("ecn", v);
            case "net.inet.tcp.delacktime" -> values.put("delack", v);
            case "net.inet.tcp.keepidle" -> values.put("TCP_KEEPIDLE", v / 1000);
            case "net.inet.tcp.keepintvl" -> values.put("TCP_KEEPINTVL", v / 1000);
            case "net.inet.tcp.keepcnt" -> values.put("TCP_KEEPCNT", v);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Sets one of a socket; answers whether there is one of that name. */
    boolean set(String name, long value) {
        switch (name) {
            case "SO_RCVBUF" -> values.put(name, (value + segment - 1) / segment * segment);
            case "SO_REUSEADDR", "SO_SNDBUF", "SO_KEEPALIVE", "TCP_NODELAY", "TCP_CORK", "TCP_NOPUSH", "TCP_MAXSEG",
                    "TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_KEEPINIT", "TCP_USER_TIMEOUT" -> values.put(
                            name, value);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** The value of one; negative if there is none of that name. */
    long get(String name) {
        return values.getOrDefault(name, -1L);
    }

    private long value(String name) {
        return values.getOrDefault(name, 0L);
    }

    TcpSettings settings() {
        return TcpSettings.builder().receiveBuffer((int) value("SO_RCVBUF")).sendBuffer((int) value("SO_SNDBUF"))
                .timestamps(value("rfc1323") > 0).windowScale(value("rfc1323") > 0).sack(value("sack") > 0)
                .ecn(value("ecn") == 1).delayedAck(Duration.ofMillis(value("delack"))).quickAcks(0)
                .noDelay(value("TCP_NODELAY") > 0).maximumSegment((int) value("TCP_MAXSEG"))
                .keepAlive(value("SO_KEEPALIVE") > 0).keepAliveIdle(Duration.ofSeconds(value("TCP_KEEPIDLE")))
                .keepAliveInterval(Duration.ofSeconds(value("TCP_KEEPINTVL")))
                .keepAliveProbes((int) value("TCP_KEEPCNT")).userTimeout(userTimeout()).build();
    }

    private Duration userTimeout() {
        long init = value("TCP_KEEPINIT");
        return init > 0 ? Duration.ofSeconds(init) : Duration.ofMillis(value("TCP_USER_TIMEOUT"));
    }
}
