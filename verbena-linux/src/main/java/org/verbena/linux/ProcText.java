// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * What a small file of proc(5) or of a control group has in it. Such files are asked again and again, so reading one allocates
 * nothing, once the memory here has the size of the largest. For one thread at a time.
 */
final class ProcText {
    private static final int FIRST_BYTES = 4096;
    /** Far more than any of these files has. */
    private static final int MOST_BYTES = 1 << 24;
    private static final int FAILED = -1;
    /** Without native access the JDK reads. */
    private static final boolean BY_CALLS = isAccessGranted();

    private MemorySegment bytes = MemorySegment.NULL;
    private int length;

    /** A file to read; its name as the kernel takes it, too. */
    record Source(Path path, MemorySegment name) {
        static Source of(Path path) {
            byte[] bytes = PathBytes.of(path);
            MemorySegment name = Arena.ofAuto().allocate(bytes.length + 1L);
            MemorySegment.copy(bytes, 0, name, ValueLayout.JAVA_BYTE, 0, bytes.length);
            return new Source(path, name);
        }
    }

    private static boolean isAccessGranted() {
        try {
            Native.requireAccess();
            return true;
        } catch (IllegalCallerException | UnsupportedOperationException e) {
            return false;
        }
    }

    /** Reads a file. Of one that there is not, or that cannot be read, the text is empty. */
    ProcText read(Source file) {
        length = 0;
        if (BY_CALLS) {
            readByCalls(file.name);
        } else {
            readByFiles(file.path);
        }
        return this;
    }

    private void readByCalls(MemorySegment name) {
        int fd = (int) Native.callWithoutErrno(name, PosixFile.OPENAT, PosixFile.AT_FDCWD, name.address(),
                PosixFile.O_RDONLY | PosixFile.O_CLOEXEC, 0, 0, 0);
        if (fd == FAILED) {
            return;
        }
        try {
            long n;
            do {
                if (length == bytes.byteSize()) {
                    grow();
                }
                n = Native.callWithoutErrno(bytes, SyscallNumber.PREAD64, fd, bytes.address() + length,
                        bytes.byteSize() - length, length, 0, 0);
                length += (int) Math.max(0, n);
            } while (n > 0 && length < MOST_BYTES);
        } finally {
            Native.callWithoutErrno(MemorySegment.NULL, SyscallNumber.CLOSE, fd, 0, 0, 0, 0, 0);
        }
    }

    private void grow() {
        MemorySegment larger = Arena.ofAuto().allocate(Math.max(FIRST_BYTES, 2 * bytes.byteSize()));
        MemorySegment.copy(bytes, 0, larger, 0, length);
        bytes = larger;
    }

    private void readByFiles(Path path) {
        try {
            byte[] all = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
            while (bytes.byteSize() < all.length) {
                grow();
            }
            MemorySegment.copy(all, 0, bytes, ValueLayout.JAVA_BYTE, 0, all.length);
            length = all.length;
        } catch (IOException gone) {
            length = 0;
        }
    }

    /** The number at the beginning; -1 if there is none, such as with "max". */
    long number() {
        return numberAt(0);
    }

    /** The number after a name at the start of a line and a space; -1 if there is none. */
    long field(String name) {
        for (int at = 0; at < length; at = nextLine(at)) {
            int behind = at + name.length();
            if (startsWith(name, at) && behind < length && at(behind) == ' ') {
                return numberAt(behind);
            }
        }
        return -1;
    }

    private boolean startsWith(String name, int at) {
        if (at + name.length() > length) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            if (at(at + i) != name.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private int nextLine(int from) {
        int at = from;
        while (at < length && at(at) != '\n') {
            at++;
        }
        return at + 1;
    }

    private byte at(int index) {
        return bytes.get(ValueLayout.JAVA_BYTE, index);
    }

    /** Behind blanks; a word that has more than digits in it is none. */
    private long numberAt(int from) {
        int at = from;
        while (at < length && isBlank(at(at))) {
            at++;
        }
        int first = at;
        long number = 0;
        for (; at < length && at(at) != '\n' && !isBlank(at(at)); at++) {
            int digit = at(at) - '0';
            if (digit < 0 || digit > 9 || number > (Long.MAX_VALUE - digit) / 10) {
                return -1;
            }
            number = 10 * number + digit;
        }
        return at == first ? -1 : number;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t';
    }

    /** Whether it is the same text as {@code other}, a copy of bytes that were read before. */
    boolean isSame(MemorySegment other) {
        return length == other.byteSize() && MemorySegment.mismatch(bytes, 0, length, other, 0, length) < 0;
    }

    /** A copy of the bytes, for {@link #isSame}. */
    MemorySegment copy() {
        return MemorySegment.ofArray(bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public String toString() {
        return new String(bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
