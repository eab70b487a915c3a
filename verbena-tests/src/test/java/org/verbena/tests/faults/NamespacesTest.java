// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.tests.NetworkLane;

/**
 * Processes in separate user, PID, mount and network namespaces, which may or may not share memory: the table of
 * docs/shm.md.
 */
@NetworkLane
class NamespacesTest {
    private static final String[] NOTHING = {};
    private static final String[] OTHER_MOUNTS = {"unshare", "--mount"};
    private static final String[] OTHER_PIDS = {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"};
    private static final String[] OTHER_PIDS_OLD_PROC = {"unshare", "--pid", "--fork", "--kill-child"};
    private static final String[] OTHER_NETWORK = {"unshare", "--net"};
    private static final String[] NOBODY = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    private static final int USERS = 65_536;
    private static final int USER = 1000;
    private static final int OVERFLOW = 65_534;

    @TempDir static Path dir;

    private final Deque<AutoCloseable> all = new ArrayDeque<>();
    /** Of one range of the machine's users, its like, and another range. */
    private UserNamespace a;
    private UserNamespace alike;
    private UserNamespace b;
    /** In which root is the machine's root. */
    private UserNamespace ofRoot;

    @BeforeEach
    void makeNamespaces() throws Exception {
        UserNamespace.needed();
        a = namespace(UserNamespace.STRANGERS, USERS);
        alike = namespace(UserNamespace.STRANGERS, USERS);
        b = namespace(UserNamespace.STRANGERS + USERS, USERS);
        ofRoot = namespace(0, 1);
    }

    private UserNamespace namespace(int first, int users) throws Exception {
        UserNamespace n = UserNamespace.of(first, users);
        all.push(n);
        return n;
    }

    @AfterEach
    void endAll() throws Exception {
        while (!all.isEmpty()) {
            all.pop().close();
        }
    }

    /**
     * Its own for each, in a folder that every user may write to: the usual one's name has a user's number, which is
     * not the same here and there.
     */
    private Path counters() throws IOException {
        Path parent = Files.createDirectories(dir.resolve("counters"));
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwxrwxrwx"));
        return parent.resolve(String.valueOf(all.size()));
    }

    // ---- sockets

    /** A program with the agent that serves, and connects to others. */
    private record Program(Child process, Path summary, String port) {}

    private Map<String, Program> start(Map<String, String[]> places) throws Exception {
        SocketPrograms programs = new SocketPrograms(dir);
        Map<String, Child> started = new LinkedHashMap<>();
        Map<String, Path> summaries = new LinkedHashMap<>();
        for (Map.Entry<String, String[]> place : places.entrySet()) {
            Path summary = programs.summary();
            // A client waits this long for another end than the rejected one. All have had a connection to
            // themselves when they say their ports, so that none is late for want of classes.
            Child c = programs.with("quiet,stream.patience=10000,summary=" + summary + ",counters.directory="
                    + counters())
                    .under(place.getValue()).start();
            all.push(c);
            started.put(place.getKey(), c);
            summaries.put(place.getKey(), summary);
        }
        Map<String, Program> ready = new LinkedHashMap<>();
        for (Map.Entry<String, Child> c : started.entrySet()) {
            String port = c.getValue().await("PORTS").split(" ", -1)[0];
            c.getValue().tell("serve").await("SERVING");
            ready.put(c.getKey(), new Program(c.getValue(), summaries.get(c.getKey()), port));
        }
        return ready;
    }

    /** For two connections at a time the connecting and the accepting program finally report the same. */
    @Test
    void ringsRequireOneUserAndOneUserAndPidNamespace() throws Exception {
        Map<String, String[]> places = new LinkedHashMap<>();
        places.put("host", NOTHING);
        places.put("mounts", OTHER_MOUNTS);
        places.put("pids", OTHER_PIDS);
        places.put("old-proc", OTHER_PIDS_OLD_PROC);
        places.put("root", ofRoot.enter(0));
        places.put("nobody", NOBODY);
        places.put("nobody-too", NOBODY);
        places.put("a-user", a.enter(USER));
        places.put("a-user-too", a.enter(USER));
        places.put("a-nobody", a.enter(OVERFLOW));
        places.put("a-nobody-too", a.enter(OVERFLOW));
        places.put("alike-user", alike.enter(USER));
        places.put("b-user", b.enter(USER));
        places.put("b-nobody", b.enter(OVERFLOW));
        Map<String, Program> programs = start(places);

        Map<String, Map<String, Integer>> expected = new TreeMap<>();
        Map<String, String> pairs = new LinkedHashMap<>();
        pairs.put("host mounts", "");
        pairs.put("a-user a-user-too", "");
        pairs.put("nobody nobody-too", everybodyIsMapped() ? "" : "other_namespace");
        pairs.put("host pids", "other_namespace");
        pairs.put("host old-proc", "other_namespace");
        pairs.put("host root", "other_namespace");
        pairs.put("a-nobody a-nobody-too", "other_namespace");
        pairs.put("a-nobody b-nobody", "other_namespace");
        pairs.put("a-user alike-user", "other_namespace");
        pairs.put("a-user b-user", "other_user");
        pairs.put("host a-user", "other_user");
        for (String pair : pairs.keySet()) {
            String[] ends = pair.split(" ", -1);
            for (String[] way : new String[][] {ends, {ends[1], ends[0]}}) {
                programs.get(way[0]).process.tell("connect " + way[1] + " nio " + programs.get(way[1]).port)
                        .await("CONNECTED");
            }
        }
        for (Map.Entry<String, String> pair : pairs.entrySet()) {
            String[] ends = pair.getKey().split(" ", -1);
            for (String[] way : new String[][] {ends, {ends[1], ends[0]}}) {
                assertThat(programs.get(way[0]).process.tell("agree " + way[1]).await("AGREED"))
                        .as(way[0] + " to " + way[1]).isEqualTo(pair.getValue().isEmpty() ? "stream" : "kernel");
                if (!pair.getValue().isEmpty()) {
                    for (String end : way) {
                        expected.computeIfAbsent(end, e -> new TreeMap<>()).merge(pair.getValue(), 1, Integer::sum);
                    }
                }
            }
        }
        for (Map.Entry<String, Program> p : programs.entrySet()) {
            JsonNode summary = SocketPrograms.end(p.getValue().process, p.getValue().summary);
            Map<String, Integer> said = new TreeMap<>();
            JsonNode reasons = summary.get("fallbacks");
            reasons.fieldNames().forEachRemaining(f -> said.put(f, reasons.get(f).asInt()));
            assertThat(said).as(p.getKey()).isEqualTo(expected.getOrDefault(p.getKey(), Map.of()));
        }
    }

    /** As in the first user namespace; these tests may run in another. */
    private static boolean everybodyIsMapped() throws IOException {
        return Files.readString(Path.of("/proc/self/uid_map")).contains("4294967295");
    }

    // ---- shm0

    private Child tool(Path classes, String[] place) throws Exception {
        Child c = Child.of(ToolPeer.class).option("-Dverbena.counters.directory=" + counters())
                .classPath(Users.jars(classes)).under(place).start();
        all.push(c);
        return c;
    }

    @Test
    void shm0RequiresOneUserAndOneUserAndPidNamespace(@TempDir Path classes) throws Exception {
        Child host = tool(classes, NOTHING);
        Child mounts = tool(classes, OTHER_MOUNTS);
        Child pids = tool(classes, OTHER_PIDS);
        Child oldProc = tool(classes, OTHER_PIDS_OLD_PROC);
        Child network = tool(classes, OTHER_NETWORK);
        Child root = tool(classes, ofRoot.enter(0));
        Child aUser = tool(classes, a.enter(USER));
        Child aUserToo = tool(classes, a.enter(USER));
        Child aNobody = tool(classes, a.enter(OVERFLOW));
        Child aNobodyToo = tool(classes, a.enter(OVERFLOW));
        Child alikeUser = tool(classes, alike.enter(USER));
        Child bUser = tool(classes, b.enter(USER));
        Child bNobody = tool(classes, b.enter(OVERFLOW));
        assertConnects(host, mounts);
        assertConnects(aUser, aUserToo);
        assertRefused(host, pids, "PID namespace");
        assertRefused(host, oldProc, "namespace");
        assertRefused(host, root, "user namespace");
        assertRefused(aNobody, aNobodyToo, "this user namespace does not map");
        assertRefused(aNobody, bNobody, "this user namespace does not map");
        assertRefused(aUser, alikeUser, "user namespace");
        assertRefused(aUser, bUser, "this user namespace does not map");
        int port = host.tell("listen").awaitInt("PORT");
        assertError(network.tell("connect " + port), Errno.ECONNREFUSED, "no listener");
    }

    private static void assertConnects(Child one, Child other) throws Exception {
        int port = one.tell("listen").awaitInt("PORT");
        one.tell("accept");
        other.tell("connect " + port).await("CONNECTED");
        one.await("ACCEPTED");
        other.tell("disconnect").await("DISCONNECTED");
        one.tell("disconnect").await("DISCONNECTED");
    }

    private static void assertRefused(Child one, Child other, String why) throws Exception {
        int port = one.tell("listen").awaitInt("PORT");
        assertError(other.tell("connect " + port), Errno.EACCES, why);
        port = other.tell("listen").awaitInt("PORT");
        assertError(one.tell("connect " + port), Errno.EACCES, why);
    }

    private static void assertError(Child c, int errno, String why) throws Exception {
        String[] said = c.await("ERROR").split(" ", 2);
        assertThat(Integer.parseInt(said[0])).as(said[1]).isEqualTo(errno);
        assertThat(said[1]).contains(why);
    }
}
