// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.Arrays;

import org.verbena.linux.Errno;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.VerbsException;

/**
 * Which packets a flow takes, as the maps have it. Immutable.
 *
 * <p>Every bit of a {@link FlowKey} may count or not, so any value with any mask of its fields is possible: prefixes,
 * ranges of ports that are powers of two, a VLAN's number without its priority. What the program does not look at is
 * refused with {@code EOPNOTSUPP}: headers inside tunnels, VXLAN, GRE, MPLS, ESP, and of the others time to live, hop
 * limit, fragmentation flags and flow label.
 *
 * @param key the values of the fields, in the bits that count; all others are 0
 * @param bits the bits that count
 * @param level {@link #SNIFFER}, {@link #NORMAL}, {@link #MC_DEFAULT} or {@link #ALL_DEFAULT}
 * @param priority 0 to 65535; a lower one is asked first
 * @param watches whether the packets go on to other flows, and this one only counts them
 */
public record FlowMatch(FlowKey key, FlowKey bits, int level, int priority, boolean watches) {
    /** Asked before all others: {@link FlowType#SNIFFER}. */
    public static final int SNIFFER = 0;
    /** Flows with specifications, by their priority. */
    public static final int NORMAL = 1;
    /** Multicast that no other flow takes: {@link FlowType#MC_DEFAULT}. */
    public static final int MC_DEFAULT = 2;
    /** What no other flow takes: {@link FlowType#ALL_DEFAULT}. */
    public static final int ALL_DEFAULT = 3;

    private static final String VERB = "createFlow";
    private static final int PROTOCOL_TCP = 6;
    private static final int PROTOCOL_UDP = 17;
    private static final int MULTICAST = 1;

    @Override
    public String toString() {
        return MatchText.of(key, bits) + switch (level) {
            case SNIFFER -> ", as a sniffer";
            case MC_DEFAULT -> ", by default";
            case ALL_DEFAULT -> ", by default";
            default -> ", priority " + priority;
        };
    }

    /** Keeps the bits that count. */
    public FlowMatch {
        key = key.and(bits);
    }

    /**
     * Which packets a flow of the API takes.
     *
     * @throws VerbsException {@code EOPNOTSUPP} (the program does not look at that, or at packets that are sent),
     *         {@code EINVAL} (no packet can match)
     */
    public static FlowMatch of(FlowAttributes attributes) throws VerbsException {
        if ((attributes.flags() & FlowFlags.EGRESS) != 0) {
            throw unsupported("an XDP program sees packets that are received, none that are sent (EGRESS)");
        }
        boolean watches = (attributes.flags() & FlowFlags.DONT_TRAP) != 0;
        Fields fields = new Fields();
        int level = switch (attributes.type()) {
            case FlowType.NORMAL -> NORMAL;
            case FlowType.MC_DEFAULT -> MC_DEFAULT;
            case FlowType.ALL_DEFAULT -> ALL_DEFAULT;
            case FlowType.SNIFFER -> SNIFFER;
            default -> throw unsupported("there is no flow type " + attributes.type());
        };
        if (level == MC_DEFAULT) {
            fields.compare(FlowKey.ETH_DESTINATION, new byte[] {MULTICAST}, new byte[] {MULTICAST});
        }
        for (FlowSpec spec : attributes.specs()) {
            if (!spec.isAction()) {
                fields.add(spec);
            } else if (spec.type() == FlowSpecType.ACTION_TAG) {
                throw unsupported("a tag does not travel with the packet: " + spec);
            }
        }
        return new FlowMatch(fields.key, fields.bits, level, attributes.priority(), watches || level == SNIFFER);
    }

    /**
     * Where the flow's mask is in the list: by level, then by priority, then those that watch, then those of which more
     * bits count.
     *
     * @return 48 bits
     */
    long order() {
        return (long) level << 40 | (long) priority << 16 | (watches ? 0 : 1 << 15) | 8 * FlowKey.BYTES
                - bits.bitCount();
    }

    private static VerbsException unsupported(String why) {
        return new VerbsException(VERB, Errno.EOPNOTSUPP, why);
    }

    /** Collects the fields. */
    private static final class Fields {
        private FlowKey key = FlowKey.EMPTY;
        private FlowKey bits = FlowKey.EMPTY;

        void add(FlowSpec spec) throws VerbsException {
            if (spec.isInner()) {
                throw unsupported("the program does not look into tunnels: " + spec);
            }
            switch (spec.type()) {
                case FlowSpecType.ETH -> ethernet(spec);
                case FlowSpecType.IPV4, FlowSpecType.IPV4_EXT -> {
                    kind(FlowKey.IPV4);
                    ignored(spec, FlowField.IPV4_TTL);
                    ignored(spec, FlowField.IPV4_FLAGS);
                    field(spec, FlowField.IPV4_SOURCE, FlowKey.SOURCE);
                    field(spec, FlowField.IPV4_DESTINATION, FlowKey.DESTINATION);
                    field(spec, FlowField.IPV4_PROTOCOL, FlowKey.PROTOCOL);
                    field(spec, FlowField.IPV4_TOS, FlowKey.TOS);
                }
                case FlowSpecType.IPV6 -> {
                    kind(FlowKey.IPV6);
                    ignored(spec, FlowField.IPV6_FLOW_LABEL);
                    ignored(spec, FlowField.IPV6_HOP_LIMIT);
                    field(spec, FlowField.IPV6_SOURCE, FlowKey.SOURCE);
                    field(spec, FlowField.IPV6_DESTINATION, FlowKey.DESTINATION);
                    field(spec, FlowField.IPV6_NEXT_HEADER, FlowKey.PROTOCOL);
                    field(spec, FlowField.IPV6_TRAFFIC_CLASS, FlowKey.TOS);
                }
                case FlowSpecType.TCP -> ports(spec, PROTOCOL_TCP);
                case FlowSpecType.UDP -> ports(spec, PROTOCOL_UDP);
                default -> throw unsupported("the program does not look at such headers: " + spec);
            }
        }

        private void ethernet(FlowSpec spec) throws VerbsException {
            field(spec, FlowField.ETH_DESTINATION, FlowKey.ETH_DESTINATION);
            field(spec, FlowField.ETH_SOURCE, FlowKey.ETH_SOURCE);
            field(spec, FlowField.ETH_TYPE, FlowKey.ETH_TYPE);
            if (spec.mask(FlowField.ETH_VLAN) != 0) {
                kind(FlowKey.VLAN);
                field(spec, FlowField.ETH_VLAN, FlowKey.ETH_VLAN);
            }
        }

        private void ports(FlowSpec spec, int protocol) throws VerbsException {
            kind(FlowKey.PORTS);
            compare(FlowKey.PROTOCOL, new byte[] {(byte) protocol}, new byte[] {-1});
            field(spec, FlowField.SOURCE_PORT, FlowKey.SOURCE_PORT);
            field(spec, FlowField.DESTINATION_PORT, FlowKey.DESTINATION_PORT);
        }

        private void kind(int kind) {
            key = key.or(FlowKey.KIND, kind);
            bits = bits.or(FlowKey.KIND, kind);
        }

        private void field(FlowSpec spec, int field, int at) throws VerbsException {
            if (spec.fields().contains(field)) {
                compare(at, spec.valueBytes(field), spec.maskBytes(field));
            }
        }

        private static void ignored(FlowSpec spec, int field) throws VerbsException {
            if (spec.fields().contains(field) && spec.mask(field) != 0) {
                throw unsupported("the program does not look at " + FlowField.toString(field) + ": " + spec);
            }
        }

        private void compare(int at, byte[] value, byte[] mask) throws VerbsException {
            byte[] wanted = value.clone();
            byte[] before = Arrays.copyOfRange(key.bytes(), at, at + value.length);
            byte[] compared = Arrays.copyOfRange(bits.bytes(), at, at + value.length);
            for (int i = 0; i < value.length; i++) {
                wanted[i] &= mask[i];
                if (((wanted[i] ^ before[i]) & mask[i] & compared[i]) != 0) {
                    throw new VerbsException(VERB, Errno.EINVAL, "two specifications contradict each other in a field, "
                            + "so no packet can match: " + MatchText.of(key, bits));
                }
            }
            key = key.or(at, wanted);
            bits = bits.or(at, mask);
        }
    }
}
