// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.FlowEntry;
import org.verbena.xdp.program.FlowMaps;
import org.verbena.xdp.program.FlowMatch;
import org.verbena.xdp.program.FlowProgram;
import org.verbena.xdp.program.FlowTable;

/**
 * The XDP program of an interface, with the flows of this process. It is attached with the first flow, and taken away with
 * the last, so that the kernel's own packets do not pass it in vain. Thread-safe.
 */
final class InterfaceProgram {
    private static final Map<String, InterfaceProgram> ALL = new HashMap<>();

    private final String name;
    private final FlowMaps maps;
    private final FlowTable table;
    private final Fd link;
    private final BitSet targets = new BitSet();
    private final int maxTargets = FlowMaps.Capacity.USUAL.targets();
    private int users;

    private InterfaceProgram(String name, XdpDevice device, int queues) throws LinuxException {
        this.name = name;
        maps = FlowMaps.create(FlowMaps.Capacity.USUAL, queues);
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE); Fd program = FlowProgram.load(maps)) {
            table = new FlowTable(maps);
            link = FlowProgram.attach(program, netlink, device.index(), device.isGeneric()
                    ? Bpf.XDP_FLAGS_SKB_MODE
                    : Bpf.XDP_FLAGS_DRV_MODE);
        } catch (LinuxException | RuntimeException e) {
            maps.close();
            throw e;
        }
    }

    /** The program of the device's interface, which is attached if it is not; the caller releases it. */
    static InterfaceProgram acquire(String verb, XdpContext context) throws VerbsException {
        String name = QueueSocket.namespace() + "/" + context.xdpDevice().index();
        synchronized (ALL) {
            InterfaceProgram p = ALL.get(name);
            if (p == null) {
                try {
                    p = new InterfaceProgram(name, context.xdpDevice(), context.queues());
                } catch (LinuxException e) {
                    throw new VerbsException(verb, e);
                }
                ALL.put(name, p);
            }
            p.users++;
            return p;
        }
    }

    /** Takes the program away if nobody else has acquired it. */
    void release() {
        synchronized (ALL) {
            users--;
            if (users == 0) {
                ALL.remove(name);
                link.close();
                maps.close();
            }
        }
    }

    /** A number for a queue pair that packets go to. */
    synchronized int takeTarget(String verb) throws VerbsException {
        int i = targets.nextClearBit(0);
        if (i >= maxTargets) {
            throw new VerbsException(verb, Errno.ENOMEM, maxTargets
                    + " queue pairs of the interface have flows, the most there can be");
        }
        targets.set(i);
        return i;
    }

    synchronized void giveTarget(int i) {
        targets.clear(i);
    }

    /** Sets the socket of a queue pair, which leaves by itself when it is closed. */
    void redirect(String verb, int target, QueueSocket socket) throws VerbsException {
        try {
            maps.redirect(target, socket.queue, socket.fd());
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    FlowTable.Entry add(String verb, FlowMatch match, FlowEntry entry) throws VerbsException {
        try {
            return table.add(match, entry);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }
}
