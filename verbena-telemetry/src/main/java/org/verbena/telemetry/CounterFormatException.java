// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

/** A counter file does not hold what it should: it was cut off, or is not one. */
final class CounterFormatException extends Exception {
    private static final long serialVersionUID = 1L;

    CounterFormatException(String message) {
        super(message);
    }
}
