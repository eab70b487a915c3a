// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Checks of arguments, before native code sees them. */
final class Args {
    private Args() {}

    /** The address of a range of a native segment, after checks of its bounds and kind. */
    static long address(MemorySegment segment, long offset, long length, String what) {
        requireNative(segment, what);
        Objects.checkFromIndexSize(offset, length, segment.byteSize());
        return segment.address() + offset;
    }

    static void requireNative(MemorySegment segment, String what) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException(what + " is heap memory, which the garbage collector may move;"
                    + " pass native memory (Arena.allocate, Mapping)");
        }
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException(what + " belongs to a closed arena");
        }
    }

    static void requireWritable(MemorySegment segment, String what) {
        if (segment.isReadOnly()) {
            throw new IllegalArgumentException(what + " is read-only");
        }
    }

    /** A range of a file: offset 0 or more, length positive, the end within 63 bits. */
    static void requireRange(long offset, long length) {
        if (offset < 0 || length <= 0 || offset > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException("not a range of a file: offset " + offset + ", length " + length);
        }
    }

    /** The bytes of a name, without the final NUL. */
    static byte[] name(String name, int maxBytes, String what) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > maxBytes) {
            throw new IllegalArgumentException(
                    what + " is " + bytes.length + " bytes long; at most " + maxBytes + " are possible: " + name);
        }
        if (name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(what + " contains a NUL character");
        }
        return bytes;
    }

    /** Requires a number from the first to the last, both inclusive. */
    static void requireBetween(long number, long first, long last, String what) {
        if (number < first || number > last) {
            throw new IllegalArgumentException(what + " is " + first + " to " + last + ", not " + number);
        }
    }

    /** Milliseconds of a time-out: -1 for forever, else 0 or more. */
    static void requireTimeout(int timeoutMillis) {
        if (timeoutMillis < -1) {
            throw new IllegalArgumentException("a time-out is -1 (forever), 0 or more milliseconds: " + timeoutMillis);
        }
    }

    /** Returns the result of a call, or throws its exception. */
    static long check(long result, String call) throws LinuxException {
        if (result < 0) {
            throw new LinuxException(call, (int) -result);
        }
        return result;
    }

    /** The same for calls of threads that wait for data: the text is composed only when the call has failed. */
    static long check(long result, String call, int fd) throws LinuxException {
        if (result < 0) {
            throw new LinuxException(call + fd + ")", (int) -result);
        }
        return result;
    }
}
