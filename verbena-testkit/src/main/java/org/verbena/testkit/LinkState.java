// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.util.regex.Pattern;

/** Whether the kernel sends on an interface. */
public final class LinkState {
    private static final Pattern UP = Pattern.compile("^\\S+ +UP\\b", Pattern.MULTILINE);

    private LinkState() {}

    /**
     * Waits until the kernel has seen that somebody has opened a TAP interface of this thread's network namespace. It does so a little later, and drops
     * what it is to send before.
     */
    public static void awaitUp(String name) throws Exception {
        Await.until(name + " is up", () -> UP.matcher(Finished.run("ip", "-br", "link", "show", "dev", name).output())
                .find());
    }
}
