// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Identity of a file, independent of its names and descriptors: {@code st_dev} and {@code st_ino} of fstat(2). While
 * any process holds a descriptor of a file, no other file gets its number, even after its name is removed.
 *
 * @param device the file system, {@code major << 32 | minor}
 * @param inode the file in it
 */
public record FileIdentity(long device, long inode) {
    /**
     * Queries the file of a descriptor.
     *
     * @param fd any number
     * @return the file
     * @throws LinuxException {@code EBADF} if it is no open descriptor
     */
    public static FileIdentity of(int fd) throws LinuxException {
        if (fd < 0) { // some negative numbers have a meaning, such as AT_FDCWD
            throw new LinuxException("statx(fd " + fd + ")", Errno.EBADF);
        }
        MemorySegment found = Statx.call(fd, Statx.STATX_INO);
        long major = Integer.toUnsignedLong(found.get(ValueLayout.JAVA_INT, Statx.DEV_MAJOR_OFFSET));
        long minor = Integer.toUnsignedLong(found.get(ValueLayout.JAVA_INT, Statx.DEV_MINOR_OFFSET));
        return new FileIdentity(major << 32 | minor, found.get(ValueLayout.JAVA_LONG, Statx.INO_OFFSET));
    }
}
