// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;

/** A process cannot be looked at. The message says which one, the errno and its text, and what to do. */
public final class CounterFileException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String operation;
    private final int errno;
    private final @Nullable String detail;

    CounterFileException(String operation, int errno, String detail) {
        super(operation + ": " + Errno.name(errno) + ": " + detail);
        this.operation = operation;
        this.errno = errno;
        this.detail = detail;
    }

    CounterFileException(String operation, LinuxException cause) {
        super(operation + ": " + cause.getMessage(), cause);
        this.operation = operation;
        this.errno = cause.errno();
        detail = null;
    }

    /** What was tried, for instance {@code "look at process 11"}. */
    public String operation() {
        return operation;
    }

    /** See {@link Errno}. */
    public int errno() {
        return errno;
    }

    /** What is wrong and what to do; null if the cause, a {@link LinuxException}, says it. */
    public @Nullable String detail() {
        return detail;
    }
}
