// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

/**
 * The rule that has decided a socket. Immutable.
 *
 * @param text as it was written, perhaps truncated
 * @param source a file, a property or a method; empty if the process does not say
 * @param line in it
 * @param explanation why this rule; empty if that is not known
 */
record WhyRule(String text, String source, long line, String explanation) {
    @Override
    public String toString() {
        return (source.isEmpty() ? "line " + line : source + ":" + line) + ": " + text;
    }
}
