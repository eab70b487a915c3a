// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * What a client has done.
 *
 * @param plan what it was to do
 * @param times of its messages
 * @param start when it began, of {@link System#nanoTime}
 * @param end when it had sent the last message
 * @param skipped messages that did not fit into the socket's buffer
 * @param malformed received ones that are none of sockperf's
 * @param links that the bursts went by in turn
 */
record Run(Plan plan, Times times, long start, long end, long skipped, long malformed, int links) {
    double seconds() {
        return (end - start) / 1e9;
    }

    /** Null if the run was too short. */
    @Nullable
    Observations valid() {
        long last = times.lastIndex();
        if (last == 0) {
            return null;
        }
        boolean whole = plan.playback() != null;
        long from = times.sent(1);
        long to = times.sent(last);
        long first = 1;
        if (!whole && plan.isTimed()) {
            from += Plan.WARM_UP_NANOS;
            to -= Plan.COOL_DOWN_NANOS;
        } else if (!whole) {
            first += Plan.WARM_UP_MESSAGES / times.every();
            last = Math.min(last, (plan.messages() - Plan.COOL_DOWN_MESSAGES) / times.every());
        }
        return valid(first, last, from, to);
    }

    /** By which of the links a message went. */
    private int link(long index) {
        return (int) ((index * times.every() - 1) / plan.burst() % links);
    }

    private boolean counts(long index, long from, long to) {
        long tx = times.sent(index);
        return tx != 0 && tx - from >= 0 && tx - to <= 0;
    }

    /** In order, of those of one link: not answered before one that was sent earlier. */
    private @Nullable Observations valid(long first, long last, long from, long to) {
        long[] latest = new long[links];
        Arrays.fill(latest, from);
        int room = 0;
        for (long i = first; i <= last; i++) {
            room += counts(i, from, to) && times.answered(i) != 0 ? 1 : 0;
        }
        Observations.Builder b = new Observations.Builder(room);
        long firstIndex = 0;
        long lastIndex = 0;
        long ended = 0;
        for (long i = first; i <= last; i++) {
            if (!counts(i, from, to)) {
                continue;
            }
            long tx = times.sent(i);
            firstIndex = firstIndex == 0 ? i : firstIndex;
            lastIndex = i;
            ended = firstIndex == i ? tx : ended;
            long rx = times.answered(i);
            if (rx == 0) {
                b.dropped();
                ended = Math.max(ended, tx);
            } else if (rx - latest[link(i)] < 0) {
                b.disordered();
            } else {
                latest[link(i)] = rx;
                ended = Math.max(ended, rx);
                b.add(tx, rx, times.planned(i));
            }
        }
        return firstIndex == 0
                ? null
                : b.build((ended - times.sent(firstIndex)) / 1e9, (lastIndex - firstIndex) * times.every() + 1);
    }
}
