// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;

/** The requested work cannot be done; the message is one sentence for people. */
public class CommandException extends IOException {
    private static final long serialVersionUID = 1L;

    public CommandException(String message) {
        super(message);
    }

    public CommandException(String message, Throwable cause) {
        super(message, cause);
    }
}
