// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.stream.Stream;

/**
 * What happens to the packets of a flow. The value of the map of flows.
 *
 * <pre>
 * 0 ┌────────┬───────┬────────┬─────────────┐
 *   │ action │ owner │ target │ counter     │  bytes: 1, 1, 2, 4
 * 8 └────────┴───────┴────────┴─────────────┘
 * </pre>
 *
 * The program loads it at once, so it never sees a part of one flow and a part of another.
 *
 * @param action what happens
 * @param target of {@link FlowAction#REDIRECT}: which socket of each queue, 0 to 65535; of {@link FlowAction#SPREAD}: which
 *        {@link Spread}; 0 otherwise
 * @param counter where the packets are counted, a number in the map of counters; 0 for nowhere
 * @param owner the process, a number in the map of owners: without its socket there the flow is not there; 0 for a flow of no
 *        process
 */
public record FlowEntry(FlowAction action, int target, int counter, int owner) {
    /** Bytes of an entry. */
    public static final int BYTES = 8;

    /** The highest number of an owner. */
    static final int MAX_OWNER = 255;

    static final int OWNER_SHIFT = 8;
    static final int TARGET_SHIFT = 16;
    static final int COUNTER_SHIFT = 32;

    /** Checks the ranges. */
    public FlowEntry {
        if (target < 0 || target > 0xFFFF || target != 0 && action != FlowAction.REDIRECT
                && action != FlowAction.SPREAD) {
            throw new IllegalArgumentException("a target is 0 to 65535, and 0 unless packets go there: " + target);
        }
        if (counter < 0) {
            throw new IllegalArgumentException("a counter is 0 or more: " + counter);
        }
        if (owner < 0 || owner > MAX_OWNER) {
            throw new IllegalArgumentException("an owner is 0 to " + MAX_OWNER + ": " + owner);
        }
    }

    /** The entry from its bytes in a map. */
    static FlowEntry of(byte[] bytes) {
        ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        FlowAction action = Stream.of(FlowAction.values()).filter(a -> a.number == b.get(0)).findFirst().orElseThrow();
        return new FlowEntry(action, Short.toUnsignedInt(b.getShort(2)), b.getInt(4), Byte.toUnsignedInt(b.get(1)));
    }

    /** The owner of the entry with these bytes. */
    static int owner(byte[] bytes) {
        return Byte.toUnsignedInt(bytes[OWNER_SHIFT / 8]);
    }

    /** The entry in a map. */
    byte[] bytes() {
        return ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(action.number
                | (long) owner << OWNER_SHIFT | (long) target << TARGET_SHIFT | (long) counter << COUNTER_SHIFT)
                .array();
    }
}
