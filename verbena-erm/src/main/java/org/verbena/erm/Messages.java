// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The messages of {@link Control} between two ends, as {@link ControlLayout} draws them.
 *
 * <p>A {@link RemoteCompletion} sent by control has the type {@link #REMOTE_COMPLETION}, its offset in the field of the
 * address, its user data in that of the tag, and its kind in that of the access. The messages of an update have its
 * number, from 1 on for each region, in the field of the errno.
 */
final class Messages {
    /** Size of a receive buffer: longer than any message, so that an overlong message is detected and not truncated. */
    static final int RECEIVE_BYTES = 64;

    /**
     * Announces a region: id, address, length, key, access, tag, and in the errno field its name for an
     * {@link ImmediateCompletion}.
     */
    static final int ADD = 1;
    /** The reply: id, errno. */
    static final int ADDED = 2;
    /** Revokes a region: id. */
    static final int REVOKE = 3;
    /** The reply: no copy of the sender accesses it any more. */
    static final int REVOKED = 4;
    /** The remote completion of an asynchronous copy. */
    static final int REMOTE_COMPLETION = 5;
    /**
     * Totals of consumed remote completions: of the copy queue in the errno field, of asynchronous copies in the key
     * field; all others are 0.
     */
    static final int CREDIT = 6;

    /** Holds a region whose rights are about to change: id, number of the update. */
    static final int HOLD = 7;
    /** The reply: no copy of the sender accesses it until the update: id, number. */
    static final int HELD = 8;
    /** The new state of a region: id, address, length, key, access, tag, number. */
    static final int UPDATE = 9;
    /** The reply: id, number. */
    static final int UPDATED = 10;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** A message of {@link Control}. */
    record Message(int type, int id, long address, long length, int key, int access, long tag, int errno) {
        static Message of(int type, int id) {
            return new Message(type, id, 0, 0, 0, 0, 0, 0);
        }
    }

    private Messages() {}

    static void put(MemorySegment into, long at, Message m) {
        into.set(INT, at + ControlLayout.TYPE, m.type());
        into.set(INT, at + ControlLayout.ID, m.id());
        into.set(LONG, at + ControlLayout.ADDRESS, m.address());
        into.set(LONG, at + ControlLayout.LENGTH, m.length());
        into.set(INT, at + ControlLayout.KEY, m.key());
        into.set(INT, at + ControlLayout.ACCESS, m.access());
        into.set(LONG, at + ControlLayout.TAG, m.tag());
        into.set(INT, at + ControlLayout.ERRNO, m.errno());
        into.set(INT, at + ControlLayout.RESERVED, 0);
    }

    static void putCredit(MemorySegment into, int consumed, int asyncConsumed) {
        into.fill((byte) 0);
        into.set(INT, ControlLayout.TYPE, CREDIT);
        into.set(INT, ControlLayout.KEY, asyncConsumed);
        into.set(INT, ControlLayout.ERRNO, consumed);
    }

    static int type(MemorySegment from, long at) {
        return from.get(INT, at + ControlLayout.TYPE);
    }

    static int creditConsumed(MemorySegment from, long at) {
        return from.get(INT, at + ControlLayout.ERRNO);
    }

    static int creditAsyncConsumed(MemorySegment from, long at) {
        return from.get(INT, at + ControlLayout.KEY);
    }

    static Message message(MemorySegment from, long at) {
        return new Message(type(from, at), from.get(INT, at + ControlLayout.ID),
                from.get(LONG, at + ControlLayout.ADDRESS), from.get(LONG, at + ControlLayout.LENGTH),
                from.get(INT, at + ControlLayout.KEY), from.get(INT, at + ControlLayout.ACCESS),
                from.get(LONG, at + ControlLayout.TAG), from.get(INT, at + ControlLayout.ERRNO));
    }
}
