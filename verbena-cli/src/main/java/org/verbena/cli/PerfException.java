package org.verbena.cli;

import java.io.IOException;

/** A measurement could not be made; the message is one sentence for a person. */
final class PerfException extends IOException {
    private static final long serialVersionUID = 1L;

    PerfException(String message) {
        super(message);
    }

    PerfException(String message, Throwable cause) {
        super(message, cause);
    }
}
