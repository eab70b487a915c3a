// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;

import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Session;
import org.verbena.shm.counts.ReceiveCounts;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.verbs.Gid;
import org.verbena.verbs.spi.KeepAlive;

/**
 * The receive side of a queue pair of type UD: takes datagrams from the rings of all its senders, in turn, and copies
 * them into receives. A datagram gets only receives that were posted when it was sent, as if its sender had written
 * it there; one that finds none, or has a wrong Q_Key, is lost. While the poller is inside, a word is not 0, like the word of a
 * peer inside its {@link Hazard}.
 */
public final class DatagramReceiver {
    private static final VarHandle INSIDE;

    static {
        try {
            INSIDE = MethodHandles.lookup().findVarHandle(DatagramReceiver.class, "inside", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int ALLOWED_FLAGS = LaneLayout.HAS_IMMEDIATE | LaneLayout.IS_SOLICITED
            | LaneLayout.HAS_TIMESTAMP;

    /** The limit of rings, which regular senders do not reach. */
    private static final int MAX_RINGS = 8192;

    private final DatagramQueuePair qp;
    private final ReceiveCounts counts;
    private volatile DatagramReader[] rings = {};
    private int next;
    /** Not 0 while the poller is inside, and a different number each time. */
    @SuppressWarnings("unused") // INSIDE
    private long inside;
    private long sequence;
    /** The link that senders have to address; 0: none. Guarded by this. */
    private long link;
    /** Groups that the queue pair is attached to, upper and lower half in turn; replaced as a whole. */
    private volatile long[] groups = {};

    public DatagramReceiver(DatagramQueuePair qp, ReceiveCounts counts) {
        this.qp = qp;
        this.counts = counts;
    }

    // ---- rings

    /** From now on the rings of senders that address this link are read. */
    public synchronized void open(long identity) {
        link = identity;
    }

    /** Drops all rings, with their datagrams. When it returns, no poller uses a ring. */
    public void close() {
        DatagramReader[] old;
        synchronized (this) {
            link = 0;
            old = rings;
            rings = new DatagramReader[0];
        }
        Membarrier.ownProcess();
        long h = inside();
        while (h != 0 && inside() == h) {
            Thread.onSpinWait();
        }
        for (DatagramReader r : old) {
            r.session.part(DatagramRings.class).leave(r);
        }
    }

    /** A ring was made; false if it is for another connection. Engine's thread. */
    boolean add(DatagramReader r, long meant) {
        synchronized (this) {
            if (link == 0 || rings.length >= MAX_RINGS || (meant & Link.IDENTITY) != (link & Link.IDENTITY)) {
                return false;
            }
            DatagramReader[] more = Arrays.copyOf(rings, rings.length + 1);
            more[rings.length] = r;
            rings = more;
        }
        qp.ringAdded(r.hasFirst());
        return true;
    }

    private void remove(DatagramReader r) {
        synchronized (this) {
            rings = Arrays.stream(rings).filter(o -> o != r).toArray(DatagramReader[]::new);
        }
        r.session.part(DatagramRings.class).leave(r);
    }

    /** The sessions with the senders. */
    public List<Session> sessions() {
        return Arrays.stream(rings).map(r -> r.session).distinct().toList();
    }

    /** True if a sender has signalled this arm word. */
    public boolean isNotified(long armWord) {
        for (DatagramReader r : rings) {
            if (ArmWord.isSame(r.notified(), armWord)) {
                return true;
            }
        }
        return false;
    }

    /** Number of datagrams that wait, at most {@code most}, including those that will be lost; any thread. */
    public int waiting(int most) {
        int count = 0;
        for (DatagramReader r : rings) {
            count += r.waiting(most - count);
            KeepAlive.until(r);
        }
        return count;
    }

    // ---- groups

    /** The groups that the queue pair is attached to, upper and lower half in turn. */
    public void attachedTo(List<Gid> gids) {
        groups = gids.stream().flatMapToLong(g -> java.util.stream.LongStream.of(g.high(), g.low())).toArray();
    }

    private boolean isAttached(long high, long low) {
        long[] g = groups;
        for (int i = 0; i < g.length; i += 2) {
            if (g[i] == high && g[i + 1] == low) {
                return true;
            }
        }
        return false;
    }

    // ---- the data path

    /** Not 0 while the poller is inside, and a different number each time. */
    public long inside() {
        return (long) INSIDE.getAcquire(this);
    }

    /** Completes a receive with the next datagram; false if there is none. */
    public boolean poll(DatagramSink receives) {
        INSIDE.setOpaque(this, ++sequence);
        VarHandle.releaseFence(); // no instruction on x86: rings and state are read after the store
        try {
            return pollRings(receives);
        } finally {
            INSIDE.setRelease(this, 0L);
        }
    }

    private boolean pollRings(DatagramSink receives) {
        DatagramReader[] all = rings;
        for (int i = all.length; i > 0; i--) {
            int at = next < all.length ? next : 0;
            next = at + 1;
            if (poll(all[at], receives)) {
                return true;
            }
        }
        return false;
    }

    private boolean poll(DatagramReader r, DatagramSink receives) {
        // at most once around, however fast the peer writes
        for (long left = r.size(); left > 0;) {
            long record = r.record();
            if (record == 0) {
                if (r.isEnded() && r.record() == 0) {
                    remove(r);
                }
                return false;
            }
            int length = r.length();
            boolean taken = qp.state().receives() && isForUs(record) && take(r, record, length, receives);
            r.advance();
            if (taken) {
                return true;
            }
            counts.lost();
            left -= DatagramLayout.record(length);
        }
        return false;
    }

    private boolean isForUs(long record) {
        if (RawMemory.getInt(record + DatagramLayout.QKEY) != qp.qkey()) {
            return false;
        }
        long high = Long.reverseBytes(RawMemory.getLong(record + DatagramLayout.GRH + 24));
        long low = Long.reverseBytes(RawMemory.getLong(record + DatagramLayout.GRH + 32));
        return high == PeerMapping.GID_PREFIX && low == qp.instance() || isAttached(high, low);
    }

    private static boolean take(DatagramReader r, long record, int length, DatagramSink receives) {
        long limit = RawMemory.getLong(record + DatagramLayout.POSTED);
        if (limit >= 0) {
            boolean taken = take(record, length, receives, limit);
            if (taken) {
                r.setTaken(r.taken() + 1);
            }
            return taken;
        }
        long before = r.taken();
        if (before >= (limit & ~DatagramLayout.OF_RING)) {
            return false;
        }
        r.setTaken(before + 1); // first: a sender may still count the receive as free, but never as used too early
        if (take(record, length, receives, Long.MAX_VALUE)) {
            return true;
        }
        r.setTaken(before);
        return false;
    }

    private static boolean take(long record, int length, DatagramSink receives, long limit) {
        int flags = RawMemory.getInt(record + DatagramLayout.FLAGS) & ALLOWED_FLAGS;
        return receives.takeDatagram(record + DatagramLayout.GRH, length + DatagramLayout.GRH_BYTES,
                RawMemory.getInt(record + DatagramLayout.IMMEDIATE), flags | LaneLayout.HAS_GRH,
                RawMemory.getLong(record + DatagramLayout.TIMESTAMP),
                limit, RawMemory.getInt(record + DatagramLayout.SOURCE) & 0xffffff);
    }
}
