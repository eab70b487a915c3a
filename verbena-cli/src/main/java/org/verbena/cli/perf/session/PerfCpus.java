// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.support.CommandException;
import org.verbena.linux.CpuAffinity;
import org.verbena.linux.LinuxException;

/** Chooses processors for the two measuring threads and binds them while they measure. */
public final class PerfCpus {
    /** Leave it to the kernel. */
    static final int ANY = -1;

    private PerfCpus() {}

    /** Two processors that share no core, if possible: first that of the initiator, then that of the target. */
    static int[] pair(BitSet allowed) {
        int first = allowed.nextSetBit(0);
        int second = allowed.nextSetBit(first + 1);
        BitSet siblings = siblings(first);
        for (int i = second; i >= 0; i = allowed.nextSetBit(i + 1)) {
            if (!siblings.get(i)) {
                return new int[] {first, i};
            }
        }
        return new int[] {first, second};
    }

    /** The processors of the measuring side and of its peer; empty if they are not bound. */
    public static List<Integer> chosen(PerfOptions options, boolean oneHost) throws CommandException {
        if (!options.pin()) {
            return List.of();
        }
        if (!options.cpus().isEmpty()) {
            return options.cpus();
        }
        int[] pair = pair(allowed());
        return List.of(pair[0], pair[oneHost ? 1 : 0]);
    }

    /** Fails if a processor that a person has named cannot be used. */
    public static void require(List<Integer> cpus) throws CommandException {
        BitSet allowed = allowed();
        for (int cpu : cpus) {
            if (!allowed.get(cpu)) {
                throw new CommandException("CPU " + cpu + " of --cpus cannot be used: this process may use "
                        + allowed + (allowed.cardinality() == 1 ? " only" : "")
                        + ", see nproc, taskset and the container's CPU set");
            }
        }
    }

    private static BitSet siblings(int cpu) {
        BitSet set = new BitSet();
        try {
            String list = Files.readString(Path.of("/sys/devices/system/cpu/cpu" + cpu
                    + "/topology/thread_siblings_list"));
            for (String range : list.strip().split(",", -1)) {
                String[] ends = range.split("-", -1);
                set.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
            }
        } catch (IOException | NumberFormatException e) {
            set.set(cpu);
        }
        return set;
    }

    /** Runs the loop on a processor, if that is allowed here. Threads made by the loop's set-up stay free. */
    static void run(PerfLoop loop, long n, int cpu) throws IOException {
        BitSet before = allowed();
        if (cpu == ANY || !before.get(cpu)) {
            loop.run(n);
            return;
        }
        BitSet one = new BitSet();
        one.set(cpu);
        set(one);
        try {
            loop.run(n);
        } finally {
            set(before);
        }
    }

    public static BitSet allowed() throws CommandException {
        try {
            return CpuAffinity.get();
        } catch (LinuxException e) {
            throw new CommandException("cannot see which CPUs may be used: " + e.getMessage(), e);
        }
    }

    private static void set(BitSet cpus) throws CommandException {
        try {
            CpuAffinity.set(cpus);
        } catch (LinuxException e) {
            throw new CommandException("cannot bind the measuring thread: " + e.getMessage()
                    + " (--no-pin measures without)", e);
        }
    }
}
