// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Which file it is, whatever the name or descriptor that one has of it: {@code st_dev} and {@code st_ino} of fstat(2).
 * While somebody holds a descriptor of a file, no other file gets its number, even when its name is gone.
 *
 * @param device the file system, {@code major << 32 | minor}
 * @param inode the file in it
 */
public record FileIdentity(long device, long inode) {
    /**
     * Asks for the file behind a descriptor.
     *
     * @param fd any number
     * @return the file
     * @throws LinuxException {@code EBADF} if it is no open descriptor
     */
    public static FileIdentity of(int fd) throws LinuxException {
        if (fd < 0) { // some of them have a meaning of their own, as AT_FDCWD
            throw new LinuxException("statx(fd " + fd + ")", Errno.EBADF);
        }
        MemorySegment found = Statx.call(fd, Statx.STATX_INO);
        long major = Integer.toUnsignedLong(found.get(ValueLayout.JAVA_INT, Statx.DEV_MAJOR_OFFSET));
        long minor = Integer.toUnsignedLong(found.get(ValueLayout.JAVA_INT, Statx.DEV_MINOR_OFFSET));
        return new FileIdentity(major << 32 | minor, found.get(ValueLayout.JAVA_LONG, Statx.INO_OFFSET));
    }
}
