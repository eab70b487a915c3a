// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/** Verbs that are to fail. */
final class Errors {
    private Errors() {}

    /** Expects an errno, and a message with these words. */
    static void expect(int errno, ThrowingCallable verb, String... words) {
        VerbsException e = catchThrowableOfType(VerbsException.class, verb);
        assertThat(e).as("expected " + Errno.name(errno)).isNotNull();
        assertThat(Errno.name(e.errno())).as(e.getMessage()).isEqualTo(Errno.name(errno));
        for (String word : words) {
            assertThat(e.getMessage()).contains(word);
        }
    }
}
