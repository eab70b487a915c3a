// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Memory files as buffers for devices: udmabuf, {@code /dev/udmabuf}. Stateless and thread-safe.
 *
 * <pre>
 * udmabuf_create  memfd 0, flags 4, offset 8, size 16; 24 bytes
 * </pre>
 */
public final class UdmaBuf {
    static final long UDMABUF_CREATE = 0x4018_7542L;
    static final int UDMABUF_FLAGS_CLOEXEC = 1;
    static final int CREATE_BYTES = 24;
    static final int CREATE_OFFSET = 8;
    static final int CREATE_SIZE = 16;
    private static final Path DEVICE = Path.of("/dev/udmabuf");

    private UdmaBuf() {}

    /**
     * Makes a buffer ({@link DmaBuf}) of pages of a memory file.
     *
     * @param memfd the file, sealed by {@link Memfd#SEAL_SHRINK} and not against writing
     * @param offset first byte, a multiple of the page size
     * @param size bytes, a multiple of the page size
     * @return the buffer; the file may be closed
     * @throws LinuxException {@code ENOENT} (the kernel has no udmabuf), {@code EACCES} (depends on the device's mode),
     *         {@code EINVAL} (not sealed so, not whole pages, more than the module's limit), {@code EBADFD} (not a
     *         memory file), {@code ENOMEM}
     */
    public static Fd create(Fd memfd, long offset, long size) throws LinuxException {
        Args.requireRange(offset, size);
        try (Fd device = PosixFile.open(DEVICE, PosixFile.O_RDWR, 0)) {
            int file = memfd.value();
            int through = device.value();
            Native.Scratch scratch = Native.scratch();
            MemorySegment memory = scratch.memory();
            memory.set(ValueLayout.JAVA_INT, 0, file);
            memory.set(ValueLayout.JAVA_INT, 4, UDMABUF_FLAGS_CLOEXEC);
            memory.set(ValueLayout.JAVA_LONG, CREATE_OFFSET, offset);
            memory.set(ValueLayout.JAVA_LONG, CREATE_SIZE, size);
            return Fd.ofResult(Native.call(SyscallNumber.IOCTL, through, UDMABUF_CREATE, scratch.address()),
                    "ioctl(" + DEVICE + ", UDMABUF_CREATE, " + size + " bytes)");
        }
    }
}
