// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import java.util.Map;
import java.util.OptionalInt;

/** Names of the protocols over IP, as filters and people use them. */
public final class Protocols {
    private static final Map<String, Integer> NUMBERS = Map.of("icmp", Fields.PROTOCOL_ICMP, "tcp", Fields.PROTOCOL_TCP,
            "udp", Fields.PROTOCOL_UDP, "icmp6", Fields.PROTOCOL_ICMPV6, "igmp", 2, "gre", 47, "esp", 50, "ah", 51,
            "sctp", 132);

    private Protocols() {}

    /** The number of a name, if it is known. */
    static OptionalInt number(String name) {
        Integer number = NUMBERS.get(name);
        return number == null ? OptionalInt.empty() : OptionalInt.of(number);
    }

    /** The name of a number, or the number. */
    public static String name(int number) {
        return NUMBERS.entrySet().stream().filter(e -> e.getValue() == number).map(Map.Entry::getKey).findAny().orElse(
                Integer.toString(number));
    }
}
