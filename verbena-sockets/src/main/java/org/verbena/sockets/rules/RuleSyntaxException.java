// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

/** A text that is no rules: where, and what there may be. */
public final class RuleSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final int line;
    private final int column;

    RuleSyntaxException(String source, int line, int column, String what) {
        super(source + ", line " + line + ", column " + column + ": " + what);
        this.line = line;
        this.column = column;
    }

    /** From 1. */
    public int line() {
        return line;
    }

    /** Of the first character that is wrong, from 1. */
    public int column() {
        return column;
    }
}
