// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_WRITE;

import org.verbena.sockets.stream.ReadyQueue;
import org.verbena.sockets.stream.Stream;

/**
 * The keys of streams that have to be looked at: those that were ready last time or changed. A key that is not ready is
 * armed and forgotten, its peer will tell; so what a selection costs does not depend on how many keys are idle. Only a
 * few that carried bytes a moment ago stay unarmed: to look at them is cheaper for both ends than a notice.
 */
final class ActiveKeys {
    /** How many keys that are not ready are looked at rather than armed. */
    static final int WATCHED = 8;

    private final KeyList keys = new KeyList();
    private final ReadyQueue queue;
    private long polls;
    private boolean restless;

    ActiveKeys(ReadyQueue queue) {
        this.queue = queue;
    }

    void add(SelectorKey key) {
        if (!key.active) {
            key.active = true;
            keys.add(key);
        }
    }

    /** How often keys were looked at, all together. */
    long polls() {
        return polls;
    }

    /** Finds which are ready, and arms and forgets others if they are many. */
    void look(FoundKeys found) {
        look(found, keys.size() > WATCHED);
    }

    /**
     * Finds which are ready, and arms all others, since the thread is about to sleep.
     *
     * @return whether there are keys which must be polled soon, because the peer cannot signal them
     */
    boolean armAll(FoundKeys found) {
        restless = false;
        look(found, true);
        return restless;
    }

    private void look(FoundKeys found, boolean arm) {
        int size = keys.size();
        int kept = 0;
        for (int i = 0; i < size; i++) {
            SelectorKey k = keys.get(i);
            if (look(k, found, arm)) {
                keys.set(kept++, k);
            } else {
                k.active = false;
            }
        }
        keys.truncate(kept);
    }

    /** Whether the key stays among those to look at. */
    private boolean look(SelectorKey key, FoundKeys found, boolean arm) {
        Stream s = key.stream;
        int ops = key.interest() & SelectorKey.BYTES;
        if (s == null || ops == 0 || !key.isValid()) {
            return false;
        }
        polls++;
        int ready = s.readyOps(ops);
        if (ready != 0) {
            found.add(key, ready);
            return true;
        }
        if (!key.heard) {
            // Another selector's key gets the notices. Once TCP carries both directions to the end there are none.
            boolean untold = s.fallbackReason().isEmpty();
            restless |= untold;
            return untold;
        }
        if (!arm && key.byRing) {
            return true;
        }
        ready = s.arm(ops, queue);
        if (ready != 0) {
            found.add(key, ready);
            return true;
        }
        // The peer rings the doorbell of what it reads by the ring on TCP, which still carries our own reads: then the
        // peer
        // cannot signal to this end that there is room again.
        boolean roomUntold = (ops & OP_WRITE) != 0 && s.isOutputByRing() && !s.isInputByRing();
        restless |= roomUntold;
        return roomUntold;
    }
}
