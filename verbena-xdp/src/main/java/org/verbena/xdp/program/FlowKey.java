// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * The fields of a packet that flows compare, or the bits of them that count. The key of the map of flows. Immutable.
 *
 * <pre>
 *  0 ┌──────────────────────────────────┬───────────┐
 *    │ destination's MAC address        │ VLAN tag  │  of the outermost tag: priority, DEI, number
 *  8 ├──────────────────────────────────┼───────────┤
 *    │ source's MAC address             │ EtherType │  behind the tags
 * 16 ├──────────────────────────────────┴───────────┤
 *    │ source's address                             │  IPv4: 4 bytes and zeros
 * 32 ├──────────────────────────────────────────────┤
 *    │ destination's address                        │
 * 48 ├──────┬──────┬──────────┬─────┬──────┬────────┤
 *    │ mask │ kind │ protocol │ TOS │ source's port │ destination's port
 * 56 └──────┴──────┴──────────┴─────┴──────┴────────┘
 * </pre>
 *
 * What a packet does not have is 0. {@code mask} (1 byte) is the number of the mask in the {@link MaskList} that the
 * flow belongs to; 0 in a packet's key. {@code kind} (1 byte) has the bits below. {@code protocol} is that of the IPv4
 * header, or the first next header of IPv6; {@code TOS} IPv4's type of service or IPv6's traffic class.
 */
public final class FlowKey {
    /** Bytes of a key. */
    public static final int BYTES = 56;

    /** Bit of {@code kind}: there is a whole IPv4 header. */
    public static final int IPV4 = 1;
    /** Bit of {@code kind}: there is a whole IPv6 header. */
    public static final int IPV6 = 2;
    /** Bit of {@code kind}: there is a whole TCP or UDP header, and the ports are its ports. */
    public static final int PORTS = 4;
    /** Bit of {@code kind}: there is a VLAN tag. */
    public static final int VLAN = 8;
    /**
     * Bit of {@code kind}: the addresses, protocol and ports are those of the packet in an ICMP error, source and
     * destination exchanged: of the packets whose answer the error is.
     */
    public static final int ICMP_ERROR = 16;
    /** Bit of {@code kind}: the packet is a fragment, the first one too. */
    public static final int FRAGMENT = 32;

    static final int ETH_DESTINATION = 0;
    static final int ETH_VLAN = 6;
    static final int ETH_SOURCE = 8;
    static final int ETH_TYPE = 14;
    static final int SOURCE = 16;
    static final int DESTINATION = 32;
    static final int MASK = 48;
    static final int KIND = 49;
    static final int PROTOCOL = 50;
    static final int TOS = 51;
    static final int SOURCE_PORT = 52;
    static final int DESTINATION_PORT = 54;
    static final int WORDS = BYTES / 8;

    /** All bits 0. */
    static final FlowKey EMPTY = new FlowKey(new byte[BYTES]);

    private final byte[] bytes;

    private FlowKey(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * A key from its bytes in a map.
     *
     * @throws IllegalArgumentException if they are not {@link #BYTES}
     */
    public static FlowKey of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a key has " + BYTES + " bytes, not " + bytes.length);
        }
        return new FlowKey(bytes.clone());
    }

    /** The key in a map. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The bits of both. */
    FlowKey or(int at, byte[] more) {
        byte[] all = bytes.clone();
        for (int i = 0; i < more.length; i++) {
            all[at + i] |= more[i];
        }
        return new FlowKey(all);
    }

    FlowKey or(int at, int more) {
        return or(at, new byte[] {(byte) more});
    }

    /** The bits that a mask leaves. */
    FlowKey and(FlowKey mask) {
        byte[] left = bytes.clone();
        for (int i = 0; i < BYTES; i++) {
            left[i] &= mask.bytes[i];
        }
        return new FlowKey(left);
    }

    /** The same key under the mask of that number. */
    FlowKey withMask(int number) {
        byte[] changed = bytes.clone();
        changed[MASK] = (byte) number;
        return new FlowKey(changed);
    }

    int unsignedByte(int at) {
        return Byte.toUnsignedInt(bytes[at]);
    }

    /** How many bits are 1. */
    int bitCount() {
        int count = 0;
        for (byte b : bytes) {
            count += Integer.bitCount(Byte.toUnsignedInt(b));
        }
        return count;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof FlowKey k && Arrays.equals(bytes, k.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        HexFormat hex = HexFormat.of();
        StringBuilder b = new StringBuilder();
        int[] ends = {6, 8, 14, 16, 32, 48, 49, 50, 51, 52, 54, 56};
        int from = 0;
        for (int end : ends) {
            b.append(from == 0 ? "" : " ").append(hex.formatHex(bytes, from, end));
            from = end;
        }
        return b.toString();
    }
}
