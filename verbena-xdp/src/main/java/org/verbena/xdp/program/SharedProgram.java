// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.BpfFileSystem;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;

/**
 * The program of an interface as this process uses it. It is attached by the first process that joins, and goes with the last
 * one that leaves; processes that are killed leave nothing behind that counts. Thread-safe.
 *
 * <p>The processes find the maps by the files of a {@link SharedFolder}, and the attachment by its number. No file keeps the
 * attachment where processes may open it by number (CAP_SYS_ADMIN), so that the program also goes when all of them
 * are killed. Where there is no file system of type bpf and none can be mounted, the process has the program for itself.
 */
public final class SharedProgram implements AutoCloseable {
    private static final String FOLDER = "verbena";
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /**
     * An interface.
     *
     * @param namespace a number of its network namespace, as {@code /proc/self/ns/net} has it
     * @param index its index there
     * @param queues how many receive queues it has
     * @param mode see {@link FlowProgram#attach}
     */
    public record Interface(String namespace, int index, int queues, int mode) {}

    private final @Nullable SharedFolder folder;
    private final FlowMaps maps;
    private final FlowTable table;
    private final Claims claims;
    private final CounterPool counters;
    private final Fd link;
    private final @Nullable Fd ownerFolder;
    private final @Nullable Fd sign;
    private final int owner;
    /** A lock of flock(2) does not keep threads apart. */
    private final ReentrantLock mutex = new ReentrantLock();
    private long looked = System.nanoTime();

    private SharedProgram(ProgramOpening o) {
        folder = o.folder;
        maps = o.maps();
        link = o.link();
        ownerFolder = o.ownerFolder;
        sign = o.sign;
        owner = o.owner;
        claims = new Claims(maps);
        table = new FlowTable(maps, folder == null ? FlowTable.Exclusion.NONE : new Lock());
        counters = new CounterPool(maps, this::claimBlock);
    }

    /**
     * Uses the program of an interface, which is attached if it is not; the calling thread is in the interface's namespace.
     *
     * @throws LinuxException {@code EBUSY} (another program is attached, or another version of Verbena uses the interface),
     *         {@code EPERM}, {@code ETIMEDOUT} (another process holds the lock), {@code EBADMSG} (the files are damaged), and as
     *         {@link FlowProgram#attach} has them
     */
    public static SharedProgram join(Interface i) throws LinuxException {
        Path parent;
        try {
            parent = BpfFileSystem.mounted();
        } catch (LinuxException e) {
            return alone(i, String.valueOf(e.getMessage()));
        }
        return join(i, parent);
    }

    /** As the other, with the file system of type bpf. */
    static SharedProgram join(Interface i, Path bpf) throws LinuxException {
        SharedFolder folder;
        try {
            folder = SharedFolder.lockedAt(bpf.resolve(FOLDER).resolve(i.namespace + "-" + i.index));
        } catch (LinuxException e) {
            if (e.errno() != Errno.EACCES && e.errno() != Errno.EPERM) {
                throw e;
            }
            return alone(i, String.valueOf(e.getMessage()));
        }
        ProgramOpening o = new ProgramOpening(folder);
        try {
            o.join(i);
            SharedProgram p = new SharedProgram(o);
            p.cleaned(); // what others have left
            folder.unlock();
            return p;
        } catch (LinuxException | RuntimeException e) {
            o.undo();
            throw e;
        }
    }

    private static SharedProgram alone(Interface i, String why) throws LinuxException {
        ProgramOpening o = new ProgramOpening(null);
        try {
            o.attach(i);
            return new SharedProgram(o);
        } catch (LinuxException | RuntimeException e) {
            o.undo();
            if (e instanceof LinuxException l && l.errno() == Errno.EBUSY) {
                LinuxException more = new LinuxException(l.call(), Errno.EBUSY, String.valueOf(l.getMessage())
                        + "; if it is that of another process with Verbena: it cannot be shared, " + why);
                more.initCause(e);
                throw more;
            }
            throw e;
        }
    }

    /** The lock of the folder, for changes of flows. */
    private final class Lock implements FlowTable.Exclusion {
        @Override
        public void enter() throws LinuxException {
            lock();
            if (System.nanoTime() - looked > LOOK_NANOS) {
                try {
                    SharedProgram.this.cleaned();
                } catch (LinuxException e) {
                    unlock();
                    throw e;
                }
            }
        }

        @Override
        public void leave() throws LinuxException {
            unlock();
        }

        @Override
        public boolean cleaned() throws LinuxException {
            return SharedProgram.this.cleaned();
        }

        @Override
        public String describe(int number) {
            SharedFolder f = folder;
            if (f == null || number == owner) {
                return "";
            }
            try {
                return f.owners().stream().filter(o -> o.number() == number).map(o -> " of process " + o.process())
                        .findFirst().orElse("");
            } catch (LinuxException e) {
                return "";
            }
        }
    }

    private void lock() throws LinuxException {
        mutex.lock();
        if (folder != null) {
            try {
                folder.lock();
            } catch (LinuxException e) {
                mutex.unlock();
                throw e;
            }
        }
    }

    private void unlock() throws LinuxException {
        try {
            if (folder != null) {
                folder.unlock();
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Under the lock: removes what processes have left that were killed; true if there were any. */
    private boolean cleaned() throws LinuxException {
        SharedFolder f = folder;
        if (f == null) {
            return false;
        }
        List<SharedFolder.Owner> dead = new ArrayList<>(f.owners());
        dead.removeIf(o -> o.number() == owner);
        dead.removeAll(SharedFolder.alive(dead));
        looked = System.nanoTime();
        if (dead.isEmpty()) {
            return false;
        }
        free(dead.stream().map(SharedFolder.Owner::number).collect(Collectors.toSet()));
        for (SharedFolder.Owner o : dead) {
            SharedFolder.delete(o.path());
        }
        return true;
    }

    private void free(Set<Integer> owners) throws LinuxException {
        table.removeOwners(owners);
        maps.awaitPrograms(); // then nobody counts there any more
        claims.release(owners);
    }

    private int claimBlock() throws LinuxException {
        lock();
        try {
            int block = claims.claimBlock(claimant());
            return block < 0 && cleaned() ? claims.claimBlock(claimant()) : block;
        } finally {
            unlock();
        }
    }

    private int claimant() {
        return owner == 0 ? Claims.ALONE : owner;
    }

    /**
     * A number for a queue pair that packets go to.
     *
     * @throws LinuxException {@code ENOMEM}
     */
    public int takeTarget() throws LinuxException {
        lock();
        try {
            int target = claims.claimTarget(claimant());
            target = target < 0 && cleaned() ? claims.claimTarget(claimant()) : target;
            if (target < 0) {
                throw new LinuxException("take a target", Errno.ENOMEM, maps.targets()
                        + " queue pairs of the interface have flows, the most there can be");
            }
            return target;
        } finally {
            unlock();
        }
    }

    /** No flow has the target any more. */
    public void giveTarget(int target) throws LinuxException {
        lock();
        try {
            claims.releaseTarget(target);
        } finally {
            unlock();
        }
    }

    /** The maps. */
    public FlowMaps maps() {
        return maps;
    }

    /** The flows. */
    public FlowTable table() {
        return table;
    }

    /** Counters for this process's flows. */
    public CounterPool counters() {
        return counters;
    }

    /** Who this process is in {@link FlowEntry#owner()}; 0 if it has the program for itself. */
    public int owner() {
        return owner;
    }

    /**
     * Leaves: the flows of this process are gone, and if no other process uses the program, it is, too.
     *
     * @throws LinuxException if something could not be removed, which the next process does
     */
    @Override
    public void close() throws LinuxException {
        mutex.lock();
        try {
            leave();
        } finally {
            for (Fd fd : new @Nullable Fd[] {ownerFolder, sign, link}) {
                if (fd != null) {
                    fd.close();
                }
            }
            maps.close();
            if (folder != null) {
                folder.close(); // and unlocked
            }
            mutex.unlock();
        }
    }

    private void leave() throws LinuxException {
        SharedFolder f = folder;
        if (f == null) {
            return;
        }
        f.lock();
        List<SharedFolder.Owner> others = new ArrayList<>(f.owners());
        others.removeIf(o -> o.number() == owner);
        if (SharedFolder.alive(others).isEmpty()) {
            link.close(); // whoever makes the folder again finds the interface without a program
            f.clear();
            f.remove();
        } else {
            free(Set.of(owner));
            SharedFolder.delete(f.ownerPath(owner));
        }
    }
}
