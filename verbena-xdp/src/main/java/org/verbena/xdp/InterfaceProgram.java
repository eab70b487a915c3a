// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.telemetry.CounterFile;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.CounterPool;
import org.verbena.xdp.program.FlowAction;
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
    private final CounterPool counters;
    private final Set<InstalledFlow> counted = ConcurrentHashMap.newKeySet();
    private final Runnable endGathering;
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
        counters = CounterPool.all(maps);
        endGathering = CounterFile.own().onGather(() -> counted.forEach(InstalledFlow::gather));
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
                endGathering.run();
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

    FlowMaps maps() {
        return maps;
    }

    /** A counter for a flow, or 0. */
    int takeCounter(String verb, boolean asked) throws VerbsException {
        try {
            return counters.take(asked);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** Of a flow that there is not. */
    void giveCounter(int counter, boolean asked) {
        counters.give(counter, asked);
    }

    /** A flow is in the maps. */
    void added(InstalledFlow flow) {
        if (flow.isCounted()) {
            counted.add(flow);
        }
    }

    /** A flow is in the maps no more. */
    void removed(InstalledFlow flow, int counter, boolean asked) {
        counted.remove(flow);
        counters.give(counter, asked);
    }

    FlowTable.Entry add(String verb, FlowMatch match, FlowAction action, int target, int counter)
            throws VerbsException {
        try {
            return table.add(match, new FlowEntry(action, target, counter, 0));
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }
}
