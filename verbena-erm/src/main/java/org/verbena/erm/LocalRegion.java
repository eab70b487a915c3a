// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.VerbsException;

/**
 * Memory of this end that copies may name, and the other end too if it has remote rights: what {@code SMC_ERM_CMD_REG_MR}
 * makes. Thread-safe.
 *
 * <p>Regions may overlap. What the other end may write can change at any time until {@link #close()} has returned, or
 * {@link #update} that takes the right from it: copy before you check, if that matters.
 */
public final class LocalRegion implements AutoCloseable {
    private final RemoteMemory owner;
    private final int id;
    private final int name;
    private final RegionMemory memory;
    private final MemorySegment segment;
    private final long length;
    private final int registered;
    /** That of the memory, for the data path. Not volatile: it changes while no copy may begin, see {@link #isHeld}. */
    private MemoryRegion key;
    private final ReentrantLock changing = new ReentrantLock();
    private volatile int access;
    private volatile long tag;
    private volatile boolean held;
    private volatile boolean revoked;

    // guarded by the lock
    private boolean closed;
    private int changes;

    /** It is found from now on; nobody else changes or closes it until {@link #announced}. */
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

    /** Names it in copies, here and at the other end; positive, and never that of another region of the connection. */
    public int id() {
        return id;
    }

    /** For a {@link ImmediateCompletion}. */
    int name() {
        return name;
    }

    /**
     * The memory. Of {@link RemoteMemory#allocate} it has what was copied to it until this region or the channel is closed
     * here, also when the other end has gone; after that it can be touched still, and is another memory.
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

    /** The rights that it was registered with: no update gives others. */
    int registered() {
        return registered;
    }

    /** What the other end is told of it, for its program; {@link #update} changes it. */
    public long tag() {
        return tag;
    }

    /** Whether it is closed, or about to be: copies do not find it. */
    public boolean isRevoked() {
        return revoked;
    }

    /**
     * Gives it other rights and another tag, under the same id, and tells the other end: it knows when this returns, and its
     * program gets an event {@link EventType#REGION_UPDATED}. When a right is taken away no copy that needs it touches the
     * memory any more then, nor can one, as after {@link #close()}; copies that had been started before are done, and complete.
     * While rights change, new copies that name the region are refused with {@code EAGAIN} at both ends, and asynchronous ones
     * wait; another tag alone disturbs nobody. It may wait for copies that are under way.
     *
     * <p>An end that does not answer within {@code verbena.erm.patience} while rights change loses the remote memory of this
     * connection, as by {@link #close()}.
     *
     * @param newAccess rights as of {@link RemoteMemory#register(MemorySegment, int, long)}: some or all of those that it was
     *        registered with, {@link AccessFlags#REMOTE_READ} or {@link AccessFlags#REMOTE_WRITE} among them
     * @param newTag for the other end's program
     * @throws VerbsException {@code EINVAL} for unknown or contradictory rights, or none for the other end; {@code EACCES} for
     *         rights that it was not registered with; {@code ENOENT} if the region has been closed; {@code EOPNOTSUPP} if the
     *         other end's Verbena knows no updates; {@code ENOTCONN} if the remote memory has ended, also by this;
     *         {@code ETIMEDOUT} if the other end does not answer what it is now: it does learn of it when it goes on; what the
     *         provider says: then the region is as before
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
     * Takes the memory back, {@code SMC_ERM_CMD_DEREG_MR}: when it returns, the other end has been told, and no copy of either
     * end touches the memory any more, nor can one. It waits for copies that are under way. Closing twice does nothing.
     *
     * <p>An end that does not answer within {@code verbena.erm.patience} loses the remote memory of this connection, with all
     * regions; this call returns all the same, and its promise holds.
     *
     * @throws VerbsException {@code EBUSY} if a process that has been stopped may be inside the memory, and the provider
     *         cannot take it away from it, as shm cannot take registered memory: then the memory must stay as it is. Close
     *         again when the process has gone on or ended
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

    /** The other end knows of it, or has no need to; called by who made it. */
    void announced() {
        changing.unlock();
    }

    void revoke() {
        revoked = true;
    }

    // ---- while it changes, by who has the lock

    /** Copies that begin are refused with {@code EAGAIN} from now on. */
    void hold() {
        held = true;
    }

    void release() {
        held = false;
    }

    /** Whether it is just being changed; who finds that it is not may use {@link #memory()} as long as copies are waited for. */
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

    /** Takes the memory away from everybody; may be called again. */
    void releaseMemory() throws VerbsException {
        memory.close();
    }

    @Override
    public String toString() {
        return "region " + id + " of " + length() + " bytes, " + AccessFlags.toString(access) + ", tag " + tag
                + (revoked ? ", revoked" : "");
    }
}
