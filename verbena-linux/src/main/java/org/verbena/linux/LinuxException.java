// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;

/**
 * A system call failed. The message has the call with its relevant arguments, the errno, its text and, where there is
 * one, advice: {@code mmap(length=4096, MAP_SHARED): ENOMEM (Cannot allocate memory)}.
 */
public final class LinuxException extends IOException {
    private static final long serialVersionUID = 1;

    private final String call;
    private final int errno;

    /**
     * Creates an exception.
     *
     * @param call the call in readable form
     * @param errno the error number, positive
     */
    public LinuxException(String call, int errno) {
        super(call + ": " + Errno.describe(errno));
        this.call = call;
        this.errno = errno;
    }

    /**
     * Creates an exception with advice.
     *
     * @param call the call in readable form
     * @param errno the error number, positive
     * @param hint the advice, a clause without a full stop
     */
    public LinuxException(String call, int errno, String hint) {
        super(call + ": " + Errno.describe(errno) + "; " + hint);
        this.call = call;
        this.errno = errno;
    }

    /**
     * The call.
     *
     * @return for example {@code "mmap(length=4096, MAP_SHARED)"}
     */
    public String call() {
        return call;
    }

    /**
     * The error number.
     *
     * @return one of {@link Errno}'s constants, or another positive number
     */
    public int errno() {
        return errno;
    }
}
