// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.nio.channels.spi.SelectorProvider;

/** Verbena's sockets for programs that ask for them. */
public final class VerbenaSockets {
    private VerbenaSockets() {}

    /**
     * The provider of Verbena's channels and of selectors for them: that of the process if the process runs with the agent,
     * else one beside it.
     *
     * @throws UnsupportedOperationException if the JDK's channels are not exported to this module; the message names
     *         the missing option
     */
    public static SelectorProvider selectorProvider() {
        JdkAccess.check();
        return VerbenaSelectorProvider.instance();
    }
}
