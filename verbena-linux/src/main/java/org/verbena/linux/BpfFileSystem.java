// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** The file system whose files keep programs, attachments and tables: {@link Bpf#pin}. Stateless and thread-safe. */
public final class BpfFileSystem {
    /** Where it is by convention. */
    public static final Path USUAL = Path.of("/sys/fs/bpf");

    private static final String TYPE = "bpf";

    private BpfFileSystem() {}

    /**
     * Mounts it at {@link #USUAL}, unless it is there, for root alone. It stays mounted.
     *
     * @return the folder
     * @throws LinuxException {@code EPERM} (it is not mounted, and CAP_SYS_ADMIN is missing), {@code ENODEV} (the kernel has
     *         none), {@code ENOENT} (no sysfs)
     */
    public static Path mounted() throws LinuxException {
        if (!isMounted()) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment type = arena.allocateFrom(TYPE);
                MemorySegment target = arena.allocateFrom(USUAL.toString());
                MemorySegment options = arena.allocateFrom("mode=0700");
                long result = Native.call(type, SyscallNumber.MOUNT, type.address(), target.address(), type.address(),
                        0,
                        options.address(), 0);
                if (result < 0 && !isMounted()) { // nor by somebody else in this moment
                    throw new LinuxException("mount(" + USUAL + ", type bpf)", (int) -result,
                            "as root: mount -t bpf bpf " + USUAL);
                }
            }
        }
        return USUAL;
    }

    private static boolean isMounted() throws LinuxException {
        try {
            return Files.getFileStore(USUAL).type().equals(TYPE);
        } catch (IOException e) {
            LinuxException missing = new LinuxException("stat(" + USUAL + ")", Errno.ENOENT, "mount sysfs at /sys");
            missing.initCause(e);
            throw missing;
        }
    }
}
