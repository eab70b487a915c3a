// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.System.Logger.Level;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Arrays;

import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.CountsLayout;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.Peer;
import org.verbena.shm.layout.SharedFile;
import org.verbena.verbs.spi.KeepAlive;

/**
 * The counts of the two ends of a session for each other, see {@link CountsLayout}: our accesses to memory of the peer,
 * and those that the peer publishes of its accesses to ours. Thread-safe.
 */
public final class SessionCounts {
    private static final int ATTEMPTS = 100;

    private final Peer peer;
    private final SharedFile arena;
    private final long base;
    private final long peerBase;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int used;
    private boolean logged;
    /** The session is over: the peer reads no more, and the arena's descriptor may soon be another file's. */
    private boolean ended;
    /** A change of the peer's tables did not end in time. */
    private volatile boolean inconsistent;

    public SessionCounts(Peer peer) {
        this.peer = peer;
        this.arena = peer.mapping().arena();
        this.base = arena.address();
        this.peerBase = peer.mapping().arenaBase();
    }

    // ---- ours

    /** Takes a slot for a queue pair of ours; returns its address, or 0 if there is none. */
    synchronized long take(int queuePair, int peerQueuePair) {
        if (ended) {
            return 0;
        }
        Integer again = free.poll();
        int i = again == null ? used : again;
        if (i >= CountsLayout.MAX_SLOTS) {
            logOnce(new IllegalStateException("all slots are used"));
            return 0;
        }
        long at = CountsLayout.slot(i);
        try {
            arena.reserve(at, 1L << CountsLayout.SLOT_SHIFT);
        } catch (LinuxException | IllegalStateException e) {
            logOnce(e);
            return 0;
        }
        long slot = base + at;
        RawMemory.fill(slot, 1L << CountsLayout.SLOT_SHIFT, (byte) 0);
        RawMemory.putInt(slot + CountsLayout.SLOT_PEER_QP, peerQueuePair);
        RawMemory.putIntRelease(slot + CountsLayout.SLOT_QP, queuePair);
        if (again == null) {
            used = i + 1;
            RawMemory.putLongRelease(base + CountsLayout.USED, used);
        }
        return slot;
    }

    /** A slot's latest key is another one from now on. */
    synchronized void changeKey(long slot, int key) {
        if (ended) {
            return;
        }
        change();
        settleKey(slot);
        RawMemory.putIntRelease(slot + CountsLayout.SLOT_KEY, key);
        change();
    }

    /** A slot is not used any more. */
    synchronized void give(long slot) {
        if (ended) {
            return;
        }
        change();
        settleKey(slot);
        int peerQueuePair = RawMemory.getInt(slot + CountsLayout.SLOT_PEER_QP);
        long e = peerQueuePair == 0
                ? 0
                : entry(CountsLayout.queuePair(peerQueuePair), peerQueuePair, isQueuePair(peerQueuePair));
        for (int i = 0; e != 0 && i < CountsLayout.NUMBERS; i++) {
            long at = CountsLayout.number(i);
            RawMemory.putLong(e + at, RawMemory.getLong(e + at) + RawMemory.getLong(slot + at));
        }
        RawMemory.putIntRelease(slot + CountsLayout.SLOT_QP, 0);
        change();
        free.add((int) (slot - base - CountsLayout.SLOTS >>> CountsLayout.SLOT_SHIFT));
    }

    /** The peer has refused a request of ours because of its key, rights or bounds. */
    synchronized void refused(int key) {
        if (ended) {
            return;
        }
        change();
        long e = entry(CountsLayout.key(key), key, isKey(key));
        if (e != 0) {
            RawMemory.putLong(e + CountsLayout.OTHERS, RawMemory.getLong(e + CountsLayout.OTHERS) + 1);
        }
        change();
    }

    private void settleKey(long slot) {
        int key = RawMemory.getInt(slot + CountsLayout.SLOT_KEY);
        if (key == 0) {
            return;
        }
        long e = entry(CountsLayout.key(key), key, isKey(key));
        for (int i = 0; i < CountsLayout.NUMBERS - 1; i++) {
            long at = CountsLayout.number(i);
            long now = RawMemory.getLong(slot + at);
            if (e != 0) {
                RawMemory.putLong(e + at, RawMemory.getLong(e + at) + now - RawMemory.getLong(slot + CountsLayout.DONE
                        + at));
            }
            RawMemory.putLong(slot + CountsLayout.DONE + at, now);
        }
    }

    /** True if the peer has a region, or window, of that key now. */
    private boolean isKey(int key) {
        long w = RawMemory.getLongAcquire(peer.mapping().base() + AdapterLayout.keyEntry(key));
        return key >>> 8 < AdapterLayout.MAX_KEYS && KeyTable.isValid(w) && KeyTable.fits(w, key);
    }

    /** True if the peer has a queue pair of that number now. */
    private boolean isQueuePair(int number) {
        return RawMemory.getIntAcquire(peer.mapping().base() + AdapterLayout.qpEntry(number)
                + AdapterLayout.QP_NUMBER) == number;
    }

    /**
     * The entry of one of the tables, with its page.
     *
     * @param there whether there is such an object; only then does it take the place of another one
     * @return 0 if it has none, or there is no memory for it
     */
    private long entry(long at, int what, boolean there) {
        int page = CountsLayout.page(at);
        long word = base + CountsLayout.PAGES + 8L * (page >>> 6);
        if ((RawMemory.getLong(word) & 1L << page) == 0) {
            try {
                arena.reserve(at, 1L << CountsLayout.ENTRY_SHIFT);
            } catch (LinuxException | IllegalStateException e) {
                logOnce(e);
                return 0;
            }
            RawMemory.putLongRelease(word, RawMemory.getLong(word) | 1L << page);
        }
        long e = base + at;
        long tag = CountsLayout.tag(what);
        if (RawMemory.getLong(e + CountsLayout.ENTRY_TAG) != tag) {
            if (!there) {
                return 0; // a late or wrong request
            }
            RawMemory.fill(e, 1L << CountsLayout.ENTRY_SHIFT, (byte) 0);
            RawMemory.putLong(e + CountsLayout.ENTRY_TAG, tag);
        }
        return e;
    }

    private void change() {
        RawMemory.putLongVolatile(base + CountsLayout.CHANGES, RawMemory.getLong(base + CountsLayout.CHANGES) + 1);
    }

    private void logOnce(Exception why) {
        if (!logged) {
            logged = true;
            EngineLog.log(Level.WARNING, "some of what is done to memory of " + peer.name()
                    + " is not counted there", why);
        }
    }

    /** The session is over. */
    public synchronized void end() {
        ended = true;
    }

    // ---- the peer's

    /** Adds the accesses of the peer through its queue pairs that are connected to one of ours. */
    public void addOfQueuePair(int number, long[] sums) {
        collect(sums, CountsLayout.queuePair(number), CountsLayout.tag(number), number, 0);
    }

    /** Adds the accesses of the peer to a region of ours. */
    public void addOfKey(int key, long[] sums) {
        collect(sums, CountsLayout.key(key), CountsLayout.tag(key), 0, key);
    }

    private void collect(long[] sums, long entry, long tag, int queuePair, int key) {
        long[] found = new long[CountsLayout.NUMBERS];
        int attempts = inconsistent || peer.isDead() ? 1 : ATTEMPTS;
        boolean steady = false;
        for (int n = 0; n < attempts && !steady; n++) {
            long before = RawMemory.getLongVolatile(peerBase + CountsLayout.CHANGES);
            Arrays.fill(found, 0);
            addEntry(found, entry, tag);
            addSlots(found, queuePair, key);
            VarHandle.acquireFence();
            steady = (before & 1) == 0 && RawMemory.getLongVolatile(peerBase + CountsLayout.CHANGES) == before;
            if (!steady) {
                Thread.onSpinWait();
            }
        }
        // killed in the middle of a change, or hostile: no second wait
        inconsistent |= !steady;
        for (int i = 0; i < sums.length; i++) {
            sums[i] += found[i];
        }
        KeepAlive.until(peer);
    }

    private void addEntry(long[] sums, long at, long tag) {
        int page = CountsLayout.page(at);
        long pages = RawMemory.getLongAcquire(peerBase + CountsLayout.PAGES + 8L * (page >>> 6));
        if ((pages & 1L << page) != 0 && RawMemory.getLongAcquire(peerBase + at + CountsLayout.ENTRY_TAG) == tag) {
            for (int i = 0; i < CountsLayout.NUMBERS; i++) {
                sums[i] += RawMemory.getLongOpaque(peerBase + at + CountsLayout.number(i));
            }
        }
    }

    private void addSlots(long[] sums, int queuePair, int key) {
        long n = Math.clamp(RawMemory.getLongAcquire(peerBase + CountsLayout.USED), 0, CountsLayout.MAX_SLOTS);
        for (int s = 0; s < n; s++) {
            long slot = peerBase + CountsLayout.slot(s);
            if (RawMemory.getIntAcquire(slot + CountsLayout.SLOT_QP) == 0) {
                continue;
            }
            if (queuePair != 0 && RawMemory.getInt(slot + CountsLayout.SLOT_PEER_QP) == queuePair) {
                for (int i = 0; i < CountsLayout.NUMBERS; i++) {
                    sums[i] += RawMemory.getLongOpaque(slot + CountsLayout.number(i));
                }
            } else if (key != 0 && RawMemory.getInt(slot + CountsLayout.SLOT_KEY) == key) {
                for (int i = 0; i < CountsLayout.NUMBERS - 1; i++) {
                    long at = slot + CountsLayout.number(i);
                    sums[i] += RawMemory.getLongOpaque(at) - RawMemory.getLongOpaque(at + CountsLayout.DONE);
                }
            }
        }
    }
}
