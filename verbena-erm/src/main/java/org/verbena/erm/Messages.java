// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The messages of {@link Control} between two ends, 48 bytes in the byte order of the machine's, little-endian.
 *
 * <pre>
 * 0 type int, 4 id int, 8 address long, 16 length long, 24 key int, 28 access int, 32 tag long, 40 errno int, 44 int 0
 * </pre>
 *
 * A {@link RemoteCompletion} that comes by it is of type {@link #REMOTE_COMPLETION} there and has the offset in place of the address, the
 * user data in that of the tag, and the kind in that of the access. The messages of an update have its number, from 1 on for
 * each region, in the errno's place.
 */
final class Messages {
    static final int CONTROL_BYTES = 48;
    /** What a receive takes: longer than any message, so that a longer one is an error and is not cut off. */
    static final int RECEIVE_BYTES = 64;

    /** There is a region: id, address, length, key, access, tag, and in the errno's place its name for a {@link ImmediateCompletion}. */
    static final int ADD = 1;
    /** The answer: id, errno. */
    static final int ADDED = 2;
    /** A region is about to go: id. */
    static final int REVOKE = 3;
    /** The answer: no copy of this end touches it any more. */
    static final int REVOKED = 4;
    /** A copy that nobody polls for has been done. */
    static final int REMOTE_COMPLETION = 5;
    /** How many notices were taken: of the copy queue in the errno's place, of control in the key's; all else is 0. */
    static final int CREDIT = 6;

    /** The rights of a region are about to change: id, number of the update. */
    static final int HOLD = 7;
    /** The answer: no copy of this end touches it until it hears more: id, number. */
    static final int HELD = 8;
    /** What a region is from now on: id, address, length, key, access, tag, number. */
    static final int UPDATE = 9;
    /** The answer: id, number. */
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
