// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import org.verbena.linux.ServiceThread;
import org.verbena.verbs.Context;
import org.verbena.verbs.spi.Departure;

/**
 * What is due when this process ends with connections open. The kernel ends them in order, but for those whose TCP
 * socket has something unread, which it resets: and that may be a doorbell, which the program never sees. And the
 * other processes are informed that the end of the sessions is no failure.
 */
final class ExitHook {
    /** Open contexts that implement {@link Departure}. */
    private static final List<Context> DEPARTING = new CopyOnWriteArrayList<>();

    /** How long informing other hosts may take; it is one packet to each, and its acknowledgement. */
    private static final long DEPART_MILLIS = 1_000;

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(ExitHook::run, "verbena-exit"));
        } catch (IllegalStateException endsAlready) {
            // what is left from now on is not taken
        }
    }

    private ExitHook() {}

    /** Idempotent. */
    static void install() {}

    /**
     * Has the peers of a context informed when this process ends in order. Those that were closed meanwhile are
     * forgotten.
     */
    static void announce(Context context) {
        DEPARTING.removeIf(Context::isClosed);
        if (context instanceof Departure) {
            DEPARTING.add(context);
        }
    }

    /** How many contexts are kept. */
    static int announced() {
        return DEPARTING.size();
    }

    private static void run() {
        for (Context context : DEPARTING) {
            if (context instanceof Departure one) {
                one.announce();
            }
        }
        Set<Session> remote = new HashSet<>();
        for (Stream stream : StreamCounters.open()) {
            if (stream instanceof RingStream rings) {
                rings.in().exit();
                Link link = rings.link();
                if (link != null && link.session.remoteDevice() != null) {
                    remote.add(link.session);
                }
            }
        }
        if (!remote.isEmpty()) {
            depart(remote);
        }
    }

    /**
     * Tells peers on other hosts, on a thread of its own: one that takes nothing must not hold up the end of this
     * process.
     */
    private static void depart(Set<Session> sessions) {
        try {
            Thread departing = ServiceThread.start("verbena-depart", () -> sessions.forEach(
                    Session::depart));
            departing.join(DEPART_MILLIS);
        } catch (InterruptedException | OutOfMemoryError e) { // no thread, as the JVM reports it
            // those peers take the end for that of a host
        }
    }
}
