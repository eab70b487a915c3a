// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** Size, kind and allocated bytes of an open file: statx(2), whose structure is the same on every architecture. */
record Statx(long size, long allocated, boolean regularFile) {
    static final int AT_EMPTY_PATH = 0x1000;
    static final int STATX_TYPE = 0x1;
    static final int STATX_MODE = 0x2;
    static final int STATX_UID = 0x8;
    static final int STATX_INO = 0x100;
    static final int STATX_SIZE = 0x200;
    static final int STATX_BLOCKS = 0x400;
    static final int UID_OFFSET = 20;
    static final int MODE_OFFSET = 28;
    static final int INO_OFFSET = 32;
    static final int SIZE_OFFSET = 40;
    static final int BLOCKS_OFFSET = 48;
    static final int DEV_MAJOR_OFFSET = 136;
    static final int DEV_MINOR_OFFSET = 140;
    static final int S_IFMT = 0xF000;
    static final int S_IFREG = 0x8000;
    static final int S_IFDIR = 0x4000;

    /** Offset of the empty path in the scratch memory, after the 256 bytes of struct statx. */
    private static final int PATH = 512;

    static Statx of(Fd fd) throws LinuxException {
        MemorySegment found = call(fd.value(), STATX_TYPE | STATX_SIZE | STATX_BLOCKS);
        int mode = found.get(ValueLayout.JAVA_SHORT, MODE_OFFSET) & 0xFFFF;
        long size = found.get(ValueLayout.JAVA_LONG, SIZE_OFFSET);
        long allocated = found.get(ValueLayout.JAVA_LONG, BLOCKS_OFFSET) * 512;
        return new Statx(size, allocated, (mode & S_IFMT) == S_IFREG);
    }

    /**
     * The inode of a path of ASCII characters, following symbolic links; minus errno if there is none. Needs no
     * descriptor.
     */
    static long inode(String path) {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory();
        memory.setString(PATH, path, StandardCharsets.US_ASCII);
        long result = Native.call(SyscallNumber.STATX, PosixFile.AT_FDCWD, scratch.address() + PATH, 0, STATX_INO,
                scratch.address(), 0);
        return result < 0 ? result : memory.get(ValueLayout.JAVA_LONG, INO_OFFSET);
    }

    /** Queries an open file, into this thread's scratch memory: valid until its next call. */
    static MemorySegment call(int number, int mask) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_BYTE, PATH, (byte) 0);
        Args.check(Native.call(SyscallNumber.STATX, number, scratch.address() + PATH, AT_EMPTY_PATH, mask,
                scratch.address(), 0), "statx(fd " + number + ")");
        return scratch.memory();
    }
}
