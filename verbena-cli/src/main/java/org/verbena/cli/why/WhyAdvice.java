// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;

/**
 * What the reasons mean for which TCP carries connections, and what to change.
 *
 * @param meaning a sentence or two
 * @param remedy what to do; empty if there is nothing to do
 */
record WhyAdvice(String meaning, String remedy) {
    private static final String RUN = "'verbena run -- COMMAND'";
    private static final String LATER = "A connection that is made after that has rings.";

    /** About one of a group of connections, of which all that the advice depends on is the same. */
    static WhyAdvice of(WhyConnection c) {
        return switch (c.carrier()) {
            case RING -> new WhyAdvice(c.device().isEmpty()
                    ? "Both ends have Verbena, and rings in shared memory carry it."
                    : "Both ends have Verbena, and rings carry it by the device " + c.device() + ".", "");
            case RING_AND_TCP -> new WhyAdvice(
                    "Each direction changes by itself: one has changed to its ring, the other"
                            + " has not written since, or has ended before.", "");
            case UNDECIDED -> new WhyAdvice("The handshake of the two ends is under way.", "Ask again in a moment.");
            case CONNECTING -> new WhyAdvice("TCP has not connected it yet; nothing can carry it before that.",
                    "If it stays so: nobody accepts at the other end, or a firewall drops what is sent there.");
            case NOT_VERBENA -> new WhyAdvice("It was opened before Verbena came into the process, or by code that is"
                    + " not Java's.", "Open it anew, or start the program with " + RUN + ".");
            case TCP -> ofReason(c.reason(), c.peer(), c.rule(), c.bytes());
        };
    }

    /** About a reason of a connection that Verbena has and TCP carries. */
    static WhyAdvice ofReason(String reason, @Nullable WhyPeer peer, @Nullable WhyRule rule, long bytes) {
        return switch (reason) {
            case "remote_peer" -> new WhyAdvice("The kernel finds no socket here for the other end: it is on another"
                    + " host, in another network namespace (a container), or behind a proxy or translated addresses.",
                    "On one host: run both ends in one network namespace (docker: --network container:NAME, or host),"
                            + " and connect without the proxy. Between hosts: a rule with 'device NAME' at both ends"
                            + " (docs/rules.md, Other hosts).");
            case "plain_peer" -> plain(peer);
            case "other_user" -> new WhyAdvice("The other end belongs to another user" + (peer == null
                    ? ""
                    : " (" + peer.name() + ")") + ": users do not share memory.",
                    "Run both programs as one user. " + LATER);
            case "other_namespace" -> new WhyAdvice("The other end is in another user or PID namespace, or nothing"
                    + " proves that it is not.", "Share them (docker: --pid container:NAME or host, one --userns),"
                            + " let /proc be mounted in both, and let both processes be"
                            + " dumpable (docs/guides/containers.md; docs/shm.md, Trust). " + LATER);
            case "other_version" -> new WhyAdvice("The other end has a Verbena of another version, which this one does"
                    + " not understand.", "Use one version at both ends, and start the older program anew.");
            case "name_taken" -> new WhyAdvice("Another process holds the abstract name at which the other end would"
                    + " connect (@verbena-stream-...).",
                    "Find it with: ss -xlp | grep verbena-stream. End it: only the two ends of a connection use its"
                            + " name.");
            case "bad_peer" -> new WhyAdvice("The other end said something that is no handshake of Verbena's.",
                    "Use one version at both ends; if they have it, report what the logger org.verbena.sockets says"
                            + " in both.");
            case "closed_early" -> new WhyAdvice("One of its ends was closed before the handshake was complete.",
                    "Nothing, if the program has closed it. Programs that close at once gain by keeping connections"
                            + " (a pool).");
            case "unavailable" -> new WhyAdvice("This process has no device, no native access, or may not ask the"
                    + " kernel about sockets; it has logged the reason once (org.verbena.sockets).",
                    "See 'This machine' below; start the program with " + RUN + ", or grant native access"
                            + " (--enable-native-access); allow memfd_create and netlink in the container's seccomp"
                            + " filter.");
            case "no_memory" -> new WhyAdvice("There was no memory for its rings.",
                    "Raise the limit (memory.max, docker --memory) or free memory; or take smaller rings"
                            + " (verbena.stream.ring), or more for a session (verbena.stream.memory). " + LATER);
            case "no_descriptors" -> new WhyAdvice("The process had no descriptor left for it: the last ones are the"
                    + " program's.", "Raise the limit: ulimit -n 4096 or more (systemd: LimitNOFILE=, docker: --ulimit"
                            + " nofile=), and start the program anew.");
            case "no_session" -> new WhyAdvice("The queue pairs of the two processes could not be connected.",
                    "See 'This machine' below, and what the logger org.verbena.sockets says in both processes. "
                            + LATER);
            case "rule" -> rule == null
                    ? new WhyAdvice("The program wants the kernel's TCP: verbena.offload=off, or it calls"
                            + " Verbena.offload.", "Leave that out. " + LATER)
                    : new WhyAdvice("A rule says so.", "Change the rule, or put one for stream before it ("
                            + "'verbena rules explain' tries it out). " + LATER);
            case "not_earned" -> new WhyAdvice("It has carried too little so far" + (bytes < 0
                    ? ""
                    : " (" + HumanText.size(bytes) + ")") + ": it takes rings at 1 MiB, or 256 messages that answer"
                    + " each other.", "Nothing: it changes by itself. At once: stream.earn=0 for the agent, or"
                            + " 'at-once' behind a rule, at both ends.");
            case "foreign_selector" -> new WhyAdvice("The program has registered it with a selector from before"
                    + " 'verbena attach', which the kernel serves.", "Start the program with " + RUN
                            + " rather than attach.");
            case "" -> new WhyAdvice("TCP carries it, and the process gives no reason.", "Ask again in a moment.");
            default -> new WhyAdvice("The process gives a reason that this command does not know.",
                    "Use the command of the Verbena that the process has.");
        };
    }

    private static WhyAdvice plain(@Nullable WhyPeer peer) {
        if (peer == null || peer.pid() == 0) {
            return new WhyAdvice("The other end is on this host and has not spoken of Verbena in time" + (peer == null
                    ? ""
                    : " (" + peer.name() + ")") + ".",
                    "Give the other program Verbena: " + RUN + ", or 'verbena attach PID' for what it opens from then"
                            + " on.");
        }
        if (!peer.java()) {
            return new WhyAdvice("The other end is no Java program: it has no Verbena, and TCP is what both have.", "");
        }
        return peer.verbena()
                ? new WhyAdvice("The other end has Verbena by now, but has not spoken of it in time: its socket is"
                        + " from before, it was busy, or the two counted messages differently.",
                        "Connect anew; where a listener there is from before 'verbena attach', open that anew ("
                                + "'verbena why " + peer.pid() + "' says so). A busy machine needs a longer"
                                + " stream.patience.")
                : new WhyAdvice("The other end runs Java without Verbena.", "Start it with " + RUN
                        + ", or: verbena attach " + peer.pid() + ". " + LATER);
    }
}
