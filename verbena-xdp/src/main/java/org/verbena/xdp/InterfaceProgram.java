// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.telemetry.CounterFile;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.program.FlowAction;
import org.verbena.xdp.program.FlowEntry;
import org.verbena.xdp.program.FlowMaps;
import org.verbena.xdp.program.FlowMatch;
import org.verbena.xdp.program.FlowTable;
import org.verbena.xdp.program.SharedProgram;
import org.verbena.xdp.program.Spread;

/**
 * The XDP program of an interface, with the flows of this process. The process joins it with its first flow, and leaves it with
 * its last, so that the kernel's own packets do not pass it in vain. Thread-safe.
 */
final class InterfaceProgram {
    private static final Map<String, InterfaceProgram> ALL = new HashMap<>();

    private final String name;
    private final SharedProgram program;
    private final Set<InstalledFlow> counted = ConcurrentHashMap.newKeySet();
    private final Runnable endGathering;
    private int users;

    private InterfaceProgram(String name, String namespace, XdpDevice device, int queues) throws LinuxException {
        this.name = name;
        program = SharedProgram.join(new SharedProgram.Interface(namespace, device.index(), queues, device.isGeneric()
                ? Bpf.XDP_FLAGS_SKB_MODE
                : Bpf.XDP_FLAGS_DRV_MODE));
        endGathering = CounterFile.own().onGather(() -> counted.forEach(InstalledFlow::gather));
    }

    /** The program of the device's interface, which is attached if it is not; the caller releases it. */
    static InterfaceProgram acquire(String verb, XdpContext context) throws VerbsException {
        String namespace = QueueSocket.namespace();
        String name = namespace + "/" + context.xdpDevice().index();
        synchronized (ALL) {
            InterfaceProgram p = ALL.get(name);
            if (p == null) {
                try {
                    p = new InterfaceProgram(name, namespace.replaceAll("[^0-9]", ""), context.xdpDevice(), context
                            .queues());
                } catch (LinuxException e) {
                    throw new VerbsException(verb, e);
                }
                ALL.put(name, p);
            }
            p.users++;
            return p;
        }
    }

    /** Leaves the program if nobody else has acquired it. */
    void release() {
        synchronized (ALL) {
            users--;
            if (users == 0) {
                ALL.remove(name);
                endGathering.run();
                try {
                    program.close();
                } catch (LinuxException e) {
                    XdpLog.log(System.Logger.Level.WARNING, "the next process on the interface cleans up", e);
                }
            }
        }
    }

    /** A number for a queue pair that packets go to. */
    int takeTarget(String verb) throws VerbsException {
        try {
            return program.takeTarget();
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    void giveTarget(int i) {
        try {
            program.giveTarget(i);
        } catch (LinuxException e) { // it is free when the process leaves the program
            XdpLog.log(System.Logger.Level.WARNING, "target " + i + " stays in use", e);
        }
    }

    /** Sets the socket of a target and a queue, which leaves by itself when it is closed. */
    void redirect(String verb, int target, int queue, Fd socket) throws VerbsException {
        FlowMaps maps = program.maps();
        if (queue >= maps.queues()) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "the interface's program was attached when there were "
                    + maps.queues() + " queues, and queue " + queue
                    + " came later: close all flows of the interface first");
        }
        try {
            maps.redirect(target, queue, socket);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** Takes the socket of a target and a queue out, if there is one. */
    void unredirect(int target, int queue) {
        FlowMaps maps = program.maps();
        if (queue < maps.queues()) {
            try {
                maps.unredirect(target, queue);
            } catch (LinuxException e) {
                XdpLog.log(System.Logger.Level.WARNING, "packets of target " + target + " still go to its socket", e);
            }
        }
    }

    /** Sets over which targets the packets of a target are spread. */
    void spread(String verb, int target, Spread way) throws VerbsException {
        try {
            program.maps().spread(target, way);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    void unspread(int target) {
        try {
            program.maps().unspread(target);
        } catch (LinuxException e) { // it is replaced when the target is taken again
            XdpLog.log(System.Logger.Level.WARNING, "what target " + target + " was spread over stays", e);
        }
    }

    FlowMaps maps() {
        return program.maps();
    }

    /** A counter for a flow, or 0. */
    int takeCounter(String verb, boolean asked) throws VerbsException {
        try {
            return program.counters().take(asked);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** Of a flow that there is not. */
    void giveCounter(int counter, boolean asked) {
        program.counters().give(counter, asked);
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
        giveCounter(counter, asked);
    }

    FlowTable.Entry add(String verb, FlowMatch match, FlowAction action, int target, int counter)
            throws VerbsException {
        try {
            return program.table().add(match, new FlowEntry(action, target, counter, program.owner()));
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }
}
