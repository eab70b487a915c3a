// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.ReadySet;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.Posted;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/**
 * A queue pair that one of ours sends datagrams to: finds it, and keeps the ring to it. The engine makes the session with its
 * context on demand; no thread blocks meanwhile. Used by one thread at a time.
 */
final class Destination {
    /** Results of {@link #prepare}. */
    static final int READY = 0;
    static final int WAIT = 1;
    static final int LOST = 2;

    /** The first datagrams wait this long for the session, and for room in a ring whose reader's position is not known yet. */
    private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(1000);
    /** A context that was unreachable is not tried again before this time. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    final long instance;
    final int number;
    private final Control control;
    private final Destinations all;
    private final long hazard;

    private @Nullable Session session;
    private @Nullable CompletableFuture<Session> pending;
    private long waitUntil;
    /** The ring was full before its reader's position was known. */
    private boolean full;
    /** Whether that position was known at the last search for room. */
    private boolean hadReaderPosition;
    private long pauseUntil = System.nanoTime();

    /** Address of the destination's directory entry. */
    private long entry;
    private long link;
    private @Nullable DatagramWriter writer;
    private long armWord;
    private long hint;
    private int channel;
    /** Address of the word with the number of receives posted, and the bits by which that is shifted. */
    private long posted;
    private int postedShift;
    /** Address of the position that is claimed next, if it is on a shared receive queue; else 0. */
    private long next;
    /** Its value when the ring was made, and records sent since: used until the reader's counter is known. */
    private long initialNext;
    private long sent;
    private boolean timestamps;
    private long lastNotified;

    Destination(Control control, Destinations all, long hazard, long instance, int number) {
        this.control = control;
        this.all = all;
        this.hazard = hazard;
        this.instance = instance;
        this.number = number;
    }

    /** True if it has no state to be kept. */
    boolean isIdle() {
        Session s = session;
        DatagramWriter w = writer;
        return pending == null && (s == null || s.isDead() || w == null || w.readerDone);
    }

    /** Prepares to send: {@link #READY}, {@link #WAIT} while the session is made, or {@link #LOST}. */
    int prepare() {
        Session s = session;
        if (s == null || s.isDead()) {
            return find();
        }
        long l = RawMemory.getLongAcquire(entry + AdapterLayout.QP_LINK);
        DatagramWriter w = writer;
        if (w != null && (l & Link.IDENTITY) == link) {
            if (!w.readerDone) {
                return READY;
            }
            close();
            return pause(); // it could not accept the ring; perhaps later
        }
        return open(s, l);
    }

    private int find() {
        close();
        session = null;
        CompletableFuture<Session> f = pending;
        long now = System.nanoTime();
        if (f == null) {
            if (now - pauseUntil < 0) {
                return LOST;
            }
            f = control.ask(instance);
            pending = f;
            waitUntil = now + TIMEOUT_NANOS;
        }
        if (!f.isDone()) {
            return now - waitUntil < 0 ? WAIT : pause();
        }
        pending = null;
        if (f.isCompletedExceptionally()) {
            return pause();
        }
        Session s = f.join();
        session = s;
        entry = s.mapping().base() + AdapterLayout.qpEntry(number);
        return s.isDead() ? pause() : prepare();
    }

    private int pause() {
        pending = null;
        pauseUntil = System.nanoTime() + PAUSE_NANOS;
        return LOST;
    }

    /** The destination is new, or has changed; each word of its entry is read once and checked. */
    private int open(Session s, long l) {
        close();
        if ((l & 1) == 0 || RawMemory.getInt(entry + AdapterLayout.QP_NUMBER) != number
                || RawMemory.getInt(entry + AdapterLayout.QP_TYPE) != QueuePairType.UD
                || System.nanoTime() - pauseUntil < 0) {
            return LOST;
        }
        int receives = RawMemory.getInt(entry + AdapterLayout.QP_RING_ENTRIES);
        int arm = RawMemory.getInt(entry + AdapterLayout.QP_ARM);
        int pool = RawMemory.getInt(entry + AdapterLayout.QP_POOL);
        if (receives < 0 || receives > ShmLimits.MAX_WR || arm < 0 || arm >= AdapterLayout.MAX_CQ || pool < 0
                || pool > CommonsLayout.MAX_POOLS) {
            return LOST;
        }
        try {
            channel = RawMemory.getInt(entry + AdapterLayout.QP_CHANNEL);
            if (channel != 0) {
                s.bells().reach("wake " + s.peerName(), channel);
            }
            // a queue pair on a shared queue does not get all of its receives
            writer = make(s, l & Link.IDENTITY, pool == 0
                    ? DatagramLayout.bytes(receives)
                    : Math.min(DatagramLayout.bytes(receives), DatagramLayout.SHARED_BYTES));
        } catch (VerbsException e) {
            EngineLog.logSometimes(System.Logger.Level.WARNING, "datagrams to " + s.peerName() + " are lost", e);
            return pause();
        }
        link = l & Link.IDENTITY;
        full = false;
        posted = pool == 0
                ? entry + AdapterLayout.QP_POSTED
                : s.mapping().base() + AdapterLayout.poolEntry(pool - 1) + AdapterLayout.POOL_POSTED;
        postedShift = pool == 0 ? Posted.COUNT_SHIFT : 0;
        next = pool == 0 ? 0 : s.mapping().commonsBase() + CommonsLayout.pool(pool - 1) + CommonsLayout.NEXT;
        initialNext = pool == 0 ? 0 : RawMemory.getLongAcquire(next);
        sent = 0;
        armWord = s.mapping().base() + AdapterLayout.armWord(arm);
        hint = s.mapping().hint(number);
        timestamps = (RawMemory.getInt(entry + AdapterLayout.QP_FLAGS) & AdapterLayout.FLAG_TIMESTAMPS) != 0;
        lastNotified = 0;
        return READY;
    }

    private DatagramWriter make(Session s, long meant, long bytes) throws VerbsException {
        DatagramRings rings = s.part(DatagramRings.class);
        try {
            return rings.make(number, meant, bytes, hazard);
        } catch (VerbsException e) {
            if (e.errno() != Errno.ENOMEM) {
                throw e;
            }
            all.sweep(); // rings to destinations that have gone are kept until the table grows
            rings.sweep(); // and those of other queue pairs too
            return rings.make(number, meant, bytes, hazard);
        }
    }

    /** Address of room for a record, 0 if the ring is full: see {@link #full}. Only when {@link #READY}. */
    long begin(long message) {
        DatagramWriter w = writer;
        if (w == null) {
            return 0;
        }
        hadReaderPosition = w.hasReaderPosition();
        return w.begin(message);
    }

    /**
     * Outcome of a datagram for which there is no room: it is {@link #LOST}. But a ring may seem full because the address of its
     * reader's position has not arrived yet: then the datagram has to {@link #WAIT}, as for the session.
     */
    int full() {
        if (writer == null || hadReaderPosition) {
            return LOST;
        }
        if (!full) {
            full = true;
            waitUntil = System.nanoTime() + TIMEOUT_NANOS;
        }
        return System.nanoTime() - waitUntil < 0 ? WAIT : LOST;
    }

    /**
     * The limit of a datagram that is sent now, see {@link DatagramLayout}; 0 if there is no receive. On a shared receive queue
     * it may get receives that are not claimed yet, unless datagrams before it in this ring get them.
     */
    long posted() {
        long n = next == 0 ? 0 : RawMemory.getLongAcquire(next);
        long p = RawMemory.getLongAcquire(posted) >>> postedShift;
        DatagramWriter w = writer;
        if (next == 0 || w == null) {
            return p;
        }
        if (p <= n) {
            return 0;
        }
        long taken = w.taken(Math.min(sent, n - initialNext)); // read after the position, which moves later: at worst the datagram may get one more
        return DatagramLayout.OF_RING | taken + p - n;
    }

    /** True if completions there are to carry time stamps. */
    boolean wantsTimestamps() {
        return timestamps;
    }

    /** Sends the record that was begun; true if the destination had to be woken. */
    boolean commit(long record, long message, boolean solicited) {
        DatagramWriter w = writer;
        Session s = session;
        if (w == null || s == null) {
            return false;
        }
        w.commit(record, message);
        sent++;
        // as in LaneProducer.notify: the word is read after the record is written
        VarHandle.fullFence();
        long word = RawMemory.getLongOpaque(armWord);
        if (ArmWord.isQuiet(word)) {
            return false;
        }
        if ((word & ArmWord.MANY) != 0) {
            ReadySet.raise(hint);
        }
        boolean wakes = ArmWord.isArmed(word, solicited) && word != lastNotified;
        if (wakes) {
            lastNotified = word;
            RawMemory.putLongVolatile(w.at + DatagramLayout.NOTIFIED, word);
            s.bells().ring(ArmWord.bell(word, channel));
        }
        return wakes;
    }

    /** Releases the ring. */
    void close() {
        DatagramWriter w = writer;
        if (w != null) {
            writer = null;
            link = 0;
            w.session.part(DatagramRings.class).end(w);
        }
    }
}
