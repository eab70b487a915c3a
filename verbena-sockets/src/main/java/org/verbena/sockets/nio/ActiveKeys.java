// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_WRITE;

import org.verbena.sockets.stream.ReadyQueue;
import org.verbena.sockets.stream.Stream;

/**
 * The keys of streams that have to be polled: those that were ready last time or changed. A key that is not ready is
 * armed and removed, since its peer signals it; so what a selection costs does not depend on how many keys are idle. Only
 * a few that carried bytes a moment ago stay unarmed: to poll them is cheaper for both ends than a signal.
 */
final class ActiveKeys {
    /** How many keys that are not ready are polled rather than armed. */
    static final int MAX_POLLED = 8;

    private final KeyList keys = new KeyList();
    private final ReadyQueue queue;
    private long polls;
    private boolean mustPoll;

    ActiveKeys(ReadyQueue queue) {
        this.queue = queue;
    }

    void add(SelectorKey key) {
        if (!key.active) {
            key.active = true;
            keys.add(key);
        }
    }

    /** Polls of keys so far. */
    long polls() {
        return polls;
    }

    /** Finds which are ready, and arms and removes others if they are many. */
    void poll(FoundKeys found) {
        poll(found, keys.size() > MAX_POLLED);
    }

    /**
     * Finds which are ready, and arms all others, since the thread is about to sleep.
     *
     * @return whether there are keys which must be polled soon, because the peer cannot signal them
     */
    boolean armAll(FoundKeys found) {
        mustPoll = false;
        poll(found, true);
        return mustPoll;
    }

    private void poll(FoundKeys found, boolean arm) {
        int size = keys.size();
        int kept = 0;
        for (int i = 0; i < size; i++) {
            SelectorKey k = keys.get(i);
            if (poll(k, found, arm)) {
                keys.set(kept++, k);
            } else {
                k.active = false;
            }
        }
        keys.truncate(kept);
    }

    /** Whether the key stays among those to poll. */
    private boolean poll(SelectorKey key, FoundKeys found, boolean arm) {
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
        if (!key.listening) {
            // Another selector's key is notified. Once TCP carries both directions to the end there is nothing to notify of.
            boolean isNotNotified = !s.staysWithTcp();
            mustPoll |= isNotNotified;
            return isNotNotified;
        }
        if (!arm && key.byRing) {
            return true;
        }
        ready = s.arm(ops, queue);
        if (ready != 0) {
            found.add(key, ready);
            return true;
        }
        // The peer rings the doorbell of what it reads by the ring on TCP, which still carries our own reads: then
        // the peer cannot signal to this end that there is room again.
        boolean roomIsNotSignalled = (ops & OP_WRITE) != 0 && s.isOutputByRing() && !s.isInputByRing();
        mustPoll |= roomIsNotSignalled;
        return roomIsNotSignalled;
    }
}
