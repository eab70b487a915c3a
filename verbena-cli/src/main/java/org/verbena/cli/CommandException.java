package org.verbena.cli;

import java.io.IOException;

/** What a person asked for cannot be done; the message is one sentence for a person. */
final class CommandException extends IOException {
    private static final long serialVersionUID = 1L;

    CommandException(String message) {
        super(message);
    }

    CommandException(String message, Throwable cause) {
        super(message, cause);
    }
}
