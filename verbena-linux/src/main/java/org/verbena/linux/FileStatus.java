// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Type, owner and permissions of an open file: fstat(2). They are those of the descriptor's file, which cannot be
 * replaced by another one meanwhile.
 *
 * @param uid the owner
 * @param permissions bits 0 to 07777
 * @param regularFile true for a regular file
 * @param directory true for a directory
 * @param size bytes
 */
public record FileStatus(int uid, int permissions, boolean regularFile, boolean directory, long size) {
    private static final int PERMISSIONS = 07777;

    /**
     * Queries the file of a descriptor.
     *
     * @throws LinuxException {@code EBADF}
     */
    public static FileStatus of(Fd fd) throws LinuxException {
        MemorySegment found = Statx.call(fd.value(),
                Statx.STATX_TYPE | Statx.STATX_MODE | Statx.STATX_UID | Statx.STATX_SIZE);
        int mode = found.get(ValueLayout.JAVA_SHORT, Statx.MODE_OFFSET) & 0xffff;
        int kind = mode & Statx.S_IFMT;
        return new FileStatus(found.get(ValueLayout.JAVA_INT, Statx.UID_OFFSET), mode & PERMISSIONS,
                kind == Statx.S_IFREG, kind == Statx.S_IFDIR, found.get(ValueLayout.JAVA_LONG, Statx.SIZE_OFFSET));
    }
}
