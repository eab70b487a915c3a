// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

/**
 * A key that was pressed.
 *
 * @param name which
 * @param text for {@link Name#TEXT} the typed text, else empty
 */
record StatKey(Name name, String text) {
    /** Keys that {@code verbena stat} knows. */
    enum Name {
        UP, DOWN, LEFT, RIGHT, PAGE_UP, PAGE_DOWN, HOME, END, ENTER, ESCAPE, BACKSPACE, INTERRUPT, TEXT, OTHER
    }

    static StatKey of(Name name) {
        return new StatKey(name, "");
    }

    static StatKey text(String text) {
        return new StatKey(Name.TEXT, text);
    }
}
