// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfFileSystem;
import org.verbena.linux.BpfLink;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.XdpAttachment;
import org.verbena.linux.Xsk;

/**
 * The program of an interface as this process uses it. It is attached by the first process that joins, and goes with the last
 * one that leaves; processes that are killed leave nothing behind that counts. Thread-safe.
 *
 * <p>The processes find the maps by the files of a {@link SharedFolder}, and the attachment by its number. No file keeps the
 * attachment where processes may open it by number (CAP_SYS_ADMIN), so that the program also goes when all of them
 * are killed. Where there is no file system of type bpf and none can be mounted, the process has the program for itself.
 */
public final class SharedProgram implements AutoCloseable {
    private static final String LINK = "link";
    private static final String FOLDER = "verbena";
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

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

    private SharedProgram(Opening o) {
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
        Opening o = new Opening(folder);
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
        Opening o = new Opening(null);
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

    /** What is open while a process joins. */
    private static final class Opening {
        final @Nullable SharedFolder folder;
        @Nullable FlowMaps maps;
        @Nullable Fd link;
        @Nullable Fd ownerFolder;
        @Nullable Fd sign;
        int owner;
        private boolean first;

        Opening(@Nullable SharedFolder folder) {
            this.folder = folder;
        }

        FlowMaps maps() {
            FlowMaps m = maps;
            if (m == null) {
                throw new IllegalStateException("there are no maps");
            }
            return m;
        }

        Fd link() {
            Fd l = link;
            if (l == null) {
                throw new IllegalStateException("there is no attachment");
            }
            return l;
        }

        private SharedFolder folder() {
            SharedFolder f = folder;
            if (f == null) {
                throw new IllegalStateException("there is no folder");
            }
            return f;
        }

        void join(Interface i) throws LinuxException {
            SharedFolder f = folder();
            List<SharedFolder.Owner> owners = f.owners();
            List<SharedFolder.Owner> alive = SharedFolder.alive(owners);
            if (alive.isEmpty()) {
                first = true;
                f.clear();
                f.setLayout(MaskList.LAYOUT);
                attach(i);
                publish();
            } else {
                open(i, alive);
            }
            addOwner(owners);
        }

        /** Makes the maps and attaches the program. */
        void attach(Interface i) throws LinuxException {
            FlowMaps m = FlowMaps.create(FlowMaps.Capacity.USUAL, i.queues);
            maps = m;
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE); Fd program = FlowProgram.load(m)) {
                long begin = System.nanoTime();
                while (link == null) {
                    try {
                        link = FlowProgram.attach(program, netlink, i.index, i.mode);
                    } catch (LinuxException e) {
                        if (e.errno() != Errno.EBUSY || System.nanoTime() - begin > PATIENCE_NANOS
                                || !isLeaving(netlink, i.index)) {
                            throw e;
                        }
                        LockSupport.parkNanos(PAUSE_NANOS);
                    }
                }
            }
        }

        /** Whether the interface has a program of Verbena that no process has, or none: it goes in a moment. */
        private static boolean isLeaving(Netlink netlink, int index) throws LinuxException {
            XdpAttachment there = XdpAttachment.of(netlink, index).orElse(null);
            return there == null || there.name().equals(FlowProgram.NAME) && there.holders().isEmpty();
        }

        /** Lets other processes find the maps and the attachment. */
        private void publish() throws LinuxException {
            FlowMaps m = maps();
            int id = BpfLink.of(link()).id();
            m.writeMasks(m.readMasks().withLink(id));
            try {
                BpfLink.open(id).close();
            } catch (LinuxException e) {
                if (e.errno() != Errno.EPERM) {
                    throw e;
                }
                Bpf.pin(link(), folder().path().resolve(LINK));
            }
            m.pin(folder().path());
        }

        private void open(Interface i, List<SharedFolder.Owner> alive) throws LinuxException {
            SharedFolder f = folder();
            String what = "join the XDP program of interface " + i.index;
            if (f.layout() != MaskList.LAYOUT) {
                throw new LinuxException(what, Errno.EBUSY, SharedFolder.processes(alive)
                        + " with another version of Verbena " + (alive.size() == 1 ? "uses" : "use") + " it, by layout "
                        + f.layout() + " in place of " + MaskList.LAYOUT + ": end them, or use the same version");
            }
            try {
                FlowMaps m = FlowMaps.open(f.path());
                maps = m;
                link = openLink(f, m.readMasks().link());
            } catch (LinuxException e) {
                if (e.errno() == Errno.EMFILE || e.errno() == Errno.EPERM || e.errno() == Errno.EACCES) {
                    throw e;
                }
                LinuxException damaged = new LinuxException(what, Errno.EBADMSG, "the files in " + f.path()
                        + " are damaged: end " + SharedFolder.processes(alive) + " (" + e.getMessage() + ")");
                damaged.initCause(e);
                throw damaged;
            }
            if (BpfLink.of(link()).ifindex() != i.index) {
                throw new LinuxException(what, Errno.EBUSY, SharedFolder.processes(alive)
                        + " had flows on an interface of the same number, which is gone: end them");
            }
        }

        private static Fd openLink(SharedFolder f, int id) throws LinuxException {
            try {
                return Bpf.open(f.path().resolve(LINK));
            } catch (LinuxException e) {
                if (e.errno() != Errno.ENOENT) {
                    throw e;
                }
            }
            try {
                return BpfLink.open(id);
            } catch (LinuxException e) {
                if (e.errno() != Errno.EPERM) {
                    throw e;
                }
                throw new LinuxException(e.call(), Errno.EPERM,
                        "the program was attached by a process with CAP_SYS_ADMIN, and only such can share it");
            }
        }

        private void addOwner(List<SharedFolder.Owner> others) throws LinuxException {
            Set<Integer> taken = others.stream().map(SharedFolder.Owner::number).collect(Collectors.toSet());
            int number = 1;
            while (!first && taken.contains(number)) {
                number++;
            }
            if (number > FlowEntry.MAX_OWNER) {
                throw new LinuxException("join the XDP program", Errno.ENOMEM, FlowEntry.MAX_OWNER
                        + " processes have flows on the interface, the most there can be");
            }
            owner = number;
            Fd alive = Xsk.socket();
            sign = alive;
            maps().owners().update(FlowMaps.index(number), FlowMaps.index(alive.value()), BpfMap.BPF_ANY);
            ownerFolder = folder().addOwner(number);
        }

        /** The process has not joined: nothing of it stays. */
        void undo() {
            SharedFolder f = folder;
            if (f != null) {
                try {
                    if (owner != 0) {
                        SharedFolder.delete(f.ownerPath(owner));
                    }
                    if (first || SharedFolder.alive(f.owners()).isEmpty()) {
                        f.clear();
                        f.remove();
                    }
                } catch (LinuxException left) {
                    System.getLogger("org.verbena.xdp").log(System.Logger.Level.WARNING,
                            "the next process on the interface cleans up", left);
                }
            }
            for (Fd fd : new @Nullable Fd[] {ownerFolder, sign, link}) {
                if (fd != null) {
                    fd.close();
                }
            }
            FlowMaps m = maps;
            if (m != null) {
                m.close();
            }
            if (f != null) {
                f.close(); // and unlocked
            }
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
