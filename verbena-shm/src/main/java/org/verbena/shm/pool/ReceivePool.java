// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.memory.PostedReceive;

/**
 * Receives that several initiators take, each when it needs one: the owner's side. A receive lies in a <em>slot</em> of
 * the owner's adapter; posting it puts its {@link Claim} on the next position of the ring, and initiators claim one
 * position after the other, see {@link PoolClaims}. Receives complete in any order, so slots that are free stand in a list.
 *
 * <p>One thread posts and any number of threads complete. The engine posts too, when it recovers a receive that a dead
 * peer had claimed; {@link #lock} keeps the two apart. Values of peers (the next position, claims in completed entries)
 * are checked against the state here.
 */
public final class ReceivePool {
    private static final VarHandle OUTSTANDING = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle FREED;
    private static final VarHandle BUSY;
    /** One post of this mask + 1 checks the peers' word against our own; one less than a power of two. */
    private static final int CHECK = 15;
    /** The limit of retries, for a peer may write endlessly. */
    private static final int TRIES = 64;
    private static final int END = -1;

    /** Results of {@link #complete}. */
    public static final int DONE = 0;
    public static final int PROTOCOL_VIOLATION = 1;
    static final int DAMAGED = 2;

    private static final int OWNER_BITS = 22;
    private static final int NO_OWNER = 0;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            FREED = l.findVarHandle(ReceivePool.class, "freed", int.class);
            BUSY = l.findVarHandle(ReceivePool.class, "busy", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long postedAddress;
    private final long line;
    private final long ring;
    private final int mask;
    private final long slots;
    private final long stride;
    private final PostedReceive[] receives;
    /** By slot: the claim, if it is posted and not completed; else {@code position:41 | owner:22} of the owner that completed it last. */
    private final long[] outstanding;
    /** The slot behind each slot, for the lists of slots. */
    private final int[] next;

    private volatile int capacity;
    private volatile boolean broken;
    /** The poster's: first free slot, first slot that is out of use because the pool was made smaller. */
    private int free = END;
    private int parked = END;
    /** The poster's: slots ever used, and slots in use now, posted or free. */
    private int fresh;
    private int live;
    private int posts;
    /** First of the slots that were completed; any thread. */
    @SuppressWarnings("unused") // FREED
    private int freed = END;
    @SuppressWarnings("unused") // BUSY
    private int busy;
    /** Under the lock: receives posted, and the position of claims last seen. */
    private volatile long posted;
    private long claimed;
    /** The position of claims that some poller has read last. */
    private long seenClaimed;

    /**
     * Makes a pool without receives; {@link #setCapacity} lets it take some.
     *
     * @param entry address of the directory entry, in memory that is zeroed
     * @param line address of the two lines in the commons, zeroed
     * @param ring address of the ring, of {@link #ringBytes}
     * @param entries the most slots there will be, a power of two
     * @param slots address of the first slot
     */
    ReceivePool(long entry, long line, long ring, int entries, long slots, int maxSge) {
        this.postedAddress = entry + AdapterLayout.POOL_POSTED;
        this.line = line;
        this.ring = ring;
        this.mask = 2 * entries - 1;
        this.slots = slots;
        this.stride = AdapterLayout.wqeStride(maxSge);
        receives = new PostedReceive[entries];
        outstanding = new long[entries];
        next = new int[entries];
    }

    /** Bytes of a ring. It has twice as many positions as there are slots, for a recovered receive takes two. */
    static long ringBytes(int entries) {
        return 16L * entries;
    }

    /** How many slots there may be. */
    int slots() {
        return outstanding.length;
    }

    public int capacity() {
        return capacity;
    }

    /** The most receives that may be posted from now on; memory for these slots is reserved. */
    void setCapacity(int slotCount) {
        for (int i = 0; i < slotCount; i++) {
            if (receives[i] == null) {
                receives[i] = new PostedReceive();
            }
        }
        capacity = slotCount;
    }

    /** True once a peer has violated the protocol: no receive is given out any more. */
    public boolean isBroken() {
        return broken;
    }

    // ---- the poster

    /** A free slot, or -1 if the capacity is used up. */
    int take() {
        while (true) {
            int s = free >= 0 ? free : (int) FREED.getAndSet(this, END);
            if (s >= 0) {
                free = next[s];
                if (live <= capacity) {
                    return s;
                }
                live--;
                next[s] = parked;
                parked = s;
            } else if (live >= capacity) {
                return END;
            } else {
                live++;
                if (parked < 0) {
                    return fresh++;
                }
                s = parked;
                parked = next[s];
                return s;
            }
        }
    }

    /** Takes back a slot that was taken and not posted. */
    void giveBack(int slot) {
        next[slot] = free;
        free = slot;
    }

    /** Puts a slot behind another one that is not posted either. */
    void chain(int slot, int after) {
        next[slot] = after;
    }

    int chained(int slot) {
        return next[slot];
    }

    /** The address of a slot's receive, in the form of a receive ring's entry. */
    public long wqe(int slot) {
        return slots + slot * stride;
    }

    public PostedReceive receive(int slot) {
        return receives[slot];
    }

    /**
     * Posts a chain of slots.
     *
     * @return true if an initiator may wait for receives, or the pool has just been found broken: the engine has to act
     */
    boolean post(int first, int count) {
        lock();
        long p = posted;
        int s = first;
        for (int n = count; n > 0; n--) {
            int after = next[s];
            enter(s, p++);
            s = after;
        }
        publish(p);
        boolean sound = (++posts & CHECK) != 0 || isSound();
        unlock();
        // a sender that waits sets the word, passes a full barrier, then checks for receives again
        VarHandle.fullFence();
        return !sound || RawMemory.getLongOpaque(line + CommonsLayout.STARVING) != 0;
    }

    private void enter(int slot, long position) {
        long c = Claim.of(position, RawMemory.getInt(wqe(slot) + AdapterLayout.WQE_FITS), slot);
        OUTSTANDING.setRelease(outstanding, slot, c);
        RawMemory.putLong(ring + ((position & mask) << 3), c);
    }

    private void publish(long count) {
        posted = count;
        if (!broken) {
            RawMemory.putLongRelease(postedAddress, count);
        }
    }

    private void lock() {
        while (!BUSY.compareAndSet(this, 0, 1)) {
            Thread.onSpinWait(); // the engine, for a moment
        }
    }

    private void unlock() {
        BUSY.setRelease(this, 0);
    }

    // ---- completing

    /** The claim at a position of the ring; only for positions that were not used again since. */
    public long at(long position) {
        return RawMemory.getLongAcquire(ring + ((position & mask) << 3));
    }

    /** True if the receive of a claim is posted and not completed. */
    public boolean isOutstanding(long claim) {
        int s = Claim.slot(claim);
        return claim < 0 && s < outstanding.length && (long) OUTSTANDING.getAcquire(outstanding, s) == claim;
    }

    /** Takes the receive of a claim out of the pool, once; false if there is no such receive. {@link #free} follows. */
    boolean finish(long claim) {
        return finish(claim, NO_OWNER);
    }

    private boolean finish(long claim, int owner) {
        int s = Claim.slot(claim);
        return claim < 0 && s < outstanding.length && OUTSTANDING.compareAndSet(outstanding, s, claim, Claim.position(
                claim) << OWNER_BITS | owner);
    }

    /**
     * As {@link #finish}, for an initiator that reports the receive as its claim.
     *
     * @param owner number of the completing initiator, from 1 on
     * @return {@link #DONE}, {@link #PROTOCOL_VIOLATION} if this initiator certainly violates the protocol, or {@link #DAMAGED} if it may be
     *         another: the receive was completed by another initiator, or is one of those that are not claimed
     */
    public int complete(long claim, int owner) {
        if (isOutstanding(claim)) {
            if (!isClaimed(claim)) {
                return DAMAGED;
            }
            if (finish(claim, owner)) {
                return DONE;
            }
        }
        long position = Claim.position(claim);
        long real = at(position);
        int s = Claim.slot(claim);
        long age = Claim.age(claim, posted);
        if (claim >= 0 || s >= outstanding.length || age == 0 || age > posted
                || Claim.isOf(real, position) && real != claim) {
            return PROTOCOL_VIOLATION; // there never was such a claim
        }
        long last = (long) OUTSTANDING.getAcquire(outstanding, s);
        return last == (position << OWNER_BITS | owner) ? PROTOCOL_VIOLATION : DAMAGED;
    }

    /** True if the receive has been claimed; the peers' word, which they all write, is read only if it has to be. */
    boolean isClaimed(long claim) {
        if (!Claim.isBefore(claim, seenClaimed)) {
            seenClaimed = claimed();
        }
        return Claim.isBefore(claim, seenClaimed);
    }

    /**
     * Takes the oldest unclaimed receive, for ourselves, and finishes it; {@link Claim#NONE} if
     * there is none, or if it is too short. Any thread.
     *
     * @param limit only of a position before this one
     * @param length that it must have at least
     */
    public long takeOldest(long limit, long length) {
        long a = line + CommonsLayout.NEXT;
        for (int i = 0; i < TRIES && !broken; i++) {
            long n = RawMemory.getLongAcquire(a);
            if (n < 0 || n >= posted || n >= limit) {
                break;
            }
            long c = at(n);
            boolean fits = length <= RawMemory.getLong(wqe(Claim.slot(c)) + AdapterLayout.WQE_LENGTH);
            // the value read belongs to this position if that was not claimed meanwhile
            if (!fits && RawMemory.getLongAcquire(a) == n) {
                break;
            }
            // a claim that was seen by the engine before it was finished may have been recovered
            if (fits && RawMemory.compareAndSetLong(a, n, n + 1) && finish(c)) {
                return c;
            }
        }
        return Claim.NONE;
    }

    /** The slot of a finished receive may be used again. */
    public void free(int slot) {
        int first;
        do {
            first = (int) FREED.getVolatile(this);
            next[slot] = first;
        } while (!FREED.compareAndSet(this, first, slot));
    }

    /** True if one more receive may be recovered though a reader is still at a position. */
    boolean mayRepost(long readerAt) {
        return posted - readerAt < outstanding.length;
    }

    /** Posts a finished receive once more. */
    void repost(int slot) {
        lock();
        enter(slot, posted);
        publish(posted + 1);
        unlock();
    }

    // ---- the peers' word

    /** Receives posted so far. */
    public long posted() {
        return posted;
    }

    /** The position that will be claimed next, according to peers; never more than {@link #posted()}. */
    long claimed() {
        long n = RawMemory.getLongAcquire(line + CommonsLayout.NEXT);
        return Math.max(0, Math.min(n, posted));
    }

    /** Unclaimed receives. */
    public long available() {
        long n = claimed();
        return posted - n;
    }

    /** Checks the peers' word against the state here; false if it is invalid, now or before. */
    public boolean check() {
        lock();
        boolean sound = isSound();
        unlock();
        return sound;
    }

    /** Peers have violated the protocol. */
    void fail() {
        lock();
        setBroken();
        unlock();
    }

    private void setBroken() {
        broken = true;
        RawMemory.putLongRelease(postedAddress, 0); // initiators find no receive
    }

    private boolean isSound() {
        long n = RawMemory.getLongAcquire(line + CommonsLayout.NEXT);
        if (broken || n < claimed || n > posted) {
            setBroken();
            return false;
        }
        claimed = n;
        return true;
    }

    /** The claims of all receives that are posted and not completed, the oldest first. */
    public long[] outstanding() {
        long[] all = new long[outstanding.length];
        int n = 0;
        for (int i = 0; i < all.length; i++) {
            long c = (long) OUTSTANDING.getAcquire(outstanding, i);
            if (c < 0) {
                all[n++] = c;
            }
        }
        long[] some = Arrays.copyOf(all, n);
        Arrays.sort(some); // by position, the highest bits that differ, for all are negative
        return some;
    }
}
