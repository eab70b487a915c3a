// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.StringJoiner;

import org.verbena.xdp.packet.IpAddresses;

/** The fields that a flow compares, for messages. */
final class MatchText {
    private enum Kind {
        MAC,
        ADDRESS,
        NUMBER,
        BITS
    }

    private record Field(String name, int at, int length, Kind kind) {}

    private static final Field[] FIELDS = {new Field("Ethernet destination", FlowKey.ETH_DESTINATION, 6, Kind.MAC),
        new Field("Ethernet source", FlowKey.ETH_SOURCE, 6, Kind.MAC),
        new Field("VLAN tag", FlowKey.ETH_VLAN, 2, Kind.BITS), new Field("EtherType", FlowKey.ETH_TYPE, 2, Kind.BITS),
        new Field("source", FlowKey.SOURCE, 16, Kind.ADDRESS),
        new Field("destination", FlowKey.DESTINATION, 16, Kind.ADDRESS),
        new Field("protocol", FlowKey.PROTOCOL, 1, Kind.NUMBER), new Field("TOS", FlowKey.TOS, 1, Kind.BITS),
        new Field("source port", FlowKey.SOURCE_PORT, 2, Kind.NUMBER),
        new Field("destination port", FlowKey.DESTINATION_PORT, 2, Kind.NUMBER)};

    private static final String[] HEADERS = {"IPv4", "IPv6", "TCP or UDP", "VLAN", "ICMP error", "fragment"};
    private static final int IPV4_BYTES = 4;

    private MatchText() {}

    /**
     * As in {@code "IPv4, TCP or UDP, destination 10.0.0.0/255.0.0.0, protocol 17, destination port 53"}.
     *
     * @param key the values
     * @param mask the bits of them that are compared
     */
    static String of(FlowKey key, FlowKey mask) {
        StringJoiner text = new StringJoiner(", ").setEmptyValue("any packet");
        int wanted = key.unsignedByte(FlowKey.KIND);
        int asked = mask.unsignedByte(FlowKey.KIND);
        for (int i = 0; i < HEADERS.length; i++) {
            if ((asked & 1 << i) != 0) {
                text.add(((wanted & 1 << i) != 0 ? "" : "no ") + HEADERS[i]);
            }
        }
        boolean four = (wanted & FlowKey.IPV4) != 0;
        for (Field f : FIELDS) {
            int length = f.kind == Kind.ADDRESS && four ? IPV4_BYTES : f.length;
            byte[] bits = Arrays.copyOfRange(mask.bytes(), f.at, f.at + length);
            if (!Arrays.equals(bits, new byte[length])) {
                String value = format(f.kind, Arrays.copyOfRange(key.bytes(), f.at, f.at + length));
                text.add(f.name + ' ' + value + (isFull(bits)
                        ? ""
                        : '/' + format(
                                f.kind == Kind.NUMBER ? Kind.BITS : f.kind, bits)));
            }
        }
        return text.toString();
    }

    private static boolean isFull(byte[] bits) {
        for (byte b : bits) {
            if (b != -1) {
                return false;
            }
        }
        return true;
    }

    private static String format(Kind kind, byte[] value) {
        return switch (kind) {
            case MAC -> HexFormat.ofDelimiter(":").formatHex(value);
            case ADDRESS -> IpAddresses.text(IpAddresses.of(value));
            case NUMBER -> Integer.toString(Integer.parseInt(HexFormat.of().formatHex(value), 16));
            case BITS -> "0x" + HexFormat.of().formatHex(value);
        };
    }
}
