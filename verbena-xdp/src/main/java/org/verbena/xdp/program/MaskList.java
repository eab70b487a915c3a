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
 *    0 ┌────────┐
 *      │ active │  bytes: 4; bit 0: which list, bits 8 to 15: how many of it are in use
 *    4 ├────────┤
 *      │ layout │  bytes: 4, {@link #LAYOUT}
 *    8 ├────────┤
 *      │ listed │  bytes: 4; how many masks are in that list, used or not
 *   12 ├────────┤
 *      │ queues │  bytes: 4; receive queues of the interface
 *   16 ├────────┤
 *      │ link   │  bytes: 4; the attachment's number in the kernel
 *   20 ├────────┴───────────────────────────────┐
 *      │ 0                                      │
 *   64 ├────────────────────────────────────────┤
 *      │ list 0: 16 masks of 64 bytes           │
 * 1088 ├────────────────────────────────────────┤
 *      │ list 1: 16 masks of 64 bytes           │
 * 2112 ├────────────────────────────────────────┤
 *      │ processes with flows under each number │  bytes: 4 each
 * 2368 └────────────────────────────────────────┘
 *
 * A mask:
 *    0 ┌────────────────────────────────────────┐
 *      │ the bits that count, as in FlowKey     │  {@code mask} is 0
 *   56 ├────────┬───┬───────────────────────────┤
 *      │ number │ 0 │ order                     │  bytes: 1, 1, 6
 *   64 └────────┴───┴───────────────────────────┘
 * </pre>
 *
 * {@code number} is the mask's name in keys, 0 to 63. The program reads {@code active}, and of masks all but
 * {@code order}: masks of a lower order are earlier in the list, see {@link FlowMatch#order()}.
 */
public final class MaskList {
    /** The most masks, which is how often a packet is looked up at most. */
    public static final int MAX = 16;
    /** Bytes of both lists. */
    public static final int BYTES = 64 + 2 * MAX * 64 + 64 * 4;
    /** The version of all layouts of this package; a program of another version is not shared. */
    public static final int LAYOUT = 3;

    static final int ACTIVE_AT = 0;
    static final int LAYOUT_AT = 4;
    static final int LISTED_AT = 8;
    static final int QUEUES_AT = 12;
    static final int LINK_AT = 16;
    static final int LISTS_AT = 64;
    static final int MASK_BYTES = 64;
    static final int LIST_BYTES = MAX * MASK_BYTES;
    static final int NUMBER_AT = 56;
    static final int ORDER_AT = 58;
    static final int COUNT_SHIFT = 8;
    /** How many numbers there are for masks. */
    static final int NUMBERS = 64;
    private static final int USERS_AT = LISTS_AT + 2 * LIST_BYTES;

    /**
     * A mask.
     *
     * @param bits the bits that count
     * @param number its name in keys, 0 to 63
     * @param order 48 bits; masks of lower ones are asked first
     */
    public record Mask(FlowKey bits, int number, long order) {}

    private final byte[] value;

    private MaskList(byte[] value) {
        this.value = value;
    }

    /** Nothing is looked up. */
    static MaskList empty(int queues) {
        byte[] value = new byte[BYTES];
        buffer(value).putInt(LAYOUT_AT, LAYOUT).putInt(QUEUES_AT, queues);
        return new MaskList(value);
    }

    /**
     * The lists from the bytes in the map.
     *
     * @throws IllegalArgumentException if they are none of this version
     */
    static MaskList of(byte[] value) {
        if (value.length != BYTES || buffer(value).getInt(LAYOUT_AT) != LAYOUT) {
            throw new IllegalArgumentException("the map of masks has another layout than " + LAYOUT);
        }
        MaskList list = new MaskList(value.clone());
        int listed = list.integer(LISTED_AT);
        if (listed < 0 || listed > MAX || list.used() < 0 || list.used() > listed || list.queues() < 1) {
            throw new IllegalArgumentException("the map of masks has " + list.used() + " of " + listed
                    + " masks in use, and " + list.queues() + " queues");
        }
        if (list.listed().stream().anyMatch(m -> m.number >= NUMBERS || list.users(m.number) < 0)) {
            throw new IllegalArgumentException("the map of masks has numbers that are too large");
        }
        return list;
    }

    private static ByteBuffer buffer(byte[] value) {
        return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    }

    private int integer(int at) {
        return buffer(value).getInt(at);
    }

    /** The value in the map. */
    byte[] bytes() {
        return value.clone();
    }

    private static int listAt(int active) {
        return LISTS_AT + (active & 1) * LIST_BYTES;
    }

    /** How many receive queues the interface had when the maps were made. */
    int queues() {
        return integer(QUEUES_AT);
    }

    /** The attachment's number, 0 if there is none. */
    int link() {
        return integer(LINK_AT);
    }

    /** Under how many masks the program looks. */
    int used() {
        return integer(ACTIVE_AT) >> COUNT_SHIFT;
    }

    /** The masks that the program uses, in their order. */
    List<Mask> masks() {
        return listed().subList(0, used());
    }

    /** The masks of the list in use, also those at its end that the program does not look at since nobody has flows under them. */
    List<Mask> listed() {
        ByteBuffer b = buffer(value);
        List<Mask> all = new ArrayList<>();
        for (int i = 0; i < integer(LISTED_AT); i++) {
            int at = listAt(integer(ACTIVE_AT)) + i * MASK_BYTES;
            all.add(new Mask(FlowKey.of(Arrays.copyOfRange(value, at, at + FlowKey.BYTES)), Byte.toUnsignedInt(
                    value[at + NUMBER_AT]), b.getLong(at + NUMBER_AT) >>> 16));
        }
        return all;
    }

    /** How many processes have flows under the mask of a number. */
    int users(int number) {
        return integer(USERS_AT + 4 * number);
    }

    /** With other masks in the list that the program does not use; it still uses the same as before. */
    MaskList prepared(List<Mask> masks) {
        byte[] changed = value.clone();
        ByteBuffer b = buffer(changed);
        int at = listAt(~integer(ACTIVE_AT));
        Arrays.fill(changed, at, at + LIST_BYTES, (byte) 0);
        for (Mask m : masks) {
            b.put(at, m.bits.bytes()).putLong(at + NUMBER_AT, m.number | (m.order << 16));
            at += MASK_BYTES;
        }
        return new MaskList(changed);
    }

    /** With the other list in use, which has that many masks. */
    MaskList switched(int masks) {
        return with(LISTED_AT, masks).with(ACTIVE_AT, integer(ACTIVE_AT) & 1 ^ 1 | masks << COUNT_SHIFT);
    }

    /** With that many processes that have flows under the mask of a number, and those masks in use behind which there are flows. */
    MaskList counted(int number, int users) {
        return with(USERS_AT + 4 * number, users).trimmed();
    }

    /** With these numbers of processes. */
    MaskList counted(int[] users) {
        MaskList all = this;
        for (int i = 0; i < NUMBERS; i++) {
            all = all.with(USERS_AT + 4 * i, users[i]);
        }
        return all.trimmed();
    }

    private MaskList trimmed() {
        List<Mask> all = listed();
        int count = all.size();
        while (count > 0 && users(all.get(count - 1).number) == 0) {
            count--;
        }
        return with(ACTIVE_AT, integer(ACTIVE_AT) & 1 | count << COUNT_SHIFT);
    }

    /** With the attachment of that number. */
    MaskList withLink(int id) {
        return with(LINK_AT, id);
    }

    private MaskList with(int at, int number) {
        byte[] changed = value.clone();
        buffer(changed).putInt(at, number);
        return new MaskList(changed);
    }
}
