// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.stat.StatFailure;
import org.verbena.cli.stat.StatObject;
import org.verbena.cli.stat.StatProcess;
import org.verbena.cli.stat.StatReader;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.OtherProcess;
import org.verbena.linux.Errno;
import org.verbena.linux.ProcTcp;
import org.verbena.sockets.SocketObjectType;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.VerbsException;

/** Looks at processes: what they publish, what the kernel has of them, and at the other ends. Not safe for use by several threads. */
final class WhyLook implements AutoCloseable {
    private static final int PORTS = 65535;

    private final StatReader reader = new StatReader(false, true);
    private final Map<Long, WhyPeer> peers = new HashMap<>();
    private @Nullable Map<Long, Long> owners;

    /** The sockets of a port, and whose they are. */
    record Port(List<WhyProcess> processes, List<String> notes) {}

    @Override
    public void close() {
        reader.close();
    }

    /**
     * A process, with all its sockets.
     *
     * @throws CommandException if it has no answer: it is not there, another user's, or runs no Java
     */
    WhyProcess process(long pid) throws IOException, InterruptedException {
        OtherProcess p = OtherProcess.find(pid).orElseThrow(() -> new CommandException("there is no process " + pid
                + ": 'verbena stat' lists those that have Verbena" + (pid > PORTS
                        ? ""
                        : ", and 'verbena why :" + pid + "' asks about a port")));
        String refused = p.refusal();
        if (refused != null) {
            throw new CommandException(refused + ": ask as that user, or as root");
        }
        return look(p, address -> true, true);
    }

    /** Whether the kernel has a socket with a port, in this network namespace. */
    static boolean isPort(int port) {
        return ProcTcp.all(Path.of("/proc/self")).stream().anyMatch(t -> t.hasPort(port));
    }

    /**
     * All processes that have a port, at either end.
     *
     * @throws CommandException if nobody has it, or only other users
     */
    Port port(int port) throws IOException, InterruptedException {
        List<ProcTcp> sockets = ProcTcp.all(Path.of("/proc/self")).stream().filter(t -> t.hasPort(port)).toList();
        Set<Long> pids = new TreeSet<>();
        Set<Integer> hidden = new TreeSet<>();
        for (ProcTcp t : sockets) {
            Long pid = owners().get(t.inode());
            if (pid != null) {
                pids.add(pid);
            } else if (t.inode() != 0) {
                hidden.add(t.uid());
            }
        }
        String end = ":" + port;
        if (sockets.isEmpty()) { // in another network namespace
            for (StatProcess p : reader.all().processes()) {
                if (p.objects().stream().anyMatch(o -> attribute(o, "local").endsWith(end) || attribute(o, "remote")
                        .endsWith(end))) {
                    pids.add(p.pid());
                }
            }
        }
        if (pids.isEmpty()) {
            throw new CommandException(nobody(port, hidden));
        }
        List<WhyProcess> found = new ArrayList<>();
        for (long pid : pids) {
            Optional<OtherProcess> p = OtherProcess.find(pid);
            if (p.isPresent()) {
                try {
                    found.add(look(p.get(), address -> address.endsWith(end), false));
                } catch (CommandException e) {
                    // it has ended meanwhile
                }
            }
        }
        if (found.isEmpty()) {
            throw new CommandException("the processes that had port " + port + " have ended: ask again");
        }
        return new Port(found, hidden.stream().map(u -> "User " + Integer.toUnsignedString(u) + " has sockets of port "
                + port + ", too: as root it can be seen in which process.").toList());
    }

    private static String nobody(int port, Set<Integer> hidden) {
        return hidden.isEmpty()
                ? "no TCP socket here has port " + port + ", neither a listener nor a connection: start the program"
                        + " that is to have it; one in a container of its own (network namespace) is asked about there,"
                        + " or by its process number"
                : "port " + port + " is of user " + String.join(", ", hidden.stream().map(Integer::toUnsignedString)
                        .toList()) + ", whose processes this user may not see: ask as that user, or as root";
    }

    private Map<Long, Long> owners() {
        Map<Long, Long> known = owners;
        if (known == null) {
            known = WhySockets.owners();
            owners = known;
        }
        return known;
    }

    private static String attribute(StatObject o, String name) {
        return o.attributes().get(name) instanceof String s ? s : "";
    }

    /** @param strict whether a process that runs no Java is an error */
    private WhyProcess look(OtherProcess p, Predicate<String> wanted, boolean strict) throws IOException {
        Optional<StatProcess> stat = statistics(p.pid());
        List<StatObject> objects = stat.map(StatProcess::objects).orElse(List.of());
        Optional<StatObject> sockets = objects.stream().filter(o -> o.type() == SocketObjectType.SOCKETS).findFirst();
        String command = p.command();
        WhyPresence has;
        if (sockets.isPresent()) {
            has = WhyPresence.shown(sockets.get());
        } else if (p.isJava()) {
            has = WhyPresence.asked(p, stat.isPresent());
        } else if (!p.isAlive()) {
            throw ended(p.pid());
        } else if (strict) {
            throw new CommandException("process " + p.pid() + (command.isEmpty()
                    ? ""
                    : " (" + HumanText.printable(command.split(" ", 2)[0]) + ")")
                    + " does not run Java: Verbena is for Java programs. Ask about the java process itself ('jps' lists"
                    + " those of this user), or about a port ('verbena why :PORT')");
        } else {
            has = new WhyPresence(WhyProcess.Presence.NONE, "none: it does not run Java", "");
        }
        Ends ends = new Ends(p, wanted);
        List<WhyConnection> connections = new ArrayList<>();
        Set<String> shown = new HashSet<>();
        WhyRules rules = new WhyRules(p, objects);
        List<String> listeners = new ArrayList<>();
        for (StatObject o : objects) {
            String local = attribute(o, "local");
            String remote = attribute(o, "remote");
            if (o.type() == SocketObjectType.LISTENER) {
                shown.add(wildcard(local));
                if (wanted.test(local)) {
                    listeners.add(local);
                }
            } else if (o.type() == SocketObjectType.CONNECTION) {
                shown.add(local + " " + remote);
                if (wanted.test(local) || wanted.test(remote)) {
                    connections.add(published(o, local, remote, ends, rules));
                }
            }
        }
        long notShown = sockets.map(s -> s.attributes().get("notShown") instanceof Long n ? n : 0L).orElse(0L);
        List<String> plain = new ArrayList<>();
        if (notShown == 0) {
            ends.add(shown, connections, plain);
        }
        return new WhyProcess(p.pid(), command, has.presence(), has.state(), has.remedy(), connections, listeners,
                plain,
                notes(p, stat, sockets, notShown));
    }

    private Optional<StatProcess> statistics(long pid) throws IOException {
        try {
            reader.forget();
            return Optional.of(reader.one(pid).processes().getFirst());
        } catch (VerbsException e) {
            if (e.errno() == Errno.ENOENT) {
                return Optional.empty();
            }
            throw e.errno() == Errno.ESRCH ? ended(pid) : e;
        } catch (StatFailure.Ended e) {
            throw ended(pid);
        }
    }

    private static CommandException ended(long pid) {
        return new CommandException("process " + pid + " has ended");
    }

    private static List<String> notes(OtherProcess p, Optional<StatProcess> stat, Optional<StatObject> sockets,
            long notShown) {
        List<String> notes = new ArrayList<>();
        stat.map(StatProcess::remark).filter(r -> !r.isEmpty()).ifPresent(notes::add);
        if (notShown != 0) {
            notes.add(notShown + " of its sockets are not shown: -Dverbena.counters.sockets=N lets it show more.");
        }
        if (sockets.isPresent() && Boolean.TRUE.equals(sockets.get().attributes().get("memoryShort"))) {
            notes.add("Memory is short: no large ring is granted.");
        }
        for (String[] kind : new String[][] {{"net", "network"}, {"mnt", "mount"}, {"pid", "PID"}, {"user", "user"}}) {
            if (isElsewhere(p, kind[0])) {
                notes.add("It is in another " + kind[1] + " namespace than this command.");
            }
        }
        return notes;
    }

    private static boolean isElsewhere(OtherProcess p, String kind) {
        try {
            return !Files.readSymbolicLink(p.proc().resolve("ns/" + kind)).equals(Files.readSymbolicLink(Path.of(
                    "/proc/self/ns/" + kind)));
        } catch (IOException e) {
            return false;
        }
    }

    private static WhyConnection published(StatObject o, String local, String remote, Ends ends, WhyRules rules) {
        String in = attribute(o, "inBy");
        String out = attribute(o, "outBy");
        String reason = attribute(o, "byTcpFor");
        boolean ring = in.equals("ring");
        WhyConnection.Carrier carrier = o.state().equals("CONNECTING")
                ? WhyConnection.Carrier.CONNECTING
                : ring && out.equals("ring")
                        ? WhyConnection.Carrier.RING
                        : ring || out.equals("ring")
                                ? WhyConnection.Carrier.RING_AND_TCP
                                : reason.isEmpty() && o.state().equals("HANDSHAKE")
                                        ? WhyConnection.Carrier.UNDECIDED
                                        : WhyConnection.Carrier.TCP;
        String device = o.device().equals("sockets") ? "" : o.device();
        return new WhyConnection(local, remote, attribute(o, "role"), o.state(), carrier, reason, o.created(), device,
                WhyBytes.of(o), rules.of(o), device.isEmpty() ? ends.peer(local, remote) : null);
    }

    /** An address that stands for all of this host is one for the kernel, be it of IPv4 or of IPv6. */
    private static String wildcard(String address) {
        return address.replaceFirst("^(0\\.0\\.0\\.0|\\[::]|\\[::ffff:0\\.0\\.0\\.0]):", "*:");
    }

    /** The kernel's sockets in the network namespace of a process. */
    private final class Ends {
        private final List<ProcTcp> all;
        private final Map<String, ProcTcp> connections = new HashMap<>();
        private final Set<Long> own;
        private final Predicate<String> wanted;

        Ends(OtherProcess p, Predicate<String> wanted) {
            this.wanted = wanted;
            all = ProcTcp.all(p.proc());
            own = ProcTcp.openInodes(p.proc());
            for (ProcTcp t : all) {
                if (!t.isListener()) {
                    connections.put(WhySockets.text(t.local()) + " " + WhySockets.text(t.remote()), t);
                }
            }
        }

        /** The process that has the other end of a connection; null if none here has it. */
        @Nullable
        WhyPeer peer(String local, String remote) {
            ProcTcp other = connections.get(remote + " " + local);
            if (other == null) {
                return null;
            }
            Long pid = owners().get(other.inode());
            if (pid == null) {
                return other.inode() == 0 ? null : new WhyPeer(0, other.uid(), "", false, false);
            }
            return peers.computeIfAbsent(pid, WhyLook::describe);
        }

        /** Adds those of the process that it does not show. */
        void add(Set<String> shown, List<WhyConnection> to, List<String> listeners) {
            for (ProcTcp t : all) {
                String local = WhySockets.text(t.local());
                String remote = WhySockets.text(t.remote());
                if (!own.contains(t.inode())) {
                    continue;
                }
                if (t.isListener()) {
                    if (wanted.test(local) && !shown.contains(wildcard(local))) {
                        listeners.add(local);
                    }
                } else if (!shown.contains(local + " " + remote) && (wanted.test(local) || wanted.test(remote))) {
                    to.add(new WhyConnection(local, remote, "", "", WhyConnection.Carrier.NOT_VERBENA, "", null, "",
                            -1, null, peer(local, remote)));
                }
            }
        }
    }

    private static WhyPeer describe(long pid) {
        try {
            OtherProcess p = OtherProcess.require(pid);
            boolean verbena;
            try (RemoteProcess shown = RemoteProcess.open(pid)) {
                verbena = shown.isAlive();
            } catch (VerbsException e) {
                verbena = false;
            }
            return new WhyPeer(pid, p.uid(), p.command(), verbena || p.isJava(), verbena);
        } catch (IOException e) {
            return new WhyPeer(pid, 0, "", false, false);
        }
    }
}
