// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.lang.invoke.VarHandle;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.PeerMemories;
import org.verbena.shm.ring.Inbox;
import org.verbena.shm.ring.PeerBells;
import org.verbena.verbs.VerbsException;

/**
 * A pool of a peer as one of its initiators sees it: read from the peer's directory once, checked, and kept. Used by one
 * thread at a time, inside a {@link Hazard}.
 */
public final class RemotePool {
    final PeerMemories memories;
    public final int number;
    public final int pd;
    public final int maxSge;
    /** True if completions carry time stamps; only if there is an inbox. */
    final boolean timestamps;

    private final PeerBells bells;
    private final long entry;
    private final long line;
    private final long slots;
    private final long stride;
    private final long inbox;
    private final long armWord;
    private final int channel;
    private final PoolClaims claims;
    private long limitRung;
    private long lastNotified;

    private RemotePool(PeerMemories memories, PeerBells bells, long entry, int index) throws ProtocolException {
        this.memories = memories;
        this.bells = bells;
        this.entry = entry;
        number = RawMemory.getIntAcquire(entry + AdapterLayout.POOL_NUMBER);
        maxSge = RawMemory.getInt(entry + AdapterLayout.POOL_SGE);
        pd = RawMemory.getInt(entry + AdapterLayout.POOL_PD);
        timestamps = (RawMemory.getInt(entry + AdapterLayout.POOL_FLAGS) & AdapterLayout.FLAG_TIMESTAMPS) != 0;
        channel = RawMemory.getInt(entry + AdapterLayout.POOL_CHANNEL);
        long ring = RawMemory.getLong(entry + AdapterLayout.POOL_RING);
        long first = RawMemory.getLong(entry + AdapterLayout.POOL_SLOTS);
        long box = RawMemory.getLong(entry + AdapterLayout.POOL_INBOX);
        int entries = RawMemory.getInt(entry + AdapterLayout.POOL_ENTRIES);
        int arm = RawMemory.getInt(entry + AdapterLayout.POOL_ARM);
        if (entries < 1 || entries > ShmLimits.MAX_WR || Integer.bitCount(entries) != 1 || maxSge < 0
                || maxSge > ShmLimits.MAX_SGE || arm < 0 || arm >= AdapterLayout.MAX_CQ) {
            throw new ProtocolException("a pool's directory entry is invalid");
        }
        stride = AdapterLayout.wqeStride(maxSge);
        if (!isWithin(ring, ReceivePool.ringBytes(entries), AdapterLayout.HEAP, AdapterLayout.SIZE)
                || !isWithin(first, stride * entries, AdapterLayout.HEAP, AdapterLayout.SIZE)
                || box != 0 && !isWithin(box, Inbox.bytes(entries), CommonsLayout.HEAP, CommonsLayout.SIZE)) {
            throw new ProtocolException("a pool lies outside the adapter or the commons");
        }
        PeerMapping peer = memories.peer;
        slots = peer.base() + first;
        line = peer.commonsBase() + CommonsLayout.pool(index);
        inbox = box == 0 ? 0 : peer.commonsBase() + box;
        armWord = peer.base() + AdapterLayout.armWord(arm);
        claims = new PoolClaims(entry, line, peer.base() + ring, entries);
    }

    private static boolean isWithin(long at, long bytes, long from, long to) {
        return at >= from && at <= to - bytes && (at & 15) == 0;
    }

    /** The number of the pool at an index of the peer's directory now; 0 if there is none. */
    public static int number(PeerMapping peer, int index) {
        return RawMemory.getIntAcquire(peer.base() + AdapterLayout.poolEntry(index) + AdapterLayout.POOL_NUMBER);
    }

    /** Reads the pool at an index of the peer's directory. */
    public static RemotePool at(PeerMemories memories, PeerBells bells, int index) throws ProtocolException {
        if (index < 0 || index >= CommonsLayout.MAX_POOLS) {
            throw new ProtocolException("a pool's number is invalid");
        }
        return new RemotePool(memories, bells, memories.peer.base() + AdapterLayout.poolEntry(index), index);
    }

    /** True while the owner has not closed the pool; to be read after a {@link Hazard} was entered. */
    public boolean isOpen() {
        return RawMemory.getIntAcquire(entry + AdapterLayout.POOL_NUMBER) == number;
    }

    public boolean hasInbox() {
        return inbox != 0;
    }

    /** Takes the oldest receive; {@link Claim#NONE} if there is none. */
    public long claim() {
        long c = claims.claim();
        if (claims.takeLoss()) {
            bells.ring(0);
        }
        if (c != Claim.NONE) {
            VarHandle.fullFence(); // the owner sets the limit, passes a full barrier, then reads the claims
            long limit = RawMemory.getLongOpaque(entry + AdapterLayout.POOL_LIMIT);
            if (claims.left() < (int) limit && limit != limitRung) {
                limitRung = limit;
                limitCrossed(limit);
                bells.ring(0);
            }
        }
        return c;
    }

    /** Records that the limit was crossed: when the owner checks there may be more receives again. */
    private void limitCrossed(long limit) {
        long a = line + CommonsLayout.LIMIT;
        long sequence = limit >>> 32;
        long before = RawMemory.getAndSetLong(a, sequence);
        if (before != sequence && before == RawMemory.getLongAcquire(entry + AdapterLayout.POOL_LIMIT) >>> 32) {
            RawMemory.putLongVolatile(a, before); // this process was not scheduled for a while, and the limit is another one now
        }
    }

    /** Opens the doorbell of the inbox's reader, if it has one. */
    public void reachBell() throws VerbsException {
        if (channel != 0) {
            bells.reach("wake " + memories.peer.name(), channel);
        }
    }

    boolean isAvailable() {
        return claims.isAvailable();
    }

    /** The receive of a claim. */
    public long wqe(long claim) {
        return slots + Claim.slot(claim) * stride;
    }

    /** The inbox's entry for a claim; only if there is an inbox. */
    public long inboxEntry(long claim) {
        return Inbox.entry(inbox, claim);
    }

    /** A claim that will not be used has to be posted again; its word of {@link PoolUser#held} is cleared. */
    void giveBack() {
        claims.lose();
        bells.ring(0);
    }

    /** Makes the owner wake waiting initiators when it posts. */
    public void setStarving() {
        RawMemory.putLongVolatile(line + CommonsLayout.STARVING, 1);
    }

    /**
     * Signals the owner after a commit into the inbox, if its completion queue is armed; true if it had to
     * be woken.
     */
    public boolean signal(boolean solicited) {
        // the owner arms, passes a full barrier, then polls the inbox
        VarHandle.fullFence();
        long word = RawMemory.getLongOpaque(armWord);
        if (ArmWord.isArmed(word, solicited) && word != lastNotified) {
            lastNotified = word;
            if (ArmWord.markNotified(line + CommonsLayout.NOTIFIED, armWord, word)) {
                bells.ring(ArmWord.bell(word, channel));
                return true;
            }
        }
        return false;
    }
}
