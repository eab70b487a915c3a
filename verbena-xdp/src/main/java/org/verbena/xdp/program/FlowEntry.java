// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.stream.Stream;

/**
 * What happens to the packets of a flow. The value of the map of flows.
 *
 * <pre>
 *  0 ┌────────┬───┬────────┬─────────────┐
 *    │ action │ 0 │ target │ counter     │  bytes: 1, 1, 2, 4
 *  8 ├────────┴───┴────────┴─────────────┤
 *    │ owner                             │  bytes: 8
 * 16 └───────────────────────────────────┘
 * </pre>
 *
 * The program loads the first 8 bytes at once, so it never sees a part of one flow and a part of another.
 *
 * @param action what happens
 * @param target of {@link FlowAction#REDIRECT}: which socket of each queue, 0 to 65535; 0 otherwise
 * @param counter where the packets are counted, a number in the map of counters; 0 for nowhere
 * @param owner for processes, the program does not read it: tells whose flow it is
 */
public record FlowEntry(FlowAction action, int target, int counter, long owner) {
    /** Bytes of an entry. */
    public static final int BYTES = 16;

    static final int TARGET_SHIFT = 16;
    static final int COUNTER_SHIFT = 32;

    /** Checks the ranges. */
    public FlowEntry {
        if (target < 0 || target > 0xFFFF || target != 0 && action != FlowAction.REDIRECT) {
            throw new IllegalArgumentException("a target is 0 to 65535, and 0 unless packets go there: " + target);
        }
        if (counter < 0) {
            throw new IllegalArgumentException("a counter is 0 or more: " + counter);
        }
    }

    /** The entry from its bytes in a map. */
    static FlowEntry of(byte[] bytes) {
        ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        FlowAction action = Stream.of(FlowAction.values()).filter(a -> a.number == b.get(0)).findFirst().orElseThrow();
        return new FlowEntry(action, Short.toUnsignedInt(b.getShort(2)), b.getInt(4), b.getLong(8));
    }

    /** The entry in a map. */
    byte[] bytes() {
        return ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(action.number
                | (long) target << TARGET_SHIFT | (long) counter << COUNTER_SHIFT).putLong(owner).array();
    }
}
