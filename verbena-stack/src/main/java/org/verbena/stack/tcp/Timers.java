// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;

import org.verbena.linux.Errno;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** When something of a connection is due. The wheel has the earliest; a time that moves away is found out when the old one comes. */
final class Timers {
    static final long NEVER = TimerWheel.NEVER;

    /** A closed connection waits so long for the peer's FIN, as Linux has it ({@code tcp_fin_timeout}). */
    private static final long FIN_WAIT = 60_000_000_000L;
    /** Memory of a connection through which nothing goes is given back after this. */
    private static final long REST = 1_000_000_000L;

    private final Connection c;
    private long retransmission = NEVER;
    private long acknowledgment = NEVER;
    private long keepAlive = NEVER;
    private long finWait = NEVER;
    private long rest = NEVER;
    private int questions;
    /** What the wheel has. */
    private long set = NEVER;

    Timers(Connection c) {
        this.c = c;
    }

    private long add(long time) {
        // The number of one that is over may be another's.
        if (time < set && c.state != TcpState.CLOSED && c.state != TcpState.TIME_WAIT) {
            set = time;
            c.ports.wheel.set(c.number, time);
        }
        return time;
    }

    /** For {@link Recovery#due}. */
    void retransmission(long time) {
        retransmission = add(time);
    }

    long retransmission() {
        return retransmission;
    }

    void acknowledgment(long time) {
        acknowledgment = time == NEVER ? NEVER : acknowledgment == NEVER ? add(time) : acknowledgment;
    }

    /** The peer was heard. */
    void heard(long now) {
        c.heardAt = now;
        questions = 0;
        if (c.settings.keepAlive() && keepAlive == NEVER) {
            keepAlive = add(now + c.settings.keepAliveIdle());
        }
    }

    /** The connection is closed, and waits for the peer. */
    void orphaned(long now) {
        if (c.state == TcpState.FIN_WAIT_2 && finWait == NEVER) {
            finWait = add(now + FIN_WAIT);
        }
    }

    void restIfEmpty(long now) {
        if (rest == NEVER && c.receiver.isEmpty() && c.sender.isEmpty()
                && c.receiver.ring.capacity() + c.sender.ring.capacity() > 0) {
            rest = add(now + REST);
        }
    }

    /** Does what is due. */
    void due(long now) throws IOException {
        set = NEVER;
        if (isDue(acknowledgment, now)) {
            acknowledgment = NEVER;
            c.ackNow = true;
            c.ports.output.flush(c, now);
        }
        if (isDue(retransmission, now)) {
            retransmission = NEVER;
            c.recovery.due(now);
        }
        if (isDue(keepAlive, now)) {
            keepAlive = NEVER;
            ask(now);
        }
        if (isDue(finWait, now)) {
            finWait = NEVER;
            if (c.state == TcpState.FIN_WAIT_2) {
                c.end(Errno.ETIMEDOUT, now);
            }
        }
        if (isDue(rest, now)) {
            rest = NEVER;
            if (c.receiver.isEmpty()) {
                c.receiver.shrink();
            }
            if (c.sender.isEmpty()) {
                c.sender.ring.clear();
            }
        }
        set = NEVER;
        add(Math.min(Math.min(Math.min(retransmission, acknowledgment), Math.min(keepAlive, finWait)), rest));
    }

    private static boolean isDue(long time, long now) {
        return time != NEVER && now - time >= 0;
    }

    /** Asks a peer that is silent whether it is there (RFC 9293, 3.8.4). */
    private void ask(long now) throws IOException {
        if (!c.state.isSynchronized()) {
            return;
        }
        long quiet = now - c.heardAt;
        TcpSettings s = c.settings;
        if (quiet < s.keepAliveIdle()) {
            keepAlive = add(c.heardAt + s.keepAliveIdle());
        } else if (questions >= s.keepAliveProbes()) {
            c.ports.output.reset(c, now);
            c.end(Errno.ETIMEDOUT, now);
        } else {
            if (c.sender.outstanding() == 0) { // else segments that are sent again ask
                questions++;
                c.ports.output.probe(c, now);
            }
            keepAlive = add(now + s.keepAliveInterval());
        }
    }
}
