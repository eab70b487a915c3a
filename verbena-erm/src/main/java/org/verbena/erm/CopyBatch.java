// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.jspecify.annotations.Nullable;

/** The copies of an open batch: their arguments and, once checked, their regions. For one thread. */
final class CopyBatch {
    static final int MAX_COPIES = 32;

    final int[] from = new int[MAX_COPIES];
    final int[] to = new int[MAX_COPIES];
    final int[] flags = new int[MAX_COPIES];
    final long[] fromOffset = new long[MAX_COPIES];
    final long[] toOffset = new long[MAX_COPIES];
    final long[] length = new long[MAX_COPIES];
    final long[] userContext = new long[MAX_COPIES];
    final long[] userData = new long[MAX_COPIES];
    final @Nullable LocalRegion[] local = new LocalRegion[MAX_COPIES];
    final @Nullable RemoteRegion[] remote = new RemoteRegion[MAX_COPIES];
    int count;

    /** Copies beyond {@link #MAX_COPIES} are only counted. */
    void add(int fromId, long fromAt, int toId, long toAt, long bytes, int how, long context, long data) {
        int i = count++;
        if (i < MAX_COPIES) {
            from[i] = fromId;
            to[i] = toId;
            flags[i] = how;
            fromOffset[i] = fromAt;
            toOffset[i] = toAt;
            length[i] = bytes;
            userContext[i] = context;
            userData[i] = data;
        }
    }

    void clear() {
        for (int i = Math.min(count, MAX_COPIES); i-- > 0;) {
            local[i] = null;
            remote[i] = null;
        }
        count = 0;
    }
}
