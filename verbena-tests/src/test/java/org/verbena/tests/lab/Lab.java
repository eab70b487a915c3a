// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.tests.DebianArchive.Unavailable;
import org.verbena.tests.Repository;

/**
 * Runs the rows of {@code lab/rows}, prints a table and keeps the logs of those that fail. {@code lab/run} starts it in
 * separate namespaces:
 *
 * <pre>
 * lab/run [--brief] [--only=REGEX] [--rows=FILE,…] [--cpus=NUMBER] [--list] [[--limit=SECONDS] --at=PLACE COMMAND…]
 * </pre>
 *
 * and before that, where there is a network, with {@code --prepare}.
 */
final class Lab {
    private static final Map<String, Integer> MACHINES = Map.of("a", 2, "b", 3);
    private static final String MINUTES_15 = "900";
    private static final Set<String> OPTIONS = Set.of("--brief", "--only", "--rows", "--cpus", "--list", "--at",
            "--limit", "--prepare");

    private final Map<String, String> options = new LinkedHashMap<>();
    private final List<String> words = new ArrayList<>();
    private final Path lab = Repository.root().resolve("lab");
    private final Path target = Repository.root().resolve("target/lab");
    private final Path logs = target.resolve("logs");
    private final Path share = target.resolve("share");
    private final Map<String, Place> places = new TreeMap<>();
    private final int cpus;
    private final Duration limit;
    private @Nullable Path image;
    private @Nullable Path jre;

    private Lab(String[] arguments) {
        for (String a : arguments) {
            String[] parts = a.split("=", 2);
            if (!a.startsWith("--") || options.containsKey("--at")) {
                words.add(a);
            } else if (!OPTIONS.contains(parts[0])) {
                throw new IllegalArgumentException("unknown option " + a + "; there are " + new TreeSet<>(OPTIONS));
            } else {
                options.put(parts[0], parts.length > 1 ? parts[1] : "");
            }
        }
        String wanted = options.getOrDefault("--cpus", "1");
        if (!wanted.matches("[1-9]")) {
            throw new IllegalArgumentException("--cpus=" + wanted + ": a machine has 1 to 9 processors");
        }
        cpus = Integer.parseInt(wanted);
        String seconds = options.getOrDefault("--limit", MINUTES_15);
        if (!seconds.matches("[1-9][0-9]{0,5}")) {
            throw new IllegalArgumentException("--limit=" + seconds + ": a command takes 1 to 999999 seconds");
        }
        limit = Duration.ofSeconds(Long.parseLong(seconds));
        if (options.containsKey("--at") == words.isEmpty()) {
            throw new IllegalArgumentException("a command goes with --at=PLACE, and only with it");
        }
        if (options.containsKey("--brief") && options.containsKey("--at")) {
            throw new IllegalArgumentException("--brief is for rows, --at has one command");
        }
        if (options.containsKey("--limit") && !options.containsKey("--at")) {
            throw new IllegalArgumentException("--limit goes with --at=PLACE; rows have limits of their own");
        }
    }

    public static void main(String[] arguments) throws Exception {
        int code;
        try {
            code = new Lab(arguments).run();
        } catch (IllegalArgumentException e) {
            System.err.println("lab: " + e.getMessage());
            code = 2;
        } catch (Unavailable e) {
            System.err.println("lab: " + e.getMessage().replace('\n', ' '));
            code = 1;
        }
        System.exit(code);
    }

    private int run() throws IOException, InterruptedException, Unavailable {
        List<Row> rows = rows();
        if (options.containsKey("--list")) {
            rows.forEach(r -> System.out.println(r.title()));
            return 0;
        }
        Image made = new Image(lab, target);
        try {
            image = made.folder();
        } catch (Unavailable e) {
            throw new Unavailable("the image cannot be made here: " + e.getMessage()
                    + ": give apt a Debian archive that can be reached, or put target/lab/image-* of another machine "
                    + "into target/lab.");
        }
        Files.createDirectories(share);
        JavaImage java = new JavaImage(target);
        if (options.containsKey("--prepare")) {
            if (options.containsKey("--at") || rows.stream().anyMatch(r -> r.mentions("/share/"))) {
                java.make();
                Modules.copy(share);
            }
            if (options.containsKey("--at") || rows.stream().anyMatch(r -> r.mentions("/share/conformance"))) {
                Modules.copyConformance(share, conformance());
            }
            return 0;
        }
        jre = java.folder();
        clear(Files.createDirectories(logs));
        Files.writeString(logs.resolve("versions"), made.versions());
        long start = System.nanoTime();
        Set<String> needed = new TreeSet<>();
        rows.forEach(r -> needed.addAll(r.places()));
        places.put("host", new Host(target));
        try {
            start(needed);
            System.out.printf("lab: %s; %d virtual machines up in %.1f s%n", what(made), places.size() - 1,
                    (System.nanoTime() - start) / 1e9);
            return options.containsKey("--at") ? at(rows.getFirst()) : table(rows);
        } finally {
            places.values().forEach(p -> {
                if (p instanceof VirtualMachine v) {
                    v.close();
                }
            });
        }
    }

    /** Where Maven has compiled the suite: the same way as what runs here. */
    private static Path conformance() {
        boolean fast = System.getProperty("java.class.path").contains("/target/fast/");
        return Repository.root().resolve("verbena-conformance/target" + (fast ? "/fast" : ""));
    }

    /** The selected rows. */
    private List<Row> rows() throws IOException {
        if (options.containsKey("--at")) {
            String command = String.join(" ", words);
            return List.of(new Row("command", 4, null, List.of(), new Row.Command(options.get("--at"), command),
                    List.of(), List.of(), limit, "any"));
        }
        List<Path> files = new ArrayList<>();
        if (options.containsKey("--rows")) {
            Arrays.stream(options.get("--rows").split(",", -1)).map(Path::of).forEach(files::add);
        } else {
            try (Stream<Path> all = Files.list(lab.resolve("rows"))) {
                all.filter(f -> f.toString().endsWith(".rows")).sorted().forEach(files::add);
            }
        }
        Pattern only = Pattern.compile(options.getOrDefault("--only", ""));
        List<Row> rows = new ArrayList<>();
        for (Path f : files) {
            List<Row> all = options.containsKey("--brief") ? RowFile.brief(f) : RowFile.whole(f);
            all.stream().filter(r -> only.matcher(r.title()).find()).forEach(rows::add);
        }
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("no row is named so");
        }
        return rows;
    }

    /** Starts machines that are not running. */
    private void start(Set<String> names) throws IOException, InterruptedException {
        List<VirtualMachine> started = new ArrayList<>();
        for (String n : names) {
            Place there = places.get(n);
            Integer number = MACHINES.get(n);
            if (number != null && !(there instanceof VirtualMachine v && v.isAlive())) {
                VirtualMachine v = new VirtualMachine(n, number, cpus, image, share, jre, logs);
                places.put(n, v);
                started.add(v);
            }
        }
        for (VirtualMachine v : started) {
            v.awaitReady();
        }
    }

    private String what(Image made) throws IOException {
        List<String> versions = made.versions().lines().filter(l -> l.matches(
                "(linux-image.*|libibverbs1|perftest) .*")).toList();
        return String.join(", ", versions);
    }

    /** One command, its output and its exit code. */
    private int at(Row row) throws IOException, InterruptedException {
        Outcome o = places.get(row.client().place()).run(row.client().text(), row.limit());
        System.out.print(o.output());
        return o.code();
    }

    private int table(List<Row> rows) throws IOException, InterruptedException {
        List<String> failures = new ArrayList<>();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String tests = System.getProperty("java.class.path");
        Map<String, String> variables = Map.of("java", java, "tests", tests, "verbena", java
                + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC" // as in the virtual machines: a row is short
                + " --enable-native-access=ALL-UNNAMED --add-exports java.base/sun.nio.ch=ALL-UNNAMED"
                + " --add-exports java.base/sun.net=ALL-UNNAMED -cp " + tests + " org.verbena.cli.Main");
        String format = "%-41s %-22s %-22s %-7s %6s  %s%n";
        System.out.printf(format, "row", "server", "client", "verdict", "time", "packets of RoCEv2");
        for (Row row : rows) {
            start(row.places());
            RowRun.Verdict v = new RowRun(row, places, variables, logs).run();
            System.out.printf(format, row.title(), shown(row.server()), shown(row.client()), v.passed()
                    ? "ok"
                    : "FAILED", String.format("%.1f s", v.seconds()), v.wire());
            if (!v.passed()) {
                failures.add(row.title() + ": " + v.problem().lines().findFirst().orElse(""));
                System.out.println("    " + v.problem().replace("\n", "\n    "));
            }
        }
        boolean right = tshark();
        failures.forEach(f -> System.out.println("lab: FAILED " + f));
        if (!failures.isEmpty()) {
            System.out.println("lab: outputs and captures of what failed are in " + logs);
        }
        System.out.printf("lab: %d passed, %d failed%n", rows.size() - failures.size(), failures.size());
        return failures.isEmpty() && right ? 0 : 1;
    }

    /** The verdict of another implementation on all captured packets; false if one is malformed. */
    private boolean tshark() throws IOException, InterruptedException {
        if (!Tshark.isThere()) {
            System.out.println("lab: tshark: skipped, it is not installed (Debian: apt-get install tshark)");
            return true;
        }
        boolean right = true;
        for (String machine : MACHINES.keySet().stream().sorted().toList()) {
            Path capture = logs.resolve(machine + ".pcap");
            if (Files.exists(capture)) {
                Tshark.Opinion o = Tshark.on(capture);
                System.out.println("lab: " + o.of(capture));
                right &= o.malformed().isEmpty();
            }
        }
        return right;
    }

    private static String shown(Row.@Nullable Command c) {
        return c == null ? "-" : c.place() + " " + c.program();
    }

    private static void clear(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path f : (Iterable<Path>) files::iterator) {
                Files.delete(f);
            }
        }
    }
}
