// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

/** The object of a {@code stat} or {@code monitor} does not exist; the message is a sentence. */
public final class StatFailure extends Exception {
    private static final long serialVersionUID = 1L;

    StatFailure(String message) {
        super(message);
    }

    /** The object that was shown before has ended. */
    public static final class Ended extends Exception {
        private static final long serialVersionUID = 1L;

        Ended(String message) {
            super(message);
        }
    }
}
