// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Under which masks, and in which order, the program looks up a packet. The only value of the map of masks. There are
 * two lists, so that one is written while the program uses the other. Immutable.
 *
 * <pre>
 *    0 ┌────────┬───────────────────────────────┐
 *      │ active │                               │  bytes: 4; bit 0: which list, bits 8 to 15: how many of it
 *    4 ├────────┤                               │
 *      │ layout │ 0                             │  bytes: 4, {@link #LAYOUT}
 *   64 ├────────┴───────────────────────────────┤
 *      │ list 0: 16 masks of 64 bytes           │
 * 1088 ├────────────────────────────────────────┤
 *      │ list 1: 16 masks of 64 bytes           │
 * 2112 └────────────────────────────────────────┘
 *
 * A mask:
 *    0 ┌────────────────────────────────────────┐
 *      │ the bits that count, as in FlowKey     │  {@code mask} is 0
 *   56 ├────────┬───────────────────────────────┤
 *      │ number │ 0 │ order                     │  bytes: 1, 1, 6
 *   64 └────────┴───────────────────────────────┘
 * </pre>
 *
 * {@code number} is the mask's name in keys, 0 to 255. {@code order} is not read by the program: masks of a lower order
 * are earlier in the list, see {@link FlowMatch#order()}.
 */
public final class MaskList {
    /** The most masks, which is how often a packet is looked up at most. */
    public static final int MAX = 16;
    /** Bytes of both lists. */
    public static final int BYTES = 64 + 2 * MAX * 64;
    /** The version of all layouts of this package; a program of another version is not shared. */
    public static final int LAYOUT = 1;

    static final int ACTIVE_AT = 0;
    static final int LAYOUT_AT = 4;
    static final int LISTS_AT = 64;
    static final int MASK_BYTES = 64;
    static final int LIST_BYTES = MAX * MASK_BYTES;
    static final int NUMBER_AT = 56;
    static final int ORDER_AT = 58;
    static final int COUNT_SHIFT = 8;

    /**
     * A mask.
     *
     * @param bits the bits that count
     * @param number its name in keys, 0 to 255
     * @param order 48 bits; masks of lower ones are asked first
     */
    public record Mask(FlowKey bits, int number, long order) {}

    private final int active;
    private final byte[] value;

    private MaskList(int active, byte[] value) {
        this.active = active;
        this.value = value;
    }

    /** Nothing is looked up. */
    static MaskList empty() {
        byte[] value = new byte[BYTES];
        ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).putInt(LAYOUT_AT, LAYOUT);
        return new MaskList(0, value);
    }

    /** The lists from the bytes in the map. */
    static MaskList of(byte[] value) {
        if (value.length != BYTES || buffer(value).getInt(LAYOUT_AT) != LAYOUT) {
            throw new IllegalArgumentException("the map of masks has another layout than " + LAYOUT);
        }
        return new MaskList(buffer(value).getInt(ACTIVE_AT), value.clone());
    }

    private static ByteBuffer buffer(byte[] value) {
        return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The value in the map. */
    byte[] bytes() {
        return value.clone();
    }

    private static int listAt(int active) {
        return LISTS_AT + (active & 1) * LIST_BYTES;
    }

    private static int count(int active) {
        return active >>> COUNT_SHIFT;
    }

    /** The masks that the program uses, in their order. */
    List<Mask> masks() {
        ByteBuffer b = buffer(value);
        List<Mask> all = new ArrayList<>();
        for (int i = 0; i < count(active); i++) {
            int at = listAt(active) + i * MASK_BYTES;
            all.add(new Mask(FlowKey.of(Arrays.copyOfRange(value, at, at + FlowKey.BYTES)), Byte.toUnsignedInt(
                    value[at + NUMBER_AT]), b.getLong(at + NUMBER_AT) >>> 16));
        }
        return all;
    }

    /** With other masks in the list that the program does not use; it still uses the same as before. */
    MaskList prepared(List<Mask> masks) {
        byte[] changed = value.clone();
        ByteBuffer b = buffer(changed);
        int at = listAt(~active);
        Arrays.fill(changed, at, at + LIST_BYTES, (byte) 0);
        for (Mask m : masks) {
            b.put(at, m.bits.bytes()).putLong(at + NUMBER_AT, m.number | (m.order << 16));
            at += MASK_BYTES;
        }
        return new MaskList(active, changed);
    }

    /** With the other list in use, of which that many masks count. */
    MaskList switched(int masks) {
        return used(((active & 1) ^ 1) | (masks << COUNT_SHIFT));
    }

    /** With another number of masks of the same list in use. */
    MaskList shortened(int masks) {
        return used((active & 1) | (masks << COUNT_SHIFT));
    }

    private MaskList used(int now) {
        byte[] changed = value.clone();
        buffer(changed).putInt(ACTIVE_AT, now);
        return new MaskList(now, changed);
    }
}
