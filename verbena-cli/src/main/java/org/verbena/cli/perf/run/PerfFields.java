// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.util.HashMap;
import java.util.Map;

import org.verbena.cli.support.CommandException;

/** A line of the control connection: {@code key=value} pairs between blanks. Each value is checked when it is read. */
public final class PerfFields {
    private final Map<String, String> values = new HashMap<>();

    public PerfFields(String line) {
        for (String pair : line.split(" ", -1)) {
            int at = pair.indexOf('=');
            if (at > 0) {
                values.put(pair.substring(0, at), pair.substring(at + 1));
            }
        }
    }

    public String text(String key) throws CommandException {
        String value = values.get(key);
        if (value == null) {
            throw new CommandException("the peer did not say '" + key + "': it is not a verbena perf of this version");
        }
        return value;
    }

    /** Whether the peer said anything of it. */
    public boolean has(String key) {
        return values.containsKey(key);
    }

    public long number(String key, long min, long max) throws CommandException {
        String value = text(key);
        try {
            long n = Long.parseLong(value);
            if (n >= min && n <= max) {
                return n;
            }
        } catch (NumberFormatException e) {
            // falls through
        }
        throw new CommandException("the peer said " + key + "=" + value + ", which must be " + min + " to " + max);
    }

    boolean flag(String key) throws CommandException {
        return number(key, 0, 1) == 1;
    }
}
