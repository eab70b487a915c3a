// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.jspecify.annotations.Nullable;

/** The copies of a batch that is open: what was said of each, and, once it was checked, its regions. For one thread. */
final class CopyBatch {
    static final int MOST = 32;

    final int[] from = new int[MOST];
    final int[] to = new int[MOST];
    final int[] flags = new int[MOST];
    final long[] fromOffset = new long[MOST];
    final long[] toOffset = new long[MOST];
    final long[] length = new long[MOST];
    final long[] userContext = new long[MOST];
    final long[] userData = new long[MOST];
    final @Nullable LocalRegion[] local = new LocalRegion[MOST];
    final @Nullable RemoteRegion[] remote = new RemoteRegion[MOST];
    int count;

    /** What is beyond {@link #MOST} only counts. */
    void add(int fromId, long fromAt, int toId, long toAt, long bytes, int how, long context, long data) {
        int i = count++;
        if (i < MOST) {
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
        for (int i = Math.min(count, MOST); i-- > 0;) {
            local[i] = null;
            remote[i] = null;
        }
        count = 0;
    }
}
