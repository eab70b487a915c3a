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
 * <p>Regions may overlap. What the other end may write can change at any time until {@link #close()} has returned: copy before
 * you check, if that matters.
 */
public final class LocalRegion implements AutoCloseable {
    private final RemoteMemory owner;
    private final int id;
    private final MemoryRegion memory;
    private final int access;
    private final long tag;
    private final ReentrantLock closing = new ReentrantLock();
    private volatile boolean revoked;
    private boolean closed;

    LocalRegion(RemoteMemory owner, int id, MemoryRegion memory, int access, long tag) {
        this.owner = owner;
        this.id = id;
        this.memory = memory;
        this.access = access;
        this.tag = tag;
    }

    /** Names it in copies, here and at the other end; positive, and never that of another region of the connection. */
    public int id() {
        return id;
    }

    /**
     * The memory. Of {@link RemoteMemory#allocate} it has what was copied to it until this region or the channel is closed
     * here, also when the other end has gone; after that it can be touched still, and is another memory.
     */
    public MemorySegment segment() {
        return memory.segment();
    }

    /** Its size in bytes. */
    public long length() {
        return memory.length();
    }

    /** The rights, see {@link AccessFlags}. */
    public int access() {
        return access;
    }

    /** What the other end is told of it, for its program. */
    public long tag() {
        return tag;
    }

    /** Whether it is closed, or about to be: copies do not find it. */
    public boolean isRevoked() {
        return revoked;
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
        closing.lock();
        try {
            if (!closed) {
                owner.deregister(this);
                closed = true;
            }
        } finally {
            closing.unlock();
        }
    }

    void revoke() {
        revoked = true;
    }

    MemoryRegion memory() {
        return memory;
    }

    @Override
    public String toString() {
        return "region " + id + " of " + length() + " bytes, " + AccessFlags.toString(access) + ", tag " + tag
                + (revoked ? ", revoked" : "");
    }
}
