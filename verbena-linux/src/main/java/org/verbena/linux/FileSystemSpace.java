// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Free space of a file system: statfs(2). {@link java.nio.file.FileStore} reports bytes and no inodes, without which no
 * file can be created either.
 *
 * @param availableBytes bytes for unprivileged processes
 * @param inodes total number; 0 where they are not counted, as on btrfs
 * @param freeInodes number of further files, directories and links that can be created; 0 where they are not counted
 */
public record FileSystemSpace(long availableBytes, long inodes, long freeInodes) {
    private static final int BLOCK_SIZE = 8;
    private static final int AVAILABLE = 32;
    private static final int INODES = 40;
    private static final int FREE_INODES = 48;

    /**
     * Queries a file system.
     *
     * @param path a file or directory of the file system that may be read
     * @return the current values
     * @throws LinuxException {@code ENOENT}, {@code EACCES}, {@code EMFILE}, {@code EIO}
     */
    public static FileSystemSpace of(Path path) throws LinuxException {
        try (Fd fd = PosixFile.open(path, PosixFile.O_RDONLY | PosixFile.O_NONBLOCK, 0)) {
            Native.Scratch scratch = Native.scratch();
            Args.check(Native.call(SyscallNumber.FSTATFS, fd.value(), scratch.address()), "fstatfs(\"" + path + "\")");
            MemorySegment s = scratch.memory();
            return new FileSystemSpace(s.get(ValueLayout.JAVA_LONG, BLOCK_SIZE) * s.get(ValueLayout.JAVA_LONG,
                    AVAILABLE), s.get(ValueLayout.JAVA_LONG, INODES), s.get(ValueLayout.JAVA_LONG, FREE_INODES));
        }
    }

    /** Whether no file can be created, however many bytes are free. */
    public boolean isOutOfInodes() {
        return inodes > 0 && freeInodes == 0;
    }
}
