// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.util.BitSet;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;
import org.verbena.linux.CpuAffinity;
import org.verbena.linux.LinuxException;

/** Binds threads to processors that are named as in /proc: {@code 0,2-3}. */
final class Affinity {
    private static final int MOST = 8_191;

    private Affinity() {}

    /** Binds the calling thread; null leaves it. */
    static void bind(String option, @Nullable String list) throws CommandException {
        if (list == null) {
            return;
        }
        BitSet cpus = parse(option, list);
        try {
            CpuAffinity.set(cpus);
        } catch (LinuxException e) {
            throw new CommandException(option + " " + list + ": this process may not run there: " + e.getMessage(), e);
        }
    }

    /** Refuses what is no list; null is none. */
    static void check(String option, @Nullable String list) throws CommandException {
        if (list != null) {
            BitSet _ = parse(option, list);
        }
    }

    static BitSet parse(String option, String list) throws CommandException {
        BitSet cpus = new BitSet();
        for (String range : list.split(",", -1)) {
            if (!range.matches("[0-9]{1,4}(-[0-9]{1,4})?")) {
                throw new CommandException(option + " " + list + " is not a list of processors such as 0,2-3");
            }
            String[] ends = range.split("-", -1);
            int first = Integer.parseInt(ends[0]);
            int last = Integer.parseInt(ends[ends.length - 1]);
            if (first > last || last > MOST) {
                throw new CommandException(option + " " + list + ": " + range + " is no range of processors");
            }
            cpus.set(first, last + 1);
        }
        return cpus;
    }
}
