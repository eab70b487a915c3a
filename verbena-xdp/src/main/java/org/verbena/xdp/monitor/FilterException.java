// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

/** A filter that is not understood; the message names the column and what is expected there. */
public final class FilterException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int column;

    FilterException(int column, String message) {
        super("column " + column + " of the filter: " + message);
        this.column = column;
    }

    /** Where, from 1. */
    public int column() {
        return column;
    }
}
