// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.shm.completion.CompletionCursor;

/** The receive side of queue pairs that have none. */
final class NoReceives extends UnpostedReceives {
    @Override
    boolean poll(CompletionCursor cq) {
        return false;
    }

    @Override
    long completions() {
        return 0;
    }

    @Override
    long completionsWaiting() {
        return 0;
    }

    @Override
    void connect(long peerDirectoryEntry) {}

    @Override
    void reset() {}
}
