// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.netcat;

import java.util.function.Function;

import org.verbena.cli.support.HumanText;

/**
 * The port that is given, or of a check several.
 *
 * @param first 1 to 65535
 * @param last the same, or a later one
 */
record NetcatPorts(int first, int last) {
    private static final int MOST = 65_535;

    /**
     * Parses {@code 80}, or {@code 20-25}.
     *
     * @param wrong makes what is thrown for anything else, of a sentence
     */
    static NetcatPorts parse(String text, Function<String, ? extends RuntimeException> wrong) {
        int dash = text.indexOf('-');
        int first = port(dash < 0 ? text : text.substring(0, dash));
        int last = dash < 0 ? first : port(text.substring(dash + 1));
        if (first == 0 || last < first) {
            throw wrong.apply("'" + HumanText.printable(text)
                    + "' is not a port from 1 to 65535, nor two as 20-25");
        }
        return new NetcatPorts(first, last);
    }

    private static int port(String text) {
        int n = text.matches("0*[0-9]{1,5}") ? Integer.parseInt(text) : 0;
        return n > MOST ? 0 : n;
    }

    boolean isOne() {
        return first == last;
    }

    @Override
    public String toString() {
        return isOne() ? Integer.toString(first) : first + "-" + last;
    }
}
