// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The messages of {@link Control} between two ends, 48 bytes in the machine's byte order, little-endian.
 *
 * <pre>
 * 0 type int, 4 id int, 8 address long, 16 length long, 24 key int, 28 access int, 32 tag long, 40 errno int, 44 int 0
 * </pre>
 *
 * A {@link RemoteCompletion} sent by control has the type {@link #REMOTE_COMPLETION}, its offset in the field of the
 * address, its user data in that of the tag, and its kind in that of the access. The messages of an update have its
 * number, from 1 on for each region, in the field of the errno.
 */
final class Messages {
    static final int CONTROL_BYTES = 48;
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
        into.set(INT, at, m.type());
        into.set(INT, at + 4, m.id());
        into.set(LONG, at + 8, m.address());
        into.set(LONG, at + 16, m.length());
        into.set(INT, at + 24, m.key());
        into.set(INT, at + 28, m.access());
        into.set(LONG, at + 32, m.tag());
        into.set(INT, at + 40, m.errno());
        into.set(INT, at + 44, 0);
    }

    static void putCredit(MemorySegment into, int consumed, int asyncConsumed) {
        into.fill((byte) 0);
        into.set(INT, 0, CREDIT);
        into.set(INT, 24, asyncConsumed);
        into.set(INT, 40, consumed);
    }

    static int type(MemorySegment from, long at) {
        return from.get(INT, at);
    }

    static int creditConsumed(MemorySegment from, long at) {
        return from.get(INT, at + 40);
    }

    static int creditAsyncConsumed(MemorySegment from, long at) {
        return from.get(INT, at + 24);
    }

    static Message message(MemorySegment from, long at) {
        return new Message(from.get(INT, at), from.get(INT, at + 4), from.get(LONG, at + 8), from.get(LONG, at + 16),
                from.get(INT, at + 24), from.get(INT, at + 28), from.get(LONG, at + 32), from.get(INT, at + 40));
    }
}
