// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.verbena.stack.model.TcpSettings;

/** Options of the stack by FreeBSD's names or Linux's, and those of sockets by the system's, as settings. */
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

    /** The same of Linux, and those that only tell it how it does what no segment shows. */
    private static final Map<String, Set<String>> FIXED_OF_LINUX = Map.ofEntries(Map.entry("tcp_window_scaling", Set.of(
            "1")), Map.entry("tcp_recovery", Set.of("1")), Map.entry("tcp_early_retrans", Set.of("3", "4")),
            Map.entry("tcp_reordering", Set.of("3")), Map.entry("tcp_dsack", Set.of("1")),
            Map.entry("tcp_fack", Set.of("0")), Map.entry("tcp_frto", Set.of("2")),
            Map.entry("tcp_syncookies", Set.of("1")), Map.entry("tcp_slow_start_after_idle", Set.of("1")),
            Map.entry("tcp_notsent_lowat", Set.of("4294967295")), Map.entry("tcp_mtu_probing", Set.of("0")),
            Map.entry("tcp_shrink_window", Set.of("0")));
    private static final Set<String> OF_NO_EFFECT = Set.of("tcp_tso_win_divisor", "tcp_min_tso_segs",
            "tcp_pacing_ss_ratio", "tcp_pacing_ca_ratio", "tcp_fastopen", "tcp_fastopen_key", "tcp_no_metrics_save",
            "tcp_ecn_option", "tcp_invalid_ratelimit");

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
        values.put("timestamps", 1L);
    }

    /** As the defaults of scripts for Linux are: a half of {@code tcp_rmem} is for bytes. */
    static StackOptions forLinux(boolean ipv4) {
        StackOptions o = new StackOptions(ipv4);
        o.values.put("SO_RCVBUF", 270_000L);
        o.values.put("SO_SNDBUF", 262_144L);
        o.values.put("quickAcks", 16L);
        o.values.put("TCP_KEEPCNT", 9L);
        return o;
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
        if (name.startsWith("net.ipv4.")) {
            return sysctlOfLinux(name.substring("net.ipv4.".length()), value);
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

    private boolean sysctlOfLinux(String name, String value) {
        if (FIXED_OF_LINUX.containsKey(name)) {
            return FIXED_OF_LINUX.get(name).contains(value);
        }
        String[] numbers = value.split("\\s+", -1); // the least, the default and the most of memory
        String number = numbers.length > 1 ? numbers[1] : value;
        if (name.equals("tcp_congestion_control")) {
            values.put("reno", value.equals("reno") ? 1L : 0);
            return value.equals("reno") || value.equals("cubic");
        }
        if (OF_NO_EFFECT.contains(name) || !number.matches("\\d{1,9}")) {
            return OF_NO_EFFECT.contains(name);
        }
        long v = Long.parseLong(number);
        switch (name) {
            case "tcp_rmem" -> values.put("SO_RCVBUF", v / 2);
            case "tcp_wmem" -> values.put("SO_SNDBUF", v);
            case "tcp_timestamps" -> values.put("timestamps", v);
            case "tcp_sack" -> values.put("sack", v);
            case "tcp_ecn" -> {
                values.put("ecn", v);
                return v <= 2;
            }
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
                .timestamps(value("rfc1323") > 0 && value("timestamps") > 0).windowScale(value("rfc1323") > 0).sack(
                        value("sack") > 0)
                .ecn(value("ecn") == 1).delayedAck(Duration.ofMillis(value("delack"))).quickAcks((int) value(
                        "quickAcks")).cubic(value("reno") == 0)
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
