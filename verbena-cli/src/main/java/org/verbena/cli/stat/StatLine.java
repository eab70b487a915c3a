// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

/** A line of the screen. Immutable. */
record StatLine(String text, Style style) {
    /** Its style. */
    enum Style {
        PLAIN, TITLE, HEADER, SELECTED, FAINT, ALERT
    }

    static StatLine plain(String text) {
        return new StatLine(text, Style.PLAIN);
    }
}
