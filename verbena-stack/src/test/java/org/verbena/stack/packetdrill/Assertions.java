// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The one kind of Python that is understood: that a field of TCP_INFO has a value. */
final class Assertions {
    private static final Pattern ASSERT = Pattern.compile("assert (tcpi_\\w+) == \\(?([\\w |]+?)\\)?");

    private Assertions() {}

    static void check(String code, int socket, Target target) throws Failure {
        Matcher m = ASSERT.matcher(code);
        if (!m.matches()) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "Python " + code.lines().findFirst().orElse(""));
        }
        long expected = 0;
        for (String word : m.group(2).split(" *\\| *", -1)) {
            expected |= word.matches("\\d{1,9}") ? Long.parseLong(word) : Constants.named(word);
        }
        OptionalLong found = target.info(socket, m.group(1));
        if (found.isEmpty()) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "needs TCP_INFO's " + m.group(1));
        }
        if (found.getAsLong() != expected) {
            throw new Failure(Failure.Kind.ASSERTION, m.group(1) + ": " + m.group(2).strip() + " (" + expected
                    + ") expected, it is " + found.getAsLong());
        }
    }
}
