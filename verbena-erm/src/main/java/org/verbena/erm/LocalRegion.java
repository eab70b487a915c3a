// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.VerbsException;

/**
 * Memory of this end that copies of this end may use, and with remote rights also those of the other end: the result of
 * {@code SMC_ERM_CMD_REG_MR}. Thread-safe.
 *
 * <p>Regions may overlap. Memory that the other end may write can change at any time until {@link #close()} has
 * returned, or an {@link #update} that removes the right: copy before checking, if that matters.
 */
public final class LocalRegion implements AutoCloseable {
    private final RemoteMemory owner;
    private final int id;
    private final int name;
    private final RegionMemory memory;
    private final MemorySegment segment;
    private final long length;
    private final int registered;
    /**
     * The key of the memory, for the data path. Not volatile: it changes only while no copy can start, see
     * {@link #isHeld}.
     */
    private MemoryRegion key;
    private final ReentrantLock changing = new ReentrantLock();
    private volatile int access;
    private volatile long tag;
    private volatile boolean held;
    private volatile boolean revoked;

    // guarded by the lock
    private boolean closed;
    private int changes;

    /**
     * Creates a region that can be looked up at once; other threads cannot change or close it until {@link #announced}.
     */
    LocalRegion(RemoteMemory owner, int id, int name, RegionMemory memory, int access, long tag) {
        changing.lock();
        this.owner = owner;
        this.id = id;
        this.name = name;
        this.memory = memory;
        this.access = access;
        this.tag = tag;
        registered = access;
        key = memory.key();
        segment = key.segment();
        length = key.length();
    }

    /** The id for copies, at both ends; positive, and unique among all regions that the connection ever has. */
    public int id() {
        return id;
    }

    /** The name for an {@link ImmediateCompletion}. */
    int name() {
        return name;
    }

    /**
     * The memory. That of {@link RemoteMemory#allocate} keeps its contents until this region or the channel is closed
     * here, also when the other end has gone; after that it can still be accessed, but is other memory.
     */
    public MemorySegment segment() {
        return segment;
    }

    /** Its size in bytes. */
    public long length() {
        return length;
    }

    /** The rights, see {@link AccessFlags}; {@link #update} changes them. */
    public int access() {
        return access;
    }

    /** The rights at registration: an update cannot exceed them. */
    int registered() {
        return registered;
    }

    /** The tag, for the other end's program; {@link #update} changes it. */
    public long tag() {
        return tag;
    }

    /** Whether it is closed, or being closed: copies do not find it. */
    public boolean isRevoked() {
        return revoked;
    }

    /**
     * Changes rights and tag under the same id, and notifies the other end: it has them when this returns, and its
     * program gets an event {@link EventType#REGION_UPDATED}. When a right is removed, no copy that needs it accesses
     * the memory any more when this returns, nor can one later, as after {@link #close()}; copies that were started
     * before are done, and complete. While rights change, new copies that name the region are refused with
     * {@code EAGAIN} at both ends, and asynchronous ones wait; a change of the tag alone affects no copy. This may wait
     * for outstanding copies.
     *
     * <p>If the other end does not reply within {@code verbena.erm.patience} while rights change, the remote memory of
     * this connection ends, as with {@link #close()}.
     *
     * @param newAccess rights as of {@link RemoteMemory#register(MemorySegment, int, long)}: some or all of those at
     *        registration, {@link AccessFlags#REMOTE_READ} or {@link AccessFlags#REMOTE_WRITE} among them
     * @param newTag passed to the other end's program
     * @throws VerbsException {@code EINVAL} for unknown or contradictory rights, or none for the other end;
     *        {@code EACCES} for rights that it was not registered with; {@code ENOENT} if the region has been closed;
     *        {@code EOPNOTSUPP} if the other end's Verbena does not support updates; {@code ENOTCONN} if the remote
     *        memory has ended, also because of this call; {@code ETIMEDOUT} if the other end does not acknowledge the
     *        update: it still receives it when it resumes; errors of the provider: then the region is unchanged
     */
    public void update(int newAccess, long newTag) throws VerbsException {
        changing.lock();
        try {
            owner.update(this, newAccess, newTag);
        } finally {
            changing.unlock();
        }
    }

    /**
     * Deregisters the memory, {@code SMC_ERM_CMD_DEREG_MR}: when it returns, the other end has been notified, and no
     * copy of either end accesses the memory any more, nor can one later. It waits for outstanding copies. Closing
     * twice does nothing.
     *
     * <p>If the other end does not reply within {@code verbena.erm.patience}, the remote memory of this connection
     * ends, with all regions; this call still returns, and its guarantee holds.
     *
     * @throws VerbsException {@code EBUSY} if a stopped process may be in the middle of an access, and the provider
     *        cannot revoke that, as shm cannot for registered memory: then the memory must not be freed. Close again
     *        when the process has resumed or ended
     */
    @Override
    public void close() throws VerbsException {
        changing.lock();
        try {
            if (!closed) {
                owner.deregister(this);
                closed = true;
            }
        } finally {
            changing.unlock();
        }
    }

    /** Called by the creating thread once the other end has the region, or does not need it. */
    void announced() {
        changing.unlock();
    }

    void revoke() {
        revoked = true;
    }

    // ---- while it changes, under the lock

    /** Refuses copies with {@code EAGAIN} from now on. */
    void hold() {
        held = true;
    }

    void release() {
        held = false;
    }

    /**
     * Whether it is being changed; a copy that finds it is not may use {@link #memory()}, since a change waits for it.
     */
    boolean isHeld() {
        return held;
    }

    void change(int newAccess) throws VerbsException {
        memory.change(newAccess);
        key = memory.key();
        access = newAccess;
    }

    void retag(long newTag) {
        tag = newTag;
    }

    /** The number of the next change. */
    int nextChange() {
        return ++changes;
    }

    // ---- its memory

    MemoryRegion memory() {
        return key;
    }

    /** Revokes all access and releases the memory; may be called again. */
    void releaseMemory() throws VerbsException {
        memory.close();
    }

    @Override
    public String toString() {
        return "region " + id + " of " + length() + " bytes, " + AccessFlags.toString(access) + ", tag " + tag
                + (revoked ? ", revoked" : "");
    }
}
