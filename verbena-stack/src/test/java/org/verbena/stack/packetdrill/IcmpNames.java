// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.List;
import java.util.Map;
import java.util.Map.Entry;

import org.jspecify.annotations.Nullable;

/**
 * Types and codes of ICMP for a version of IP, as packetdrill names them.
 *
 * @param types numbers by name
 * @param codes names of the first codes by the type's number
 */
public record IcmpNames(Map<String, Integer> types, Map<Integer, List<String>> codes) {
    private static final IcmpNames IPV4 = new IcmpNames(
            Map.of("unreachable", 3, "source_quench", 4, "redirect", 5, "time_exceeded", 11, "parameter_problem", 12,
                    "echo_request", 8, "echo_reply", 0),
            Map.of(3, List.of("net_unreachable", "host_unreachable", "protocol_unreachable", "port_unreachable",
                    "frag_needed", "source_route_failed", "net_unknown", "host_unknown", "source_host_isolated",
                    "net_prohibited", "host_prohibited", "net_unreachable_for_tos", "host_unreachable_for_tos",
                    "packet_filtered", "precedence_violation", "precedence_cutoff"),
                    11, List.of("ttl_exceeded_in_transit", "frag_reass_exceeded")));
    private static final IcmpNames IPV6 = new IcmpNames(
            Map.of("unreachable", 1, "packet_too_big", 2, "time_exceeded", 3, "parameter_problem", 4, "echo_request",
                    128, "echo_reply", 129),
            Map.of(1, List.of("no_route", "admin_prohibited", "not_neighbour", "address_unreachable",
                    "port_unreachable"), 3, List.of("exceeded_hop_limit", "exceeded_frag_time"), 4,
                    List.of("header_field", "unknown_next_header", "unknown_option")));

    /** Those of a version. */
    static IcmpNames of(boolean ipv4) {
        return ipv4 ? IPV4 : IPV6;
    }

    /** Whether either version has a type of that name. */
    public static boolean isType(String name) {
        return IPV4.types.containsKey(name) || IPV6.types.containsKey(name);
    }

    /** Whether either version has a code of that name. */
    public static boolean isCode(String name) {
        return name.matches("code_\\d{1,3}") || IPV4.hasCode(name) || IPV6.hasCode(name);
    }

    private boolean hasCode(String name) {
        return codes.values().stream().anyMatch(c -> c.contains(name));
    }

    /** The number of a type; negative if it has none. */
    public int type(String name) {
        return types.getOrDefault(name, -1);
    }

    /** The number of a code; negative if it has none. */
    public int code(String type, @Nullable String name) {
        if (name == null) {
            return 0;
        }
        if (name.startsWith("code_")) {
            return Integer.parseInt(name.substring("code_".length()));
        }
        return codes.getOrDefault(type(type), List.of()).indexOf(name);
    }

    /** The name of a type. */
    public String typeName(int type) {
        return types.entrySet().stream().filter(e -> e.getValue() == type).map(Entry::getKey).findFirst().orElse(
                "type_" + type);
    }

    /** The name of a code. */
    public String codeName(int type, int code) {
        List<String> names = codes.getOrDefault(type, List.of());
        return code < names.size() ? names.get(code) : "code_" + code;
    }
}
