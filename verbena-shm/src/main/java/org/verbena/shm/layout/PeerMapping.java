// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.Gid;

/**
 * What is fixed about another context, or about this one as its own peer, for the time of a session: its identity, the addresses of its memory
 * files in this process, and the arena of ours that it reads. As long as this is reachable the files stay mapped. Safe for use by
 * several threads.
 */
public final class PeerMapping {
    /** GIDs of contexts are link-local addresses whose lower half is the instance. */
    public static final long GID_PREFIX = 0xfe80L << 48;

    private final long ownInstance;
    private final long instance;
    private final int pid;
    private final boolean loopback;
    private final SharedFile arena;
    private final ArenaHeap heap;
    private final Files files;

    /** The peer's memory files, mapped here; we write to its commons only. */
    public record Files(Mapping adapter, Mapping arena, Mapping commons) {}

    /**
     * Makes one.
     *
     * @param arena the arena that we write and the peer reads
     * @param loopback true if the peer is this context
     */
    public PeerMapping(long ownInstance, long instance, int pid, boolean loopback, SharedFile arena, Files files) {
        this.ownInstance = ownInstance;
        this.instance = instance;
        this.pid = pid;
        this.loopback = loopback;
        this.arena = arena;
        heap = new ArenaHeap(arena);
        this.files = files;
    }

    /** The GID of a context. */
    public static Gid gid(long instance) {
        return new Gid(GID_PREFIX, instance);
    }

    /** Makes the arena that this side of a new session writes. */
    public static SharedFile makeArena(long ownInstance, long peerInstance) throws LinuxException {
        SharedFile f = new SharedFile("verbena-lanes", LaneLayout.SIZE, LaneLayout.HEAD);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_VERSION, AdapterLayout.VERSION);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_SIZE, LaneLayout.SIZE);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_WRITER, ownInstance);
        RawMemory.putLong(f.address() + LaneLayout.HEADER_READER, peerInstance);
        RawMemory.putLongRelease(f.address() + LaneLayout.HEADER_MAGIC, LaneLayout.MAGIC);
        return f;
    }

    public long ownInstance() {
        return ownInstance;
    }

    public long instance() {
        return instance;
    }

    public int pid() {
        return pid;
    }

    /** True if the peer is this context. */
    public boolean isLoopback() {
        return loopback;
    }

    public String name() {
        return loopback ? "this process" : "process " + pid;
    }

    /** Address of the peer's adapter in this process. */
    public long base() {
        return files.adapter.address();
    }

    /** Address of the lane arena that the peer writes. */
    public long arenaBase() {
        return files.arena.address();
    }

    /** Address of the peer's commons. */
    public long commonsBase() {
        return files.commons.address();
    }

    /** Whether the session has ended for the peer; to be read after a {@link Hazard} was entered. */
    public boolean hasEndedForPeer() {
        return RawMemory.getLongAcquire(arenaBase() + LaneLayout.HEADER_ENDED) != 0;
    }

    // ---- the arena that we write

    public SharedFile arena() {
        return arena;
    }

    /** The parts of the arena. */
    public ArenaHeap heap() {
        return heap;
    }

    /** Address of our count for a queue pair of the peer, see {@link LaneLayout}. */
    public long hint(int peerNumber) {
        return arena.address() + LaneLayout.HINTS + 2L * AdapterLayout.qpIndex(peerNumber);
    }

    // ---- the end

    /** Publishes to the peer, which may access our memory, that the session has ended. */
    public void publishEnded() {
        RawMemory.putLongRelease(arena.address() + LaneLayout.HEADER_ENDED, 1);
    }

    /** Releases the pages of the peer's adapter and lanes, which read as zero then. */
    public void discard() throws LinuxException {
        files.adapter.discard();
        files.arena.discard();
    }
}
