// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.io.IOException;
import java.util.Properties;

import org.verbena.cli.stat.StatObject;
import org.verbena.cli.support.OtherProcess;
import org.verbena.cli.why.WhyProcess.Presence;

/** Whether a process has Verbena, and how it gets it. Immutable. */
record WhyPresence(Presence presence, String state, String remedy) {
    private static final String ACTIVE = "active";
    private static final String PENDING = "active when";
    private static final int NEEDED = 25;
    private static final String WITH = "with 'verbena run -- COMMAND' or -javaagent:verbena-agent.jar";

    /** Of a process that shows its sockets. */
    static WhyPresence shown(StatObject sockets) {
        if (!(sockets.attributes().get(ACTIVE) instanceof String active)) {
            return new WhyPresence(Presence.ACTIVE, "the program opens Verbena's channels itself", "");
        }
        String inactive = String.valueOf(sockets.attributes().getOrDefault("inactive", ""));
        return inactive.isEmpty()
                ? new WhyPresence(Presence.ACTIVE, "active, by the agent: " + active, "")
                : new WhyPresence(Presence.PARTLY, "the JDK's, not Verbena's: " + inactive + "; active: " + active,
                        "Another agent or a policy has taken these back: load Verbena's agent after it, or leave it"
                                + " out (docs/drop-in.md, Other agents).");
    }

    /**
     * Of a Java process that shows no sockets: its agent is asked.
     *
     * @param verbs whether it shows other objects of Verbena
     */
    static WhyPresence asked(OtherProcess process, boolean verbs) {
        long pid = process.pid();
        if (process.isStopped()) {
            return new WhyPresence(Presence.UNKNOWN, "unknown: it is stopped, and answers nobody",
                    "Let it continue (kill -CONT " + pid + "), and ask again.");
        }
        Properties properties;
        try {
            properties = process.properties();
        } catch (IOException e) {
            return byWords(process);
        }
        String state = properties.getProperty(OtherProcess.AGENT_STATE);
        return state != null ? byState(state, pid) : none(pid, properties, verbs);
    }

    static WhyPresence byState(String state, long pid) {
        if (state.startsWith(PENDING)) {
            return new WhyPresence(Presence.PENDING, "the agent is there; it has opened no socket yet", "");
        }
        return state.startsWith(ACTIVE)
                ? new WhyPresence(Presence.PENDING, state + "; it shows no sockets (yet)",
                        "Three seconds after its first"
                                + " socket it shows them: ask again. With counters=off, without room in /dev/shm, or where"
                                + " its /dev/shm is not that of this command nothing can be seen: ask where process "
                                + pid
                                + " runs, or share it (docker: --ipc container:NAME).")
                : new WhyPresence(Presence.REFUSED, state,
                        "Mend what that sentence names, and start the program anew.");
    }

    private static WhyPresence none(long pid, Properties properties, boolean verbs) {
        String version = properties.getProperty("java.specification.version", "unknown");
        String what = verbs
                ? "it uses Verbena's verbs; its sockets are the JDK's"
                : "none: this Java program runs without Verbena's agent";
        return isNewEnough(version)
                ? new WhyPresence(Presence.NONE, what, "For the sockets that it opens from now on: verbena attach "
                        + pid + ". For all: start it " + WITH + ".")
                : new WhyPresence(Presence.NONE, what + ", by Java " + version, "Verbena needs Java " + NEEDED
                        + " or newer: run it with that, " + WITH + ".");
    }

    private static boolean isNewEnough(String version) {
        try {
            return Integer.parseInt(version) >= NEEDED;
        } catch (NumberFormatException old) { // 1.8, or none
            return false;
        }
    }

    /** Of one that cannot be attached to: an agent stands among its words, or in a variable. */
    private static WhyPresence byWords(OtherProcess process) {
        String agent = process.agent();
        return agent != null
                ? new WhyPresence(Presence.UNKNOWN, "it was started with " + agent + ", and shows no sockets (yet)",
                        "Three seconds after its first socket it shows them: ask again.")
                : new WhyPresence(Presence.NONE, "none that can be seen; it lets nobody attach"
                        + " (-XX:+DisableAttachMechanism), or is about to end", "Start it " + WITH + ".");
    }
}
