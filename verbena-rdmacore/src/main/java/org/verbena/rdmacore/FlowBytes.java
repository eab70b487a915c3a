// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.VerbsException;

/**
 * {@code struct ibv_flow_attr} with the specifications directly after it, one after the other and not aligned: each has
 * its type (4 bytes), its size (2), a value and a mask. Fields are in network order.
 */
final class FlowBytes {
    private static final int HEADER = 20;
    private static final int ATTR_TYPE = 4;
    private static final int ATTR_SIZE = 8;
    private static final int ATTR_PRIORITY = 10;
    private static final int ATTR_SPECS = 12;
    private static final int ATTR_PORT = 13;
    private static final int ATTR_FLAGS = 16;
    private static final int SPEC_SIZE = 4;
    static final int ACTION = 8;
    static final int COUNT_BYTES = 16;

    /** A type of specification: its size, the offsets of value and mask. */
    private record SpecLayout(int bytes, int value, int mask) {}

    private FlowBytes() {}

    static MemorySegment of(String verb, Arena arena, FlowAttributes a) throws VerbsException {
        List<FlowSpec> specs = a.specs();
        int bytes = HEADER;
        for (FlowSpec s : specs) {
            bytes += layout(verb, s.type()).bytes;
        }
        if (specs.size() > 0xff || bytes > 0xffff) {
            throw new VerbsException(verb, Errno.EINVAL, "a flow has at most 255 specifications");
        }
        MemorySegment m = arena.allocate(bytes, Long.BYTES);
        m.set(ValueLayout.JAVA_INT, ATTR_TYPE, a.type());
        m.set(ValueLayout.JAVA_SHORT, ATTR_SIZE, (short) bytes);
        m.set(ValueLayout.JAVA_SHORT, ATTR_PRIORITY, (short) a.priority());
        m.set(ValueLayout.JAVA_BYTE, ATTR_SPECS, (byte) specs.size());
        m.set(ValueLayout.JAVA_BYTE, ATTR_PORT, (byte) a.port());
        m.set(ValueLayout.JAVA_INT, ATTR_FLAGS, a.flags());
        int at = HEADER;
        for (FlowSpec s : specs) {
            SpecLayout layout = layout(verb, s.type());
            put(verb, m.asSlice(at, layout.bytes), s, layout);
            at += layout.bytes;
        }
        return m;
    }

    private static SpecLayout layout(String verb, int type) throws VerbsException {
        return switch (type < FlowSpecType.ACTION_TAG ? type & ~FlowSpecType.INNER : type) {
            case FlowSpecType.ETH -> new SpecLayout(40, 6, 22);
            case FlowSpecType.IPV4, FlowSpecType.ESP, FlowSpecType.GRE -> new SpecLayout(24, 8, 16);
            case FlowSpecType.IPV4_EXT -> new SpecLayout(32, 8, 20);
            case FlowSpecType.IPV6 -> new SpecLayout(88, 8, 48);
            case FlowSpecType.TCP, FlowSpecType.UDP -> new SpecLayout(16, 6, 10);
            case FlowSpecType.VXLAN_TUNNEL, FlowSpecType.MPLS -> new SpecLayout(16, 8, 12);
            case FlowSpecType.ACTION_TAG -> new SpecLayout(12, ACTION, ACTION);
            case FlowSpecType.ACTION_DROP -> new SpecLayout(8, ACTION, ACTION);
            case FlowSpecType.ACTION_COUNT -> new SpecLayout(COUNT_BYTES, ACTION, ACTION);
            default -> throw new VerbsException(verb, Errno.EOPNOTSUPP, "specifications of type " + FlowSpecType
                    .toString(type) + " are not supported here");
        };
    }

    private static void put(String verb, MemorySegment m, FlowSpec s, SpecLayout layout) throws VerbsException {
        m.set(ValueLayout.JAVA_INT_UNALIGNED, 0, s.type());
        m.set(ValueLayout.JAVA_SHORT_UNALIGNED, SPEC_SIZE, (short) layout.bytes);
        switch (s.type()) {
            case FlowSpecType.ACTION_TAG -> m.set(ValueLayout.JAVA_INT_UNALIGNED, ACTION, s.tagNumber());
            case FlowSpecType.ACTION_COUNT -> {
                if (!(s.counters() instanceof RdmaCounters c)) {
                    throw new VerbsException(verb, Errno.EINVAL, "foreign counters");
                }
                m.set(ValueLayout.JAVA_LONG_UNALIGNED, ACTION, c.address());
            }
            default -> {
                for (int field : s.fields()) {
                    byte[] value = s.valueBytes(field);
                    int at = offset(field) + width(field) - value.length; // narrower ones are the lower bytes
                    MemorySegment.copy(value, 0, m, ValueLayout.JAVA_BYTE, layout.value + at, value.length);
                    MemorySegment.copy(s.maskBytes(field), 0, m, ValueLayout.JAVA_BYTE, layout.mask + at, value.length);
                }
            }
        }
    }

    /** Offset of a field within value and mask. */
    private static int offset(int field) {
        return switch (field) {
            case FlowField.ETH_SOURCE -> 6;
            case FlowField.ETH_TYPE -> 12;
            case FlowField.ETH_VLAN -> 14;
            case FlowField.IPV4_DESTINATION, FlowField.GRE_KEY, FlowField.ESP_SEQUENCE -> 4;
            case FlowField.IPV4_PROTOCOL -> 8;
            case FlowField.IPV4_TOS -> 9;
            case FlowField.IPV4_TTL -> 10;
            case FlowField.IPV4_FLAGS -> 11;
            case FlowField.IPV6_DESTINATION -> 16;
            case FlowField.IPV6_FLOW_LABEL -> 32;
            case FlowField.IPV6_NEXT_HEADER -> 36;
            case FlowField.IPV6_TRAFFIC_CLASS -> 37;
            case FlowField.IPV6_HOP_LIMIT -> 38;
            case FlowField.SOURCE_PORT, FlowField.GRE_PROTOCOL -> 2;
            default -> 0; // the first of its type
        };
    }

    /** Size of a field in the structure, in bytes. */
    private static int width(int field) {
        return switch (field) {
            case FlowField.ETH_DESTINATION, FlowField.ETH_SOURCE -> 6;
            case FlowField.IPV6_SOURCE, FlowField.IPV6_DESTINATION -> 16;
            case FlowField.ETH_TYPE, FlowField.ETH_VLAN, FlowField.DESTINATION_PORT, FlowField.SOURCE_PORT,
                    FlowField.GRE_FLAGS, FlowField.GRE_PROTOCOL ->
                2;
            case FlowField.IPV4_PROTOCOL, FlowField.IPV4_TOS, FlowField.IPV4_TTL, FlowField.IPV4_FLAGS,
                    FlowField.IPV6_NEXT_HEADER, FlowField.IPV6_TRAFFIC_CLASS, FlowField.IPV6_HOP_LIMIT ->
                1;
            default -> 4;
        };
    }
}
