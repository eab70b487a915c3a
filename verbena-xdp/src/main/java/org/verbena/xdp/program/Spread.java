// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.xdp.packet.Toeplitz;

/**
 * How packets are spread over targets: the value of the map of {@link FlowAction#SPREAD}. Immutable.
 *
 * <p>The hash is that of the chosen fields which a packet has, one behind the other: addresses, then ports. It is the sum
 * (exclusive or) of what each four bits add, so there is a table for each four bits of each field, of the version of IP
 * and the protocol, with zeros for a field that was not chosen. The program adds them up and knows no fields.
 *
 * <pre>
 *    0 ┌──────┬───┐
 *      │ mask │ 0 │          4 bytes each: the number of entries, less 1
 *    8 ├──────┴───┴─────┐
 *      │ 256 targets    │   2 bytes each
 *  520 ├────────────────┤
 *      │ IPv4 addresses │   8 bytes of a packet, for each of which there are two tables of 16 numbers: the upper bits first
 * 1544 ├────────────────┤
 *      │ IPv6 addresses │   32
 * 5640 ├────────────────┤
 *      │ ports          │   4 of TCP over IPv4, 4 of UDP, and the same over IPv6
 * 7688 └────────────────┘
 * </pre>
 */
public final class Spread {
    /** The most entries of a table. */
    public static final int MAX_ENTRIES = 256;

    static final int MASK_AT = 0;
    static final int TARGETS_AT = 8;
    /** Tables for a byte of a packet. */
    static final int BYTE_TABLES = 2 * 16 * Integer.BYTES;
    static final int IPV4_AT = TARGETS_AT + 2 * MAX_ENTRIES;
    static final int IPV6_AT = IPV4_AT + 8 * BYTE_TABLES;
    static final int PORTS_AT = IPV6_AT + 32 * BYTE_TABLES;
    /** Tables for two ports. */
    static final int PORTS_TABLES = 4 * BYTE_TABLES;
    static final int BYTES = PORTS_AT + 4 * PORTS_TABLES;

    private final RxHashConfiguration hash;
    private final List<Integer> targets;

    /**
     * A way to spread.
     *
     * @param targets a power of two of them, at most {@link #MAX_ENTRIES}
     */
    public Spread(RxHashConfiguration hash, List<Integer> targets) {
        if (Integer.bitCount(targets.size()) != 1 || targets.size() > MAX_ENTRIES || targets.stream().anyMatch(
                t -> t < 0 || t > 0xFFFF)) {
            throw new IllegalArgumentException("not a table of targets: " + targets);
        }
        this.hash = hash;
        this.targets = List.copyOf(targets);
    }

    private boolean has(int field) {
        return (hash.fields() & field) != 0;
    }

    /** The value in the map. */
    byte[] bytes() {
        ByteBuffer b = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(MASK_AT, targets.size() - 1);
        for (int i = 0; i < targets.size(); i++) {
            b.putShort(TARGETS_AT + 2 * i, targets.get(i).shortValue());
        }
        byte[] key = hash.key();
        int four = 0;
        four = put(b, key, IPV4_AT, 4, has(RxHashFields.SRC_IPV4), four);
        four = put(b, key, IPV4_AT + 4 * BYTE_TABLES, 4, has(RxHashFields.DST_IPV4), four);
        int six = 0;
        six = put(b, key, IPV6_AT, 16, has(RxHashFields.SRC_IPV6), six);
        six = put(b, key, IPV6_AT + 16 * BYTE_TABLES, 16, has(RxHashFields.DST_IPV6), six);
        ports(b, key, PORTS_AT, four);
        ports(b, key, PORTS_AT + 2 * PORTS_TABLES, six);
        return b.array();
    }

    private void ports(ByteBuffer b, byte[] key, int to, int at) {
        int udp = to + PORTS_TABLES;
        int behind = put(b, key, to, 2, has(RxHashFields.SRC_PORT_TCP), at);
        put(b, key, to + 2 * BYTE_TABLES, 2, has(RxHashFields.DST_PORT_TCP), behind);
        behind = put(b, key, udp, 2, has(RxHashFields.SRC_PORT_UDP), at);
        put(b, key, udp + 2 * BYTE_TABLES, 2, has(RxHashFields.DST_PORT_UDP), behind);
    }

    /** The tables of a field that begins at a byte of the hash's input; where the next one begins. */
    private static int put(ByteBuffer b, byte[] key, int to, int bytes, boolean chosen, int at) {
        if (!chosen) {
            return at;
        }
        for (int i = 0; i < bytes; i++) {
            for (int value = 0; value < 16; value++) {
                int table = to + i * BYTE_TABLES + value * Integer.BYTES;
                b.putInt(table, Toeplitz.ofNibble(key, at + i, true, value));
                b.putInt(table + BYTE_TABLES / 2, Toeplitz.ofNibble(key, at + i, false, value));
            }
        }
        return at + bytes;
    }
}
