// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/** Text that is not a script: where, and what was expected there. */
public final class ParseException extends Exception {
    private static final long serialVersionUID = 1;

    public ParseException(String file, int line, String expected, String found) {
        super(file + ":" + line + ": expected " + expected + ", found " + found);
    }
}
