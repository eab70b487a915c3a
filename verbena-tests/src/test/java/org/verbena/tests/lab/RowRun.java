// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/** Runs one row: its two commands, and the check of the packets on the wire. */
final class RowRun {
    /** The time that a server may take to end after its client. */
    private static final Duration LAST = Duration.ofSeconds(30);
    /** The last frames are in the file by then. */
    private static final Duration SETTLE = Duration.ofMillis(50);
    private static final Pattern VARIABLE = Pattern.compile("\\{([a-z]+)(?:\\.([a-z0-9]+))?\\}");

    /**
     * The result.
     *
     * @param problem why it failed; empty if it passed
     * @param wire what passed the wire, for a person
     */
    record Verdict(String problem, double seconds, String wire) {
        boolean passed() {
            return problem.isEmpty();
        }
    }

    private final Row row;
    private final Map<String, Place> places;
    private final Map<String, String> variables;
    private final Path logs;
    private final StringBuilder log = new StringBuilder();
    private final List<String> impaired = new ArrayList<>();

    /**
     * @param places by name, those of the row and more
     * @param variables what commands may name, besides the places
     * @param logs folder for what is kept of a row that fails
     */
    RowRun(Row row, Map<String, Place> places, Map<String, String> variables, Path logs) {
        this.row = row;
        this.places = places;
        this.variables = variables;
        this.logs = logs;
    }

    Verdict run() throws InterruptedException, IOException {
        VirtualMachine witness = witness();
        long began = witness.capture().now();
        long start = System.nanoTime();
        String problem;
        try {
            for (Netem n : row.netem()) {
                place(n.machine()).must(n.begin());
            }
            problem = commands();
        } catch (IOException e) {
            problem = String.valueOf(e.getMessage());
        }
        String ended = endNetem();
        if (problem.isEmpty()) {
            problem = ended;
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        Thread.sleep(SETTLE);
        List<RocePacket> packets = new ArrayList<>();
        for (byte[] frame : witness.capture().since(began)) {
            RocePacket p = RocePacket.of(frame);
            if (p != null) {
                packets.add(p);
            }
        }
        if (problem.isEmpty()) {
            problem = onTheWire(packets);
        }
        if (!problem.isEmpty()) {
            String file = row.title().replace('/', '.');
            Files.writeString(logs.resolve(file + ".log"), row.title() + ": " + problem + "\n\n" + log
                    + "\nkernel messages of " + witness.name() + ":\n" + messages(witness));
            witness.capture().copy(began, logs.resolve(file + ".pcap"));
        }
        return new Verdict(problem, seconds, summary(packets) + (impaired.isEmpty()
                ? ""
                : "; lost: " + String.join(", ", impaired)));
    }

    /**
     * On each machine, whatever became of the others; empty, or what is wrong.
     */
    private String endNetem() throws InterruptedException {
        String problem = "";
        for (Netem n : row.netem()) {
            try {
                String output = place(n.machine()).must(n.end());
                log.append(n).append('\n').append(output).append('\n');
                Netem.Counts c = Netem.counts(output);
                impaired.add(n.machine() + (n.incoming() ? "<" : ">") + " " + c.dropped() + "/" + (c.passed() + c
                        .dropped()));
                if (problem.isEmpty()) {
                    problem = n.judge(c);
                }
            } catch (IOException | IllegalArgumentException e) {
                problem = String.valueOf(e.getMessage());
            }
        }
        return problem;
    }

    private static String messages(VirtualMachine machine) throws InterruptedException, IOException {
        try {
            return machine.must("dmesg | tail -n 40");
        } catch (IOException e) {
            return machine.lastWords();
        }
    }

    /** All that is sent between two places of a row passes its card. */
    private VirtualMachine witness() {
        return row.places().stream().map(places::get).filter(VirtualMachine.class::isInstance).map(
                VirtualMachine.class::cast).findFirst().orElseThrow(() -> new IllegalArgumentException(row.title()
                        + " runs nothing in a virtual machine"));
    }

    private String commands() throws IOException, InterruptedException {
        Row.Command server = row.server();
        if (server == null) {
            Outcome client = place(row.client().place()).run(text(row.client()), row.limit());
            note(Row.CLIENT, row.client(), client);
            return judge(client, null);
        }
        Place place = place(server.place());
        Place.Task running = place.start(text(server));
        long end = System.nanoTime() + row.limit().toNanos();
        Outcome client = null;
        String late = "";
        Outcome served;
        try {
            late = awaitReady(place, running);
            if (late.isEmpty()) {
                client = place(row.client().place()).run(text(row.client()), row.limit());
                note(Row.CLIENT, row.client(), client);
            }
        } finally {
            Duration left = Duration.ofNanos(Math.max(LAST.toNanos(), end - System.nanoTime()));
            served = running.await(client != null && client.code() == 0 ? left : Duration.ZERO);
            note(Row.SERVER, server, served);
        }
        return client == null ? late : judge(client, served);
    }

    /** Empty, or what is wrong. */
    private String judge(Outcome client, @Nullable Outcome served) {
        if (client.code() != 0) {
            return "client: " + client.end() + last(client);
        }
        if (served != null && served.code() != 0) {
            return "server: " + served.end() + last(served);
        }
        for (Row.Expectation e : row.expected()) {
            Outcome o = e.role().equals(Row.CLIENT) || served == null ? client : served;
            if (!e.text().matcher(o.output()).find()) {
                return e.role() + ": printed nothing like " + e.text();
            }
        }
        return "";
    }

    private static String last(Outcome o) {
        return o.output().isBlank() ? "" : ": " + o.output().strip().lines().reduce((x, y) -> y).orElse("");
    }

    /** Empty, or why it is not ready. */
    private String awaitReady(Place place, Place.Task task) throws IOException, InterruptedException {
        if (row.ready().isEmpty()) {
            return "";
        }
        String what = row.ready().get(1);
        String condition = switch (row.ready().get(0)) {
            case "tcp" -> "ss -Hltn 'sport = :" + what + "' | grep -q .";
            case "rdma" -> "rdma resource show cm_id | grep 'state LISTEN' | grep -q ':" + what + " '";
            default -> "";
        };
        if (!condition.isEmpty()) {
            Outcome o = place.run("until " + condition + "; do sleep 0.1; done", row.limit());
            return o.code() == 0 ? "" : "server: does not listen on " + String.join(" ", row.ready()) + ": " + o.end();
        }
        Pattern text = Pattern.compile(what);
        long end = System.nanoTime() + row.limit().toNanos();
        while (!text.matcher(task.printed()).find()) {
            if (System.nanoTime() > end) {
                return "server: does not print anything like " + what;
            }
            Thread.sleep(100);
        }
        return "";
    }

    /** Empty, or what is wrong. */
    private String onTheWire(List<RocePacket> packets) {
        if (row.wire().equals("any")) {
            return "";
        }
        long wrong = packets.stream().filter(p -> !p.icrcRight()).count();
        if (wrong > 0) {
            return "wire: " + wrong + " of " + packets.size() + " packets have a wrong ICRC or are malformed";
        }
        return packets.isEmpty() ? "wire: no packet of RoCEv2" : "";
    }

    private static String summary(List<RocePacket> packets) {
        Map<String, Long> kinds = packets.stream().collect(Collectors.groupingBy(RocePacket::operation, TreeMap::new,
                Collectors.counting()));
        return kinds.entrySet().stream().map(e -> e.getValue() + " " + e.getKey()).collect(Collectors.joining(", "));
    }

    private Place place(String name) {
        Place p = places.get(name);
        if (p == null) {
            throw new IllegalArgumentException(row.title() + ": no place " + name);
        }
        return p;
    }

    /** The command, with its variables replaced. */
    private String text(Row.Command command) {
        return VARIABLE.matcher(command.text()).replaceAll(m -> {
            String value;
            Place place = places.get(m.group(1));
            if (place == null) {
                value = m.group(2) == null ? variables.get(m.group(1)) : null;
            } else if (m.group(2) == null) {
                value = Row.address(row.family(), place.number());
            } else {
                value = switch (m.group(2)) {
                    case "ip4" -> Row.address(4, place.number());
                    case "ip6" -> Row.address(6, place.number());
                    case "gid" -> Integer.toString(place.gid(row.family()));
                    default -> null;
                };
            }
            if (value == null) {
                throw new IllegalArgumentException(row.title() + ": nothing is known as " + m.group());
            }
            return Matcher.quoteReplacement(value);
        });
    }

    private void note(String role, Row.Command command, Outcome o) {
        log.append(role).append(" on ").append(command.place()).append(": ").append(command.text()).append("\n(")
                .append(
                        o.end()).append(")\n").append(o.output()).append('\n');
    }
}
