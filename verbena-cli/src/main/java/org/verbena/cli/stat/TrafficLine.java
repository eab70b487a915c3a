// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.net.InetAddress;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.verbena.xdp.monitor.MonitorSample;
import org.verbena.xdp.monitor.MonitorSample.Count;
import org.verbena.xdp.monitor.MonitoredFlow;
import org.verbena.xdp.monitor.Protocols;

/**
 * A flow, an address or a port, with its packets. An address or port counts what comes from it and what goes to it; a
 * packet that does both counts once.
 */
final class TrafficLine {
    private static final Map<Integer, String> TYPES = Map.of(0x0800, "ip", 0x0806, "arp", 0x86dd, "ip6", 0x88cc, "lldp",
            0x888e, "eapol", 0x8847, "mpls");

    private final String name;
    private final Map<String, @Nullable Object> fields;
    private Count total = Count.NONE;
    private Count recent = Count.NONE;
    private Count from = Count.NONE;
    private Count to = Count.NONE;

    private TrafficLine(String name, Map<String, @Nullable Object> fields) {
        this.name = name;
        this.fields = fields;
    }

    /** All lines, in no order. */
    static Collection<TrafficLine> of(TrafficBy by, MonitorSample now, @Nullable MonitorSample before) {
        Map<String, TrafficLine> lines = new HashMap<>();
        now.flows().forEach((flow, count) -> {
            Count earlier = before == null ? null : before.flows().get(flow);
            Count recent = earlier == null ? count : count.since(earlier);
            switch (by) {
                case FLOW -> {
                    TrafficLine line = flow(flow);
                    line.add(count, recent, true, true);
                    lines.put(line.name, line);
                }
                case ADDRESS -> ends(lines, address(flow.source()), address(flow.destination()), count, recent);
                case PORT -> ends(lines, port(flow.protocol(), flow.sourcePort()), port(flow.protocol(), flow
                        .destinationPort()), count, recent);
            }
        });
        return lines.values();
    }

    private static void ends(Map<String, TrafficLine> lines, Optional<TrafficLine> source,
            Optional<TrafficLine> destination, Count count, Count recent) {
        boolean one = source.isPresent() && destination.isPresent() && source.get().name.equals(destination
                .get().name);
        source.ifPresent(s -> lines.computeIfAbsent(s.name, n -> s).add(count, recent, true, one));
        if (!one) {
            destination.ifPresent(d -> lines.computeIfAbsent(d.name, n -> d).add(count, recent, false, true));
        }
    }

    private void add(Count count, Count more, boolean source, boolean destination) {
        total = total.plus(count);
        recent = recent.plus(more);
        if (source) {
            from = from.plus(count);
        }
        if (destination) {
            to = to.plus(count);
        }
    }

    private static Optional<TrafficLine> address(Optional<InetAddress> address) {
        return address.map(a -> {
            Map<String, @Nullable Object> m = new LinkedHashMap<>();
            String text = MonitoredFlow.text(a);
            m.put("address", text);
            return new TrafficLine(text, m);
        });
    }

    private static Optional<TrafficLine> port(int protocol, int port) {
        if (port < 0) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("protocol", Protocols.name(protocol));
        m.put("port", port);
        return Optional.of(new TrafficLine(Protocols.name(protocol) + " " + port, m));
    }

    private static TrafficLine flow(MonitoredFlow f) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        String type = TYPES.getOrDefault(f.etherType(), String.format(Locale.ROOT, "0x%04x", f.etherType()));
        String direction = f.sent() ? "sent" : "received";
        m.put("direction", direction);
        m.put("type", type);
        m.put("vlan", f.vlan() < 0 ? null : f.vlan());
        m.put("protocol", f.protocol() < 0 ? null : Protocols.name(f.protocol()));
        m.put("fragment", f.fragment());
        m.put("source", f.source().map(MonitoredFlow::text).orElse(null));
        m.put("source_port", f.sourcePort() < 0 ? null : f.sourcePort());
        m.put("destination", f.destination().map(MonitoredFlow::text).orElse(null));
        m.put("destination_port", f.destinationPort() < 0 ? null : f.destinationPort());
        StringBuilder b = new StringBuilder(f.sent() ? "out " : "in  ");
        if (f.vlan() >= 0) {
            b.append("vlan ").append(f.vlan()).append(' ');
        }
        if (f.source().isEmpty() || f.destination().isEmpty()) {
            b.append(type);
        } else {
            b.append(Protocols.name(f.protocol())).append(f.fragment() ? " fragments " : " ");
            b.append(end(f.source().get(), f.sourcePort())).append(" > ");
            b.append(end(f.destination().get(), f.destinationPort()));
        }
        return new TrafficLine(b.toString(), m);
    }

    private static String end(InetAddress address, int port) {
        String text = MonitoredFlow.text(address);
        return port < 0 ? text : (text.indexOf(':') < 0 ? text : "[" + text + "]") + ":" + port;
    }

    /** What distinguishes it from the others. */
    String name() {
        return name;
    }

    /** The same in parts. */
    Map<String, @Nullable Object> fields() {
        return fields;
    }

    Count total() {
        return total;
    }

    /** Since the sample before, or the begin. */
    Count recent() {
        return recent;
    }

    /** Of an address or port: what comes from it. */
    Count from() {
        return from;
    }

    /** Of an address or port: what goes to it. */
    Count to() {
        return to;
    }
}
