package org.verbena.cli;

import java.io.IOException;

/** A measurement could not be made; the message is one sentence for a person. */
final class PerfException extends IOException {
    private static final long serialVersionUID = 1L;

    private final boolean cause;

    PerfException(String message) {
        this(message, false);
    }

    PerfException(String message, Throwable cause) {
        super(message, cause);
        this.cause = false;
    }

    private PerfException(String message, boolean cause) {
        super(message);
        this.cause = cause;
    }

    /** One that names the cause itself: whatever the peer says of it is a consequence. */
    static PerfException cause(String message) {
        return new PerfException(message, true);
    }

    boolean isCause() {
        return cause;
    }
}
