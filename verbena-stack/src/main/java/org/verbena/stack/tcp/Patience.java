// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;

import org.verbena.linux.Errno;
import org.verbena.stack.model.TcpState;

/** How often and how long a connection tries before it gives its peer up (RFC 9293, 3.8.3). */
final class Patience {
    /** As Linux has it ({@code tcp_retries2}): a quarter of an hour or so. */
    private static final int MOST_TRIES = 15;
    /** The same for those that nobody has any more ({@code tcp_orphan_retries}). */
    private static final int MOST_ORPHAN_TRIES = 8;

    private final Connection c;
    private int tries;
    private boolean waits;
    private long since;

    Patience(Connection c) {
        this.c = c;
    }

    /** The peer has taken something, or is there at least. */
    void restart() {
        tries = 0;
        waits = false;
    }

    /** Since the peer was heard last. */
    int tries() {
        return tries;
    }

    /** The time of the next try, or what the user's timeout leaves of it. */
    long next(long timeout, long roundTripTimeout, long now) {
        long most = c.settings.userTimeout();
        return most == 0 || !waits
                ? timeout
                : Math.clamp(since + most - roundTripTimeout - now, RoundTrip.LEAST_TIMEOUT / 2, timeout);
    }

    /** Counts a try more; true, and the connection is gone, if there were enough, or if it has taken too long. */
    boolean isOver(long roundTripTimeout, long now) throws IOException {
        boolean opens = c.state == TcpState.SYN_SENT || c.state == TcpState.SYN_RECEIVED;
        int most = opens ? Handshake.MOST_RETRIES : c.released ? MOST_ORPHAN_TRIES : MOST_TRIES;
        if (!waits) {
            waits = true;
            since = now;
        }
        long timeout = c.settings.userTimeout();
        boolean late = timeout > 0 && now - since + roundTripTimeout >= timeout;
        if (tries++ < most && !late || timeout > 0 && !late) {
            return false;
        }
        boolean unknown = c.state == TcpState.SYN_RECEIVED && !c.active; // nobody has it yet
        c.end(c.softError() != 0 ? c.softError() : unknown ? 0 : Errno.ETIMEDOUT, now);
        return true;
    }
}
