// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Pidfd;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/**
 * Another context, or this one as its own peer: its identity, the addresses of its memory files in this process, the arena of ours that it
 * reads, and whether it still lives. As long as this is reachable the files stay mapped. Safe for use by several threads.
 */
public final class Peer {
    /** GIDs of contexts are link-local addresses whose lower half is the instance. */
    public static final long GID_PREFIX = 0xfe80L << 48;

    private final long ownInstance;
    private final long instance;
    private final int pid;
    private final boolean loopback;
    private final SharedFile arena;
    /** The parts of the arena that are in use. */
    private final Extents heap = new Extents(LaneLayout.HEAP, LaneLayout.SIZE);
    private final Files files;
    private volatile boolean dead;
    private volatile boolean departed;
    private volatile boolean gone;

    /** The peer's memory files, mapped here; we write to its commons only. */
    public record Files(Mapping adapter, Mapping arena, Mapping commons) {}

    /**
     * Makes one.
     *
     * @param arena the arena that we write and the peer reads
     * @param loopback true if the peer is this context
     */
    public Peer(long ownInstance, long instance, int pid, boolean loopback, SharedFile arena, Files files) {
        this.ownInstance = ownInstance;
        this.instance = instance;
        this.pid = pid;
        this.loopback = loopback;
        this.arena = arena;
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

    // ---- whether it lives

    public boolean isDead() {
        return dead;
    }

    /** The session with it has ended. */
    public void died() {
        dead = true;
    }

    /**
     * Whether the peer's process has ended, so that it accesses nothing any more. A session may end though that process lives; a
     * queue pair of the peer that is inside a transfer then stays inside until it leaves.
     */
    public boolean isGone() {
        if (!gone && dead) {
            gone = loopback || !runs(pid);
        }
        return gone;
    }

    private static boolean runs(int pid) {
        try (Fd process = Pidfd.open(pid)) {
            return Pidfd.isAlive(process);
        } catch (LinuxException e) {
            return e.errno() != Errno.ESRCH; // without a descriptor it cannot be asked, and counts as running
        }
    }

    /** Whether the session has ended for the peer; to be read after a {@link Hazard} was entered. */
    public boolean hasEndedForPeer() {
        return RawMemory.getLongAcquire(arenaBase() + LaneLayout.HEADER_ENDED) != 0;
    }

    /** Reads, unless it is dead already, whether it has announced an orderly end. */
    public void checkDeparted() {
        departed |= !dead && RawMemory.getLongAcquire(base() + AdapterLayout.HEADER_DEPARTS) == 1;
    }

    /** Whether the peer has ended in order, and its queue pairs with it. */
    public boolean hasDeparted() {
        return departed;
    }

    // ---- the arena that we write

    public SharedFile arena() {
        return arena;
    }

    public Extents heap() {
        return heap;
    }

    /** Takes a part of the arena, without pages yet; returns its address. */
    public long takeArena(String verb, long bytes) throws VerbsException {
        long at = heap.take(bytes);
        if (at < 0) {
            throw new VerbsException(verb, Errno.ENOMEM, "the arena is full");
        }
        return arena.address() + at;
    }

    /** Reserves pages for a part of the arena. */
    public void reserveArena(long address, long bytes) throws LinuxException {
        arena.reserve(address - arena.address(), bytes);
    }

    public void giveArena(long address, long bytes) {
        heap.give(address - arena.address(), bytes);
    }

    /** Offset in the arena of an address. */
    public long arenaOffset(long address) {
        return address - arena.address();
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
