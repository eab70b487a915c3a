// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.PosixFile;
import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A buffer of the kind that drivers share by descriptor (dma-buf), created from a memory file by the udmabuf driver of
 * the kernel.
 */
final class SharedBuffer implements AutoCloseable {
    private static final Path DRIVER = Path.of("/dev/udmabuf");
    private static final long UDMABUF_CREATE = 0x4018_7542L;
    private static final int UDMABUF_FLAGS_CLOEXEC = 1;

    final Fd fd;
    /** The same pages through the memory file. */
    final Mapping pages;

    private SharedBuffer(Fd fd, Mapping pages) {
        this.fd = fd;
        this.pages = pages;
    }

    /** Creates a buffer; null, and one line of output, if the kernel has no udmabuf that this process may use. */
    static @Nullable SharedBuffer make(long bytes) throws LinuxException {
        if (!Files.isWritable(DRIVER)) {
            System.err.println("no shared buffer (dma-buf) is tested: " + DRIVER + " is not there or not writable");
            return null;
        }
        try (Fd driver = PosixFile.open(DRIVER, PosixFile.O_RDWR, 0); Fd file = Memfd.create("udmabuf", bytes)) {
            Memfd.addSeals(file, Memfd.SEAL_SHRINK);
            Native.Scratch s = Native.scratch(); // struct udmabuf_create {u32 memfd, flags; u64 offset, size;}
            s.memory().set(ValueLayout.JAVA_INT, 0, file.value());
            s.memory().set(ValueLayout.JAVA_INT, 4, UDMABUF_FLAGS_CLOEXEC);
            s.memory().set(ValueLayout.JAVA_LONG, 8, 0);
            s.memory().set(ValueLayout.JAVA_LONG, 16, bytes);
            long n = Native.call(SyscallNumber.IOCTL, driver.value(), UDMABUF_CREATE, s.address());
            if (n < 0) {
                throw new LinuxException("ioctl(UDMABUF_CREATE)", (int) -n);
            }
            return new SharedBuffer(Fd.of((int) n), Mapping.map(file, 0, bytes, true));
        }
    }

    @Override
    public void close() {
        fd.close();
    }
}
