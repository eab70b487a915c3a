// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

/** What {@code stat} or {@code monitor} was asked to show is not there; the message is a sentence. */
final class StatFailure extends Exception {
    private static final long serialVersionUID = 1L;

    StatFailure(String message) {
        super(message);
    }

    /** What was shown before is there no more. */
    static final class Ended extends Exception {
        private static final long serialVersionUID = 1L;

        Ended(String message) {
            super(message);
        }
    }
}
