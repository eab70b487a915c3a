// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A pair of rings for system calls: io_uring_setup(2). Only set up and described so far; nothing is submitted.
 *
 * <pre>
 * io_uring_params  sq_entries 0, cq_entries 4, flags 8, features 20, sq_off 40, cq_off 80; 120 bytes
 * </pre>
 */
public final class IoUring implements AutoCloseable {
    /** Both rings are one mapping. */
    public static final int IORING_FEAT_SINGLE_MMAP = 1;
    /** Completions are not lost when the ring is full. */
    public static final int IORING_FEAT_NODROP = 2;

    static final int PARAMS_BYTES = 120;
    static final int PARAMS_CQ_ENTRIES = 4;
    static final int PARAMS_FEATURES = 20;
    private static final int MAX_ENTRIES = 32768;

    private final Fd fd;
    private final int submissions;
    private final int completions;
    private final int features;

    private IoUring(Fd fd, MemorySegment params) {
        this.fd = fd;
        submissions = params.get(ValueLayout.JAVA_INT, 0);
        completions = params.get(ValueLayout.JAVA_INT, PARAMS_CQ_ENTRIES);
        features = params.get(ValueLayout.JAVA_INT, PARAMS_FEATURES);
    }

    /**
     * Makes the rings.
     *
     * @param entries requests that can wait to be submitted, 1 to 32768; rounded up to a power of two
     * @return the rings
     * @throws LinuxException {@code ENOSYS} (the kernel or a filter does not have it), {@code EPERM} (switched off by
     *     {@code kernel.io_uring_disabled}, or by a filter), {@code ENOMEM}, {@code EMFILE}
     */
    public static IoUring setup(int entries) throws LinuxException {
        Args.requireBetween(entries, 1, MAX_ENTRIES, "the length of a ring");
        Native.Scratch scratch = Native.scratch();
        MemorySegment params = scratch.memory().asSlice(0, PARAMS_BYTES).fill((byte) 0);
        return new IoUring(Fd.ofResult(Native.call(SyscallNumber.IO_URING_SETUP, entries, scratch.address()),
                "io_uring_setup(" + entries + ")"), params);
    }

    /**
     * The capacity of the submission ring.
     *
     * @return a power of two
     */
    public int submissionEntries() {
        return submissions;
    }

    /**
     * The capacity of the completion ring.
     *
     * @return a power of two
     */
    public int completionEntries() {
        return completions;
    }

    /**
     * The kernel's features.
     *
     * @return a union of {@code IORING_FEAT_} values, including unknown ones
     */
    public int features() {
        return features;
    }

    /** Closes the descriptor. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
