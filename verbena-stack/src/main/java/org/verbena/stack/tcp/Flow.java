// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import org.verbena.stack.ip.Path;

/** What segments between two ports go to. */
sealed interface Flow permits Connection, TimeWait {
    /** Whether segments along a path, from a port of the peer to one of this host, go to this. */
    boolean is(Path p, int from, int to);
}
