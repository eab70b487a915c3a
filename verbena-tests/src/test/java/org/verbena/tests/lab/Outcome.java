// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

/**
 * How a command ended.
 *
 * @param late it was killed at its time limit
 */
record Outcome(int code, String output, boolean late) {
    /** For a person, of a command that failed. */
    String end() {
        return late ? "not over within its time limit" : "exit code " + code;
    }
}
