// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.io.IOException;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.telemetry.CounterFileException;

/**
 * A verb of the control path failed. The message names the verb and its object, the errno and its text, and what
 * to do where that is known.
 */
public class VerbsException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String verb;
    private final int errno;

    /**
     * Makes an exception.
     *
     * @param verb the verb and its object, for instance {@code "modify QP 0x11"}
     * @param errno the errno of the C API, see {@link Errno}
     * @param detail what is wrong and what to do, one sentence
     */
    public VerbsException(String verb, int errno, String detail) {
        super(verb + ": " + Errno.name(errno) + ": " + detail);
        this.verb = verb;
        this.errno = errno;
    }

    /** Makes an exception out of a failed system call, which becomes its cause. */
    public VerbsException(String verb, LinuxException cause) {
        super(verb + ": " + cause.getMessage(), cause);
        this.verb = verb;
        this.errno = cause.errno();
    }

    /** The same of another process's counters. */
    static VerbsException of(CounterFileException e) {
        String detail = e.detail();
        return detail == null && e.getCause() instanceof LinuxException cause
                ? new VerbsException(e.operation(), cause)
                : new VerbsException(e.operation(), e.errno(), String.valueOf(detail));
    }

    /** The verb that failed and its object. */
    public String verb() {
        return verb;
    }

    /** The errno of the C API, see {@link Errno}. */
    public int errno() {
        return errno;
    }
}
