// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.linux.Sys;
import org.verbena.testkit.Finished;
import org.verbena.testkit.Thorough;
import org.verbena.tests.NetworkLane;
import org.verbena.tests.cli.RoceNamespaces;

/**
 * The table of docs/stream.md: how a connection or its process ends, which bytes were unread then, and what the other
 * end sees by reading or by writing. Each cell is executed on the plain JDK and with Verbena, by unchanged programs,
 * and compared.
 */
@NetworkLane
class EndingsTest {
    private static final String RINGS = "quiet,stream.patience=60000";
    private static final String TCP = RINGS + ",rules=use os tcp_server *:*; use os tcp_client *:*";
    private static final List<String> PROCESS = List.of("exit", "return", "halt", "kill");
    private static final List<String> CONNECTION = List.of("close", "linger", "input", "output", "both");
    private static final List<String> KERNEL = List.of("destroyed here", "destroyed there");

    /** What the plain JDK shows, once that is known. */
    private static Map<String, String> stockOnOneHost;

    @TempDir Path dir;

    /** A connection of a round: which API, whether bytes are left unread, and how the other end observes it. */
    private record Cell(String api, boolean unread, String look) {
        @Override
        public String toString() {
            return api + (unread ? ", unread" : ", all read") + ", " + look;
        }
    }

    private static List<Cell> cells() {
        List<Cell> all = new ArrayList<>();
        for (boolean unread : new boolean[] {false, true}) {
            all.add(new Cell("channel", unread, "read"));
            all.add(new Cell("classic", unread, "read"));
            for (String look : List.of("write", "transfer", "urgent", "urgent, transfer", "shut")) {
                all.add(new Cell("channel", unread, look));
            }
            all.add(new Cell("classic", unread, "shut"));
        }
        return all;
    }

    @ParameterizedTest
    @CsvSource({"stream", "kernel"})
    void peerSeesTheSameEndAsOnTheStockJdk(String transport) throws Exception {
        SocketPrograms programs = new SocketPrograms(dir, EndPeer.class);
        List<String> ways = transport.equals("stream") || Thorough.ON ? ways(PROCESS, CONNECTION, KERNEL) : few();
        Child.Builder with = programs.with(transport.equals("stream") ? RINGS : TCP);
        if (stockOnOneHost == null) { // the same for both transports
            stockOnOneHost = onOneHost(programs.plain(), "none", ways(PROCESS, CONNECTION, KERNEL));
        }
        Map<String, String> stock = new TreeMap<>(stockOnOneHost);
        stock.keySet().removeIf(cell -> !ways.contains(cell.substring(0, cell.indexOf(','))));
        assertSame(onOneHost(with, transport, ways), stock);
    }

    /**
     * Between hosts neither end sees the memory of the other. So a process that ends without a message, with a pending
     * doorbell, has reset the connection like a restarted host, even if it had read everything; one that ends normally
     * sends a message before.
     */
    @Test
    void peerOnAnotherHostSeesTheSameEnd() throws Exception {
        Users.needsRoot("make network namespaces");
        SocketPrograms programs = new SocketPrograms(dir, EndPeer.class);
        List<String> ways = Thorough.ON ? ways(PROCESS, CONNECTION, KERNEL) : few();
        Child.Builder server = programs.with(RINGS + ",rules=use stream tcp_server *:* device "
                + RoceNamespaces.DEVICE_B);
        Child.Builder client = programs.with(RINGS + ",rules=use stream tcp_client *:* device "
                + RoceNamespaces.DEVICE_A);
        Map<String, String> ours = onTwoHosts(server, client, "stream", ways);
        Map<String, String> stock = onTwoHosts(programs.plain(), programs.plain(), "none", ways);
        for (String silent : List.of("kill", "halt")) {
            for (String cell : List.copyOf(stock.keySet())) {
                String reset = stock.get(cell.replace(silent + ", ", "linger, "));
                if (cell.startsWith(silent + ", ") && ours.get(cell).equals(reset)) {
                    stock.put(cell, reset);
                }
            }
        }
        assertSame(ours, stock);
    }

    /** Of each kind, and with and without bytes that the end leaves behind. */
    private static List<String> few() throws Exception {
        return ways(List.of("kill", "exit"), List.of("close", "linger"), List.of("destroyed here"));
    }

    private static List<String> ways(List<String> process, List<String> connection, List<String> kernel)
            throws Exception {
        List<String> ways = new ArrayList<>(process);
        ways.addAll(connection);
        if (canDestroy()) {
            ways.addAll(kernel);
        } else {
            System.out.println(
                    "EndingsTest: no connection is destroyed by the kernel: that takes root and CONFIG_INET_DIAG_DESTROY");
        }
        return ways;
    }

    private static void assertSame(Map<String, String> ours, Map<String, String> stock) {
        assertThat(String.join("\n", lines(ours))).isEqualTo(String.join("\n", lines(stock)));
    }

    private static Map<String, String> onOneHost(Child.Builder program, String transport, List<String> ways)
            throws Exception {
        Map<String, String> seen = new TreeMap<>();
        try (Child survivor = program.start()) {
            rounds(survivor, program::start, transport, ways, seen);
        }
        return seen;
    }

    private static Map<String, String> onTwoHosts(Child.Builder server, Child.Builder client, String transport,
            List<String> ways) throws Exception {
        Map<String, String> seen = new TreeMap<>();
        RoceNamespaces.with(() -> server.start(RoceNamespaces.ADDRESS_B),
                survivor -> rounds(survivor, () -> client.start(RoceNamespaces.ADDRESS_B), transport, ways, seen));
        return seen;
    }

    private static List<String> lines(Map<String, String> seen) {
        return seen.entrySet().stream().map(e -> e.getKey() + ": " + e.getValue()).toList();
    }

    private static void rounds(Child survivor, Callable<Child> starter, String transport, List<String> ways,
            Map<String, String> seen) throws Exception {
        String[] ports = survivor.await("PORTS").split(" ", -1);
        for (String way : ways) {
            if (PROCESS.contains(way)) {
                try (Child leaver = leaver(starter)) {
                    round(survivor, leaver, ports, transport, way, seen);
                }
            }
        }
        List<String> ofConnections = ways.stream().filter(way -> !PROCESS.contains(way)).toList();
        if (!ofConnections.isEmpty()) {
            try (Child leaver = leaver(starter)) { // which stays: its connections alone end
                for (String way : ofConnections) {
                    round(survivor, leaver, ports, transport, way, seen);
                    leaver.tell("forget").await("FORGOTTEN");
                }
            }
        }
    }

    private static Child leaver(Callable<Child> starter) throws Exception {
        Child leaver = starter.call();
        leaver.await("PORTS");
        return leaver;
    }

    private static void round(Child survivor, Child leaver, String[] ports, String transport, String way,
            Map<String, String> seen) throws Exception {
        List<Cell> cells = cells();
        List<Integer> locals = new ArrayList<>();
        for (Cell c : cells) {
            String port = ports[c.api.equals("channel") ? 0 : 1];
            locals.add(leaver.tell("connect " + c.api + " " + port).awaitInt("CONNECTED"));
            survivor.tell("accept " + c.api).await("ACCEPTED");
        }
        for (int i = 0; i < cells.size(); i++) {
            if (cells.get(i).look.startsWith("urgent,")) {
                survivor.tell("urgent " + i).await("URGENT");
            }
        }
        for (Child end : List.of(survivor, leaver)) {
            assertThat(end.tell("decide").await("DECIDED").split(" ", -1)).as(end.toString()).containsOnly(transport);
        }
        survivor.tell("pong");
        leaver.tell("ping").await("PINGED");
        survivor.await("PONGED");
        for (int i = 0; i < cells.size(); i++) {
            survivor.tell("send " + i).await("SENT");
            leaver.tell("arrived " + i).await("HERE");
            if (!cells.get(i).unread) {
                leaver.tell("take " + i).await("TAKEN");
            }
        }
        for (int i = 0; i < cells.size(); i++) {
            if (cells.get(i).look.equals("shut")) {
                survivor.tell("shut " + i).await("SHUT");
            }
        }
        end(survivor, leaver, ports, cells, locals, way);
        for (int i = 0; i < cells.size(); i++) {
            seen.put(way + ", " + cells.get(i), see(survivor, i, cells.get(i), way));
            if (KERNEL.contains(way)) {
                seen.put(way + ", " + cells.get(i) + ", the other end", see(leaver, i, cells.get(i), way));
            }
        }
        survivor.tell("forget").await("FORGOTTEN");
    }

    private static String see(Child end, int i, Cell cell, String way) throws Exception {
        try {
            return end.tell("see " + i + " " + cell.look).await("SEEN");
        } catch (AssertionError e) {
            throw new AssertionError(way + ", " + cell, e);
        }
    }

    private static void end(Child survivor, Child leaver, String[] ports, List<Cell> cells, List<Integer> locals,
            String way) throws Exception {
        if (way.equals("kill")) {
            leaver.kill();
        } else if (PROCESS.contains(way)) {
            leaver.tell(way);
        } else if (CONNECTION.contains(way)) {
            for (int i = 0; i < cells.size(); i++) {
                leaver.tell("do " + i + " " + way).await("DONE");
            }
        } else {
            for (int i = 0; i < cells.size(); i++) {
                int there = Integer.parseInt(ports[cells.get(i).api.equals("channel") ? 0 : 1]);
                if (way.equals("destroyed here")) {
                    destroy(leaver, locals.get(i), there);
                } else {
                    destroy(survivor, there, locals.get(i));
                }
            }
        }
    }

    // the kernel destroys one of the two sockets

    private static void destroy(Child owner, int from, int to) throws Exception {
        List<String> inItsNamespace = List.of("nsenter", "--net=/proc/" + owner.pid() + "/ns/net");
        assertThat(ss(inItsNamespace, "sport", "=", ":" + from, "dport", "=", ":" + to)).as("ss -K").contains(":"
                + from);
    }

    /** Whether this user and this kernel support it: otherwise even a filter that matches no socket is refused. */
    static boolean canDestroy() throws Exception {
        return Sys.uid() == 0 && !ss("sport", "=", ":1", "dport", "=", ":1").contains("RTNETLINK");
    }

    static String ss(String... filter) throws IOException, InterruptedException {
        return ss(List.of(), filter);
    }

    private static String ss(List<String> under, String... filter) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(under);
        command.addAll(List.of("ss", "-tnHK", "state", "established"));
        command.addAll(List.of(filter));
        return Finished.run(command).output();
    }
}
