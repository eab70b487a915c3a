// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.List;
import java.util.Map;
import java.util.Map.Entry;

import org.jspecify.annotations.Nullable;

/** Types and codes of ICMP for IPv4, as packetdrill names them; those of IPv6 are only known by name. */
public final class IcmpNames {
    private static final Map<String, Integer> TYPES = Map.of("unreachable", 3, "source_quench", 4, "redirect", 5,
            "time_exceeded", 11, "parameter_problem", 12, "packet_too_big", -2, "echo_request", 8, "echo_reply", 0);
    private static final Map<Integer, List<String>> CODES = Map.of(3,
            List.of("net_unreachable", "host_unreachable", "protocol_unreachable", "port_unreachable", "frag_needed",
                    "source_route_failed", "net_unknown", "host_unknown", "source_host_isolated", "net_prohibited",
                    "host_prohibited", "net_unreachable_for_tos", "host_unreachable_for_tos", "packet_filtered",
                    "precedence_violation", "precedence_cutoff"),
            11, List.of("ttl_exceeded_in_transit", "frag_reass_exceeded"), 12, List.of());
    private static final List<String> CODES6 = List.of("no_route", "admin_prohibited", "not_neighbour",
            "address_unreachable", "exceeded_hop_limit", "exceeded_frag_time", "header_field", "unknown_next_header",
            "unknown_option");

    private IcmpNames() {}

    public static boolean isType(String name) {
        return TYPES.containsKey(name);
    }

    public static boolean isCode(String name) {
        return CODES6.contains(name) || name.matches("code_\\d{1,3}")
                || CODES.values().stream().anyMatch(c -> c.contains(name));
    }

    /** The number of a type in IPv4; negative if it has none. */
    public static int type(String name) {
        return TYPES.get(name);
    }

    /** The number of a code in IPv4; negative if it has none. */
    public static int code(String type, @Nullable String name) {
        if (name == null) {
            return 0;
        }
        if (name.startsWith("code_")) {
            return Integer.parseInt(name.substring("code_".length()));
        }
        return CODES.getOrDefault(type(type), List.of()).indexOf(name);
    }

    /** The name of a type. */
    public static String typeName(int type) {
        return TYPES.entrySet().stream().filter(e -> e.getValue() == type).map(Entry::getKey).findFirst().orElse(
                "type_" + type);
    }

    /** The name of a code. */
    public static String codeName(int type, int code) {
        List<String> names = CODES.getOrDefault(type, List.of());
        return code < names.size() ? names.get(code) : "code_" + code;
    }
}
