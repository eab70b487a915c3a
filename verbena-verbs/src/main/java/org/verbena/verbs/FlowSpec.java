// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.math.BigInteger;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * A header that a flow matches, or what happens to the packets, {@code struct ibv_flow_spec}. Immutable: each
 * {@code match} answers a new one.
 *
 * {@snippet :
 * FlowSpec.udp().match(FlowField.DESTINATION_PORT, 4791);
 * FlowSpec.ipv4().match(FlowField.IPV4_DESTINATION, address.getAddress(), new byte[] {-1, -1, -1, 0});
 * FlowSpec.ipv4().inner().match(FlowField.IPV4_SOURCE, address.getAddress());
 * }
 *
 * A packet matches if, for each field that was given, it agrees with the value in the bits of the mask.
 */
public final class FlowSpec {
    /** What a field has to be, as numbers of the field's width. */
    private record Match(BigInteger value, BigInteger mask) {}

    private final int type;
    private final int tag;
    private final SortedMap<Integer, Match> matches;
    private final @Nullable Counters counters;

    private FlowSpec(int type, int tag, SortedMap<Integer, Match> matches, @Nullable Counters counters) {
        this.type = type;
        this.tag = tag;
        this.matches = matches;
        this.counters = counters;
    }

    private static FlowSpec of(int type) {
        return new FlowSpec(type, 0, new TreeMap<>(), null);
    }

    /** Any Ethernet header. */
    public static FlowSpec ethernet() {
        return of(FlowSpecType.ETH);
    }

    /** Any IPv4 header; of type {@link FlowSpecType#IPV4_EXT} once more than addresses is matched. */
    public static FlowSpec ipv4() {
        return of(FlowSpecType.IPV4);
    }

    /** Any IPv6 header. */
    public static FlowSpec ipv6() {
        return of(FlowSpecType.IPV6);
    }

    /** Any TCP header. */
    public static FlowSpec tcp() {
        return of(FlowSpecType.TCP);
    }

    /** Any UDP header. */
    public static FlowSpec udp() {
        return of(FlowSpecType.UDP);
    }

    /** Any VXLAN tunnel. */
    public static FlowSpec vxlan() {
        return of(FlowSpecType.VXLAN_TUNNEL);
    }

    /** Any GRE tunnel. */
    public static FlowSpec gre() {
        return of(FlowSpecType.GRE);
    }

    /** Any MPLS label. */
    public static FlowSpec mpls() {
        return of(FlowSpecType.MPLS);
    }

    /** Any ESP header. */
    public static FlowSpec esp() {
        return of(FlowSpecType.ESP);
    }

    /** Marks the flow's packets: completions carry the number, {@link CompletionQueue#flowTag()}. */
    public static FlowSpec tag(int number) {
        return new FlowSpec(FlowSpecType.ACTION_TAG, number, new TreeMap<>(), null);
    }

    /** Drops the flow's packets. */
    public static FlowSpec drop() {
        return of(FlowSpecType.ACTION_DROP);
    }

    /**
     * Counts the flow's packets, as {@link Counters#attach(CounterAttachAttributes)} has described; at most one in a
     * flow.
     */
    public static FlowSpec count(Counters counters) {
        return new FlowSpec(FlowSpecType.ACTION_COUNT, 0, new TreeMap<>(), counters);
    }

    /**
     * The same header inside a tunnel.
     *
     * @throws IllegalArgumentException if this is an action
     */
    public FlowSpec inner() {
        if (isAction()) {
            throw new IllegalArgumentException(this + " is an action and in no tunnel");
        }
        return new FlowSpec(type | FlowSpecType.INNER, tag, matches, null);
    }

    /**
     * Matches a field of up to 64 bits with all its bits.
     *
     * @param field see {@link FlowField}
     * @throws IllegalArgumentException if such a header has no such field, or the value does not fit into it
     */
    public FlowSpec match(int field, long value) {
        return matchMasked(field, value, fullMask(field).longValue());
    }

    /**
     * Matches a field of up to 64 bits.
     *
     * @param field see {@link FlowField}
     * @param mask the bits that count
     * @throws IllegalArgumentException if such a header has no such field, or value or mask do not fit into it
     */
    public FlowSpec matchMasked(int field, long value, long mask) {
        return with(field, unsigned(value), unsigned(mask));
    }

    /**
     * Matches a field with all its bits.
     *
     * @param field see {@link FlowField}
     * @param value its bytes in network order, for instance of an address
     * @throws IllegalArgumentException if such a header has no such field, or the value has another length
     */
    public FlowSpec match(int field, byte[] value) {
        return with(field, number(field, value), fullMask(field));
    }

    /**
     * Matches a field.
     *
     * @param field see {@link FlowField}
     * @param value its bytes in network order, for instance of an address
     * @param mask the bits that count
     * @throws IllegalArgumentException if such a header has no such field, or value or mask have another length
     */
    public FlowSpec match(int field, byte[] value, byte[] mask) {
        return with(field, number(field, value), number(field, mask));
    }

    private FlowSpec with(int field, BigInteger value, BigInteger mask) {
        requireField(field);
        int bits = FlowField.bits(field);
        if (value.bitLength() > bits || mask.bitLength() > bits) {
            throw new IllegalArgumentException(FlowField.toString(field) + " has " + bits + " bits, the value 0x"
                    + value.toString(16) + " or the mask 0x" + mask.toString(16) + " has more");
        }
        SortedMap<Integer, Match> more = new TreeMap<>(matches);
        more.put(field, new Match(value, mask));
        boolean extended = (type & ~FlowSpecType.INNER) == FlowSpecType.IPV4 && FlowField.isExtended(field);
        return new FlowSpec(extended ? type & FlowSpecType.INNER | FlowSpecType.IPV4_EXT : type, tag, more, null);
    }

    private void requireField(int field) {
        if (!FlowField.isOf(field, type)) {
            throw new IllegalArgumentException(
                    FlowSpecType.toString(type) + " has no field " + FlowField.toString(field));
        }
    }

    private BigInteger fullMask(int field) {
        requireField(field);
        return BigInteger.ONE.shiftLeft(FlowField.bits(field)).subtract(BigInteger.ONE);
    }

    private BigInteger number(int field, byte[] bytes) {
        requireField(field);
        int wanted = (FlowField.bits(field) + 7) / 8;
        if (bytes.length != wanted) {
            throw new IllegalArgumentException(
                    FlowField.toString(field) + " has " + wanted + " bytes, not " + bytes.length);
        }
        return new BigInteger(1, bytes);
    }

    private static BigInteger unsigned(long v) {
        return new BigInteger(Long.toUnsignedString(v));
    }

    /** See {@link FlowSpecType}; {@link FlowSpecType#INNER} is or-ed for a header inside a tunnel. */
    public int type() {
        return type;
    }

    /** True for a header inside a tunnel. */
    public boolean isInner() {
        return !isAction() && (type & FlowSpecType.INNER) != 0;
    }

    /** True if this is an action on packets, not a match. */
    public boolean isAction() {
        return type >= FlowSpecType.ACTION_TAG;
    }

    /** The number of a {@link FlowSpecType#ACTION_TAG}. */
    public int tagNumber() {
        return tag;
    }

    /** What an {@link FlowSpecType#ACTION_COUNT} counts with; null for all else. */
    public @Nullable Counters counters() {
        return counters;
    }

    /** The fields that are matched, see {@link FlowField}. */
    public Set<Integer> fields() {
        return Set.copyOf(matches.keySet());
    }

    /** The value of a field of up to 64 bits; 0 if it is not matched. */
    public long value(int field) {
        Match m = matches.get(field);
        return m == null ? 0 : m.value.longValue();
    }

    /** The mask of a field of up to 64 bits; 0 if it is not matched. */
    public long mask(int field) {
        Match m = matches.get(field);
        return m == null ? 0 : m.mask.longValue();
    }

    /** The value of a field as bytes in network order; zeros if it is not matched. */
    public byte[] valueBytes(int field) {
        Match m = matches.get(field);
        return bytes(field, m == null ? BigInteger.ZERO : m.value);
    }

    /** The mask of a field as bytes in network order; zeros if it is not matched. */
    public byte[] maskBytes(int field) {
        Match m = matches.get(field);
        return bytes(field, m == null ? BigInteger.ZERO : m.mask);
    }

    private byte[] bytes(int field, BigInteger number) {
        requireField(field);
        byte[] all = new byte[(FlowField.bits(field) + 7) / 8];
        byte[] digits = number.toByteArray();
        int n = Math.min(digits.length, all.length);
        System.arraycopy(digits, digits.length - n, all, all.length - n, n);
        return all;
    }

    /** True if the field is matched in all its bits, and not by this value. */
    boolean excludes(int field, long value) {
        return matches.containsKey(field) && mask(field) == fullMask(field).longValue() && value(field) != value;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof FlowSpec s && type == s.type && tag == s.tag && counters == s.counters && matches.equals(
                s.matches);
    }

    @Override
    public int hashCode() {
        return 31 * type + matches.hashCode();
    }

    @Override
    public String toString() {
        StringBuilder b = new StringBuilder(FlowSpecType.toString(type));
        if (type == FlowSpecType.ACTION_TAG) {
            b.append(' ').append(tag);
        }
        for (Map.Entry<Integer, Match> e : matches.entrySet()) {
            b.append(' ').append(FlowField.toString(e.getKey())).append("=0x").append(e.getValue().value.toString(16))
                    .append("/0x").append(e.getValue().mask.toString(16));
        }
        return b.toString();
    }
}
