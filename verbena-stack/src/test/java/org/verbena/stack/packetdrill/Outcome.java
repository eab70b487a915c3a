// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/** What came of a script. */
public sealed interface Outcome {
    /** It holds. */
    record Passed() implements Outcome {}

    /**
     * It does not.
     *
     * @param kind what is wrong, as one word
     * @param message file, line, and what is wrong
     */
    record Failed(String kind, String message) implements Outcome {}

    /** It cannot be run; the reason says what is not there. */
    record Unsupported(String reason) implements Outcome {}
}
