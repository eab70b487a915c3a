// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An effect of {@code tc netem} on a virtual machine while a row runs.
 *
 * @param machine its name
 * @param incoming whether it applies to received frames instead of sent ones
 * @param effect as {@code tc netem} has it: {@code loss 3% delay 1ms}
 */
record Netem(String machine, boolean incoming, String effect) {
    /** Netem applies to frames that a device sends, so incoming ones are routed through this one. */
    private static final String DETOUR = "detour";
    private static final Pattern COUNTS = Pattern.compile(
            "qdisc netem [^\n]*\n Sent \\d+ bytes (\\d+) pkt \\(dropped (\\d+),");

    /**
     * What it has done.
     *
     * @param passed packets that it let through, duplicates included
     * @param dropped packets that it did not
     */
    record Counts(long passed, long dropped) {}

    /** The command that begins it. */
    String begin() {
        String netem = " root netem " + effect;
        return incoming
                ? "ip link add " + DETOUR + " type ifb && ip link set " + DETOUR + " up && tc qdisc replace dev "
                        + DETOUR + netem
                        + " && tc qdisc add dev eth0 ingress && tc filter add dev eth0 ingress matchall "
                        + "action mirred egress redirect dev " + DETOUR
                : "tc qdisc replace dev eth0" + netem;
    }

    /** The command that ends it and prints its {@link #counts}. It ends, too, what begun only in part. */
    String end() {
        return incoming
                ? "tc -s qdisc show dev " + DETOUR + "; tc qdisc del dev eth0 ingress; ip link del " + DETOUR
                : "tc -s qdisc show dev eth0; tc qdisc del dev eth0 root";
    }

    /** What the output of {@link #end} says. */
    static Counts counts(String output) {
        Matcher m = COUNTS.matcher(output);
        if (!m.find()) {
            throw new IllegalArgumentException("tc tells no counts of netem: " + output);
        }
        return new Counts(Long.parseLong(m.group(1)), Long.parseLong(m.group(2)));
    }

    /** Empty, or the fault: a row that should lose packets, and lost none, has shown nothing. */
    String judge(Counts counts) {
        return loses() && counts.dropped() == 0
                ? "netem: " + this + ": lost none of " + counts.passed()
                        + " packets, so nothing was seen: send more of them"
                : "";
    }

    /** Whether it is to lose packets. */
    boolean loses() {
        return effect.matches("(.* )?loss .*");
    }

    /** For a person. */
    @Override
    public String toString() {
        return machine + (incoming ? " receives: " : " sends: ") + effect;
    }
}
