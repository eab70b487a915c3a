// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;

/**
 * What a packet is by the standards, for comparison with the program: IEEE 802.3 and 802.1Q, RFC 791, 8200, 768, 9293,
 * 792 and 4443. It knows nothing of keys, masks and instructions: a packet has headers, and a header has fields.
 */
public final class PacketModel {
    private static final int TPID_VLAN = 0x8100;
    private static final int TPID_SERVICE = 0x88a8;
    private static final Set<Integer> ICMP_ERRORS = Set.of(3, 11, 12);
    private static final Set<Integer> ICMPV6_ERRORS = Set.of(1, 2, 3, 4);

    private final Set<Integer> headers = new HashSet<>(Set.of(FlowSpecType.ETH));
    private final Map<Integer, byte[]> fields = new HashMap<>();
    private Optional<PacketModel> answerTo = Optional.empty();
    private boolean fragment;

    private PacketModel() {}

    /** A part of a packet that nothing reads beyond. */
    private static final class Bytes {
        private final byte[] all;
        private final int from;
        private final int to;

        Bytes(byte[] all, int from, int to) {
            this.all = all;
            this.from = from;
            this.to = to;
        }

        int length() {
            return to - from;
        }

        int u8(int at) {
            return Byte.toUnsignedInt(all[from + at]);
        }

        int u16(int at) {
            return u8(at) << 8 | u8(at + 1);
        }

        byte[] copy(int at, int length) {
            return Arrays.copyOfRange(all, from + at, from + at + length);
        }

        Bytes after(int at) {
            return new Bytes(all, from + at, to);
        }

        /** At most so many of them. */
        Bytes first(int most) {
            return new Bytes(all, from, Math.min(to, from + most));
        }
    }

    public static PacketModel of(byte[] packet) {
        PacketModel m = new PacketModel();
        Bytes frame = new Bytes(packet, 0, packet.length);
        m.fields.put(FlowField.ETH_DESTINATION, frame.copy(0, 6));
        m.fields.put(FlowField.ETH_SOURCE, frame.copy(6, 6));
        Bytes rest = frame.after(12); // begins with a type
        for (int tags = 0; tags < 2 && isTag(rest.u16(0)) && rest.length() >= 6; tags++) {
            m.fields.putIfAbsent(FlowField.ETH_VLAN, rest.copy(2, 2));
            rest = rest.after(4);
        }
        m.fields.put(FlowField.ETH_TYPE, rest.copy(0, 2));
        switch (rest.u16(0)) {
            case 0x0800 -> m.ipv4(rest.after(2));
            case 0x86dd -> m.ipv6(rest.after(2));
            default -> { // nothing that flows know
            }
        }
        return m;
    }

    private static boolean isTag(int type) {
        return type == TPID_VLAN || type == TPID_SERVICE;
    }

    /** The length of a well-formed IPv4 header, or 0. */
    private static int headerLength(Bytes b) {
        if (b.length() < 20 || b.u8(0) >> 4 != 4) {
            return 0;
        }
        int length = 4 * (b.u8(0) & 15);
        return length < 20 ? 0 : length;
    }

    private void ipv4(Bytes b) {
        int header = headerLength(b);
        if (header == 0 || b.u16(2) < header || b.length() < header) {
            return;
        }
        headers.add(FlowSpecType.IPV4);
        headers.add(FlowSpecType.IPV4_EXT);
        fields.put(FlowField.IPV4_SOURCE, b.copy(12, 4));
        fields.put(FlowField.IPV4_DESTINATION, b.copy(16, 4));
        fields.put(FlowField.IPV4_PROTOCOL, b.copy(9, 1));
        fields.put(FlowField.IPV4_TOS, b.copy(1, 1));
        fragment = (b.u16(6) & 0x2000) != 0 || (b.u16(6) & 0x1fff) != 0;
        if (!fragment) {
            Bytes payload = b.first(b.u16(2)).after(header);
            if (b.u8(9) == 1) {
                icmp(payload);
            } else {
                transport(b.u8(9), payload);
            }
        }
    }

    private void ipv6(Bytes b) {
        if (b.length() < 40 || b.u8(0) >> 4 != 6) {
            return;
        }
        headers.add(FlowSpecType.IPV6);
        fields.put(FlowField.IPV6_SOURCE, b.copy(8, 16));
        fields.put(FlowField.IPV6_DESTINATION, b.copy(24, 16));
        fields.put(FlowField.IPV6_NEXT_HEADER, b.copy(6, 1));
        fields.put(FlowField.IPV6_TRAFFIC_CLASS, new byte[] {(byte) (b.u16(0) >> 4)});
        Bytes payload = b.after(40).first(b.u16(4));
        fragment = b.u8(6) == 44;
        if (b.u8(6) == 58) {
            icmpv6(payload);
        } else {
            transport(b.u8(6), payload);
        }
    }

    private void transport(int protocol, Bytes b) {
        boolean tcp = protocol == 6 && b.length() >= 20;
        boolean udp = protocol == 17 && b.length() >= 8;
        if (tcp || udp) {
            headers.add(tcp ? FlowSpecType.TCP : FlowSpecType.UDP);
            fields.put(FlowField.SOURCE_PORT, b.copy(0, 2));
            fields.put(FlowField.DESTINATION_PORT, b.copy(2, 2));
        }
    }

    /** The packet in an error was sent from here: what answers it has source and destination exchanged. */
    private void icmp(Bytes b) {
        if (b.length() < 8 || !ICMP_ERRORS.contains(b.u8(0))) {
            return;
        }
        Bytes quoted = b.after(8);
        int header = headerLength(quoted);
        if (header == 0 || quoted.length() < header + 8 || (quoted.u16(6) & 0x1fff) != 0 || !isTransport(quoted.u8(
                9))) {
            return;
        }
        PacketModel m = answer(quoted.u8(9), quoted.after(header));
        m.headers.add(FlowSpecType.IPV4);
        m.headers.add(FlowSpecType.IPV4_EXT);
        m.fields.put(FlowField.IPV4_SOURCE, quoted.copy(16, 4));
        m.fields.put(FlowField.IPV4_DESTINATION, quoted.copy(12, 4));
        m.fields.put(FlowField.IPV4_PROTOCOL, quoted.copy(9, 1));
        m.fields.put(FlowField.IPV4_TOS, fields.get(FlowField.IPV4_TOS));
    }

    private void icmpv6(Bytes b) {
        if (b.length() < 56 || !ICMPV6_ERRORS.contains(b.u8(0)) || b.u8(8) >> 4 != 6 || !isTransport(b.u8(14))) {
            return;
        }
        Bytes quoted = b.after(8);
        PacketModel m = answer(quoted.u8(6), quoted.after(40));
        m.headers.add(FlowSpecType.IPV6);
        m.fields.put(FlowField.IPV6_SOURCE, quoted.copy(24, 16));
        m.fields.put(FlowField.IPV6_DESTINATION, quoted.copy(8, 16));
        m.fields.put(FlowField.IPV6_NEXT_HEADER, quoted.copy(6, 1));
        m.fields.put(FlowField.IPV6_TRAFFIC_CLASS, fields.get(FlowField.IPV6_TRAFFIC_CLASS));
    }

    private static boolean isTransport(int protocol) {
        return protocol == 6 || protocol == 17;
    }

    private PacketModel answer(int protocol, Bytes ports) {
        PacketModel m = new PacketModel();
        for (int field : new int[] {FlowField.ETH_DESTINATION, FlowField.ETH_SOURCE, FlowField.ETH_TYPE,
            FlowField.ETH_VLAN}) {
            if (fields.containsKey(field)) {
                m.fields.put(field, fields.get(field));
            }
        }
        m.headers.add(protocol == 6 ? FlowSpecType.TCP : FlowSpecType.UDP);
        m.fields.put(FlowField.SOURCE_PORT, ports.copy(2, 2));
        m.fields.put(FlowField.DESTINATION_PORT, ports.copy(0, 2));
        answerTo = Optional.of(m);
        return m;
    }

    /** Of an ICMP error: what an answer to the packet in it would be. */
    Optional<PacketModel> answerTo() {
        return answerTo;
    }

    /** Whether it is a part of a datagram. */
    public boolean isFragment() {
        return fragment;
    }

    /** A field's bytes, if the packet has it. */
    public Optional<byte[]> field(int field) {
        return Optional.ofNullable(fields.get(field));
    }

    /** Whether the packet has the header and its fields agree. */
    boolean matches(FlowSpec spec) {
        if (spec.isAction()) {
            return true;
        }
        if (!headers.contains(spec.type())) {
            return false;
        }
        for (int field : spec.fields()) {
            byte[] mask = spec.maskBytes(field);
            byte[] value = spec.valueBytes(field);
            byte[] is = fields.get(field);
            for (int i = 0; i < mask.length; i++) {
                if (mask[i] != 0 && (is == null || ((is[i] ^ value[i]) & mask[i]) != 0)) {
                    return false;
                }
            }
        }
        return true;
    }

    boolean has(int header) {
        return headers.contains(header);
    }

    byte[] bytes(int field) {
        return fields.get(field).clone();
    }

    boolean isMulticast() {
        return (fields.getOrDefault(FlowField.ETH_DESTINATION, new byte[1])[0] & 1) != 0;
    }

    @Override
    public String toString() {
        StringBuilder b = new StringBuilder();
        headers.forEach(h -> b.append(FlowSpecType.toString(h)).append(' '));
        fields.forEach((f, v) -> b.append(FlowField.toString(f)).append('=').append(HexFormat.of().formatHex(
                v)).append(' '));
        return b + answerTo.map(m -> "answer: " + m).orElse("");
    }
}
