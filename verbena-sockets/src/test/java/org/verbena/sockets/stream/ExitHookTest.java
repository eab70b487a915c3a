// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** What waits for the end of the process. */
class ExitHookTest {
    private static final int MANY = 20;

    /** A process may open and close contexts for days. */
    @Test
    void closedContextsAreForgotten() throws Exception {
        int before = ExitHook.announced();
        for (int i = 0; i < MANY; i++) {
            try (Context context = Verbs.open("shm0")) {
                ExitHook.announce(context);
            }
        }
        assertThat(ExitHook.announced()).isLessThanOrEqualTo(before + 1);
        try (Context first = Verbs.open("shm0"); Context second = Verbs.open("shm0")) {
            ExitHook.announce(first);
            ExitHook.announce(second);
            assertThat(ExitHook.announced()).isLessThanOrEqualTo(before + 2).isGreaterThanOrEqualTo(2);
        }
    }
}
