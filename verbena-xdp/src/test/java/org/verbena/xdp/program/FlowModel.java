// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Bpf;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.FlowType;

/** What becomes of packets by the flows' own words, and what is counted: the program has to do the same. */
final class FlowModel {
    /** A flow: what the application said, and what happens. */
    record Rule(FlowAttributes attributes, FlowEntry entry) {
        boolean watches() {
            return (attributes.flags() & FlowFlags.DONT_TRAP) != 0 || attributes.type() == FlowType.SNIFFER;
        }

        private boolean matches(PacketModel packet) {
            return switch (attributes.type()) {
                case FlowType.MC_DEFAULT -> packet.isMulticast();
                case FlowType.NORMAL -> attributes.specs().stream().allMatch(packet::matches);
                default -> true;
            };
        }

        private int level() {
            return switch (attributes.type()) {
                case FlowType.SNIFFER -> 0;
                case FlowType.NORMAL -> 1;
                case FlowType.MC_DEFAULT -> 2;
                default -> 3;
            };
        }

        /** Bits that are compared, with one for each header that has to be there. */
        int bits() {
            int bits = attributes.type() == FlowType.MC_DEFAULT ? 1 : 0;
            int protocol = 0;
            for (FlowSpec s : attributes.specs()) {
                if (s.isAction()) {
                    continue;
                }
                boolean transport = s.type() == FlowSpecType.TCP || s.type() == FlowSpecType.UDP;
                protocol |= transport ? 0xFF : 0;
                bits += s.type() == FlowSpecType.ETH ? s.mask(FlowField.ETH_VLAN) == 0 ? 0 : 1 : 1;
                for (int field : s.fields()) {
                    if (field == FlowField.IPV4_PROTOCOL || field == FlowField.IPV6_NEXT_HEADER) {
                        protocol |= (int) s.mask(field);
                    } else {
                        for (byte b : s.maskBytes(field)) {
                            bits += Integer.bitCount(Byte.toUnsignedInt(b));
                        }
                    }
                }
            }
            return bits + Integer.bitCount(protocol);
        }

        /** The fields that are compared, and with values those as well. */
        private String compared(boolean values) {
            StringBuilder b = new StringBuilder().append(attributes.type()).append(watches());
            for (FlowSpec s : attributes.specs()) {
                b.append(' ').append(s.type());
                for (int field : new TreeSet<>(s.fields())) {
                    byte[] mask = s.maskBytes(field);
                    byte[] value = s.valueBytes(field);
                    for (int i = 0; i < mask.length; i++) {
                        value[i] &= mask[i];
                    }
                    b.append(' ').append(field).append('/').append(HexFormat.of().formatHex(mask)).append(values
                            ? HexFormat.of().formatHex(value)
                            : "");
                }
            }
            return b.toString();
        }

        /** Whether it compares other fields at the same place of the order, so that either may be first. */
        boolean isBeside(Rule other) {
            return ORDER.compare(this, other) == 0 && !compared(false).equals(other.compared(false));
        }

        /** Whether both take the same packets at the same priority. */
        boolean isSame(Rule other) {
            return ORDER.compare(this, other) == 0 && compared(true).equals(other.compared(true));
        }
    }

    /** The owner that has ended. */
    static final int ENDED = 200;

    private static final Comparator<Rule> ORDER = Comparator.comparingInt(Rule::level).thenComparingInt(
            r -> r.attributes.priority()).thenComparing(r -> !r.watches()).thenComparingInt(r -> -r.bits());

    private final List<Rule> rules = new ArrayList<>();
    private final Map<Integer, FlowCount> counts = new TreeMap<>();

    void add(Rule rule) {
        rules.add(rule);
        rules.sort(ORDER);
    }

    void remove(Rule rule) {
        rules.remove(rule);
    }

    List<Rule> rules() {
        return rules;
    }

    FlowCount count(int counter) {
        return counts.getOrDefault(counter, new FlowCount(0, 0));
    }

    /** What the program has to return for a packet of queue 0, where only some targets have a socket. */
    int handle(byte[] packet, int targetsWithSocket) {
        PacketModel model = PacketModel.of(packet);
        Rule taker = find(model, packet.length, true);
        if (taker == null && model.answerTo().isPresent()) {
            taker = find(model.answerTo().get(), packet.length, false);
        }
        if (taker == null) {
            return Bpf.XDP_PASS;
        }
        return switch (taker.entry.action()) {
            case DROP -> Bpf.XDP_DROP;
            case REDIRECT -> taker.entry.target() < targetsWithSocket ? Bpf.XDP_REDIRECT : Bpf.XDP_PASS;
            default -> Bpf.XDP_PASS;
        };
    }

    private @Nullable Rule find(PacketModel packet, int length, boolean itself) {
        for (Rule rule : rules) {
            if (rule.entry.owner() != ENDED && rule.matches(packet) && (itself || !rule.watches())) {
                if (rule.entry.counter() != 0) {
                    counts.merge(rule.entry.counter(), new FlowCount(1, length), (a, b) -> new FlowCount(a.packets() + b
                            .packets(), a.bytes() + b.bytes()));
                }
                if (!rule.watches()) {
                    return rule;
                }
            }
        }
        return null;
    }
}
