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
 */
record Run(Plan plan, Times times, long start, long end, long skipped, long malformed) {
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

    private @Nullable Observations valid(long first, long last, long from, long to) {
        int room = (int) Math.max(0, Math.min(last - first + 1, times.answered()));
        long[] sent = new long[room];
        long[] answered = new long[room];
        long[] planned = new long[room];
        int n = 0;
        long dropped = 0;
        long disordered = 0;
        long begin = 0;
        long firstIndex = 0;
        long lastIndex = 0;
        long latest = Long.MIN_VALUE;
        long ended = 0;
        for (long i = first; i <= last; i++) {
            long tx = times.sent(i);
            if (tx == 0 || tx - from < 0 || tx - to > 0) {
                continue;
            }
            if (firstIndex == 0) {
                firstIndex = i;
                begin = tx;
                ended = tx;
            }
            long rx = times.answered(i);
            if (rx == 0) {
                dropped++;
                ended = Math.max(ended, tx);
            } else if (rx < latest) {
                disordered++;
                continue;
            } else {
                latest = rx;
                ended = rx;
                sent[n] = tx;
                answered[n] = rx;
                planned[n++] = times.planned(i);
            }
            lastIndex = i;
        }
        if (firstIndex == 0) {
            return null;
        }
        long messages = (lastIndex - firstIndex) * times.every() + 1;
        return new Observations((ended - begin) / 1e9, messages, Arrays.copyOf(sent, n), Arrays.copyOf(answered, n),
                Arrays
                        .copyOf(
                                planned, n), dropped, disordered);
    }
}
