// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfLink;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.XdpAttachment;
import org.verbena.linux.Xsk;

/** What is open while a process joins the program of an interface; under the lock of the folder. */
final class ProgramOpening {
    private static final String LINK = "link";
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    final @Nullable SharedFolder folder;
    @Nullable FlowMaps maps;
    @Nullable Fd link;
    @Nullable Fd ownerFolder;
    @Nullable Fd sign;
    int owner;
    private boolean first;

    ProgramOpening(@Nullable SharedFolder folder) {
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

    void join(SharedProgram.Interface i) throws LinuxException {
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
    void attach(SharedProgram.Interface i) throws LinuxException {
        FlowMaps m = FlowMaps.create(FlowMaps.Capacity.USUAL, i.queues());
        maps = m;
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE); Fd program = FlowProgram.load(m)) {
            long begin = System.nanoTime();
            while (link == null) {
                try {
                    link = FlowProgram.attach(program, netlink, i.index(), i.mode());
                } catch (LinuxException e) {
                    if (e.errno() != Errno.EBUSY || System.nanoTime() - begin > PATIENCE_NANOS
                            || !isLeaving(netlink, i.index())) {
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

    private void open(SharedProgram.Interface i, List<SharedFolder.Owner> alive) throws LinuxException {
        SharedFolder f = folder();
        String what = "join the XDP program of interface " + i.index();
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
        if (BpfLink.of(link()).ifindex() != i.index()) {
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
