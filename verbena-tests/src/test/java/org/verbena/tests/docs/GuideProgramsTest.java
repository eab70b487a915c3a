// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.ProcTcp;
import org.verbena.testkit.Await;
import org.verbena.tests.ProgramLane;
import org.verbena.tests.compat.Jars;

/**
 * The programs of the guides are compiled and run as their pages start them, on the jars that these have their readers copy, but without
 * Verbena; and whole programs in the pages compile.
 */
@ProgramLane
class GuideProgramsTest {
    /** Longer than any test: a program is ended when it has printed what it is to print. */
    private static final String SECONDS = "3600";

    /** A type of its own, or the main method of a source file without one, at the left margin. */
    private static final Pattern UNIT = Pattern.compile(
            "^(?:(?:public|final|abstract|sealed|non-sealed|strictfp) )*(?:class|interface|enum|record|@interface) (\\w+)|^(?:static )?void main\\(",
            Pattern.MULTILINE);
    /** What an excerpt of a source does not have. */
    private static final Pattern WHOLE = Pattern.compile("^(?:import|package) |\\bvoid main\\(", Pattern.MULTILINE);
    /** All that users depend on, and the library of the metrics. */
    private static final String JARS = ".*verbena-(linux|telemetry|verbs|shm|roce|rdmacore|sockets|erm|micrometer)\\b.*"
            + "|.*/(jspecify|micrometer|prometheus)[^/]*";

    /** Names of those in docs/guides that a test here starts. */
    private static final Set<String> STARTED = Set.of("HttpLoad.java", "JdbcLoad.java", "NettyEcho.java");

    @TempDir Path folder;

    @Test
    void everyProgramOfTheGuidesIsStartedHere() throws IOException {
        try (Stream<Path> files = Files.list(Markdown.root().resolve("docs/guides"))) {
            assertThat(files.map(f -> f.getFileName().toString()).filter(f -> f.endsWith(".java")))
                    .containsExactlyInAnyOrderElementsOf(STARTED);
        }
    }

    /** Reads lines until one counts more than nothing: in its first second it may have come to nothing. */
    private static void awaitCount(ExampleProcess load, String counted) throws IOException {
        Pattern line = Pattern.compile("([0-9]+) " + counted + " in a second");
        long count = 0;
        while (count == 0) {
            Matcher m = line.matcher(load.line());
            assertThat(m.matches()).as(m.toString()).isTrue();
            count = Long.parseLong(m.group(1));
        }
    }

    /** The words with others for some. */
    private static List<String> with(List<String> words, String... replaced) {
        List<String> all = new ArrayList<>(words);
        for (int i = 0; i < replaced.length; i += 2) {
            int at = all.indexOf(replaced[i]);
            assertThat(at).as(replaced[i] + " in " + words).isNotNegative();
            all.set(at, replaced[i + 1]);
        }
        return all;
    }

    private static ExampleProcess start(List<String> words, String... options) throws IOException {
        return ExampleProcess.java(Stream.concat(Arrays.stream(options), words.stream()).toList());
    }

    /** The port that a process listens on. */
    private static int listener(long pid) {
        Path proc = Path.of("/proc", Long.toString(pid));
        Await.until("process " + pid + " listens", () -> found(proc).isPresent());
        return found(proc).orElseThrow();
    }

    private static Optional<Integer> found(Path proc) {
        Set<Long> open = ProcTcp.openInodes(proc);
        return ProcTcp.all(proc).stream().filter(t -> t.isListener() && open.contains(t.inode()))
                .map(t -> t.local().getPort()).findFirst();
    }

    @Test
    void nettyEchoAnswers() throws IOException {
        GuidePage page = GuidePage.of("netty.md");
        try (ExampleProcess server = start(page.java("NettyEcho.java server"), "-Dport=0");
                ExampleProcess client = start(with(page.java("NettyEcho.java client 10"), "10", SECONDS), "-Dport="
                        + listener(server.pid()))) {
            awaitCount(client, "answers");
        }
    }

    @Test
    void jdbcLoadQueriesTheDatabaseOfItsPage() throws IOException {
        GuidePage page = GuidePage.of("jdbc.md");
        try (ExampleProcess server = start(with(page.java("org.h2.tools.Server"), "9094", "0"))) {
            String url = "jdbc:h2:tcp://localhost:9094/mem:test";
            try (ExampleProcess load = start(with(page.java("JdbcLoad.java"), url, url.replace("9094", Integer.toString(
                    listener(server.pid()))), "10", SECONDS))) {
                awaitCount(load, "queries");
            }
        }
    }

    @Test
    void httpLoadAsksAServer() throws IOException {
        byte[] hello = "hello".getBytes(StandardCharsets.UTF_8);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, hello.length);
            exchange.getResponseBody().write(hello);
            exchange.close();
        });
        server.start();
        String url = "http://localhost:8080/";
        try (ExampleProcess load = start(with(GuidePage.of("spring-boot.md").java("HttpLoad.java"), url, url.replace(
                "8080", Integer.toString(server.getAddress().getPort())), "10", SECONDS))) {
            awaitCount(load, "answers");
        } finally {
            server.stop(0);
        }
    }

    /** Blocks of Java that are whole source files: on Verbena's modules. */
    @TestFactory
    Stream<DynamicTest> wholeProgramsInThePagesCompile() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Markdown page : Markdown.all()) {
            for (String block : page.snippets()) {
                Matcher unit = UNIT.matcher(block);
                if (unit.find() && WHOLE.matcher(block).find()) {
                    String name = Optional.ofNullable(unit.group(1)).orElse("Main");
                    tests.add(DynamicTest.dynamicTest(page.file().getFileName() + " " + name, () -> compiles(name,
                            block)));
                }
            }
        }
        assertThat(tests).as("the README has one").isNotEmpty();
        return tests.stream();
    }

    private void compiles(String name, String source) throws IOException {
        Path file = Files.writeString(Files.createTempDirectory(folder, name).resolve(name + ".java"), source);
        List<Path> jars = Arrays.stream(ExampleProcess.path(JARS).split(File.pathSeparator, -1)).map(Path::of)
                .toList();
        assertThat(Jars.compile(List.of(file), List.of(), jars, folder.resolve("classes"))).isEmpty();
    }
}
