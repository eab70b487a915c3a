// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The documents about the code name existing classes, members, threads and files, and draw the modules of the build.
 */
class ArchitectureTest {
    private static final Path ROOT = Markdown.root();
    private static final String DOCUMENT = "docs/architecture.md";
    /** Modules whose code runs in programs of users. */
    private static final List<String> LIBRARIES = List.of("linux", "telemetry", "verbs", "shm", "roce", "rdmacore",
            "xdp", "stack", "sockets", "erm",
            "agent", "micrometer");

    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    /** A class, perhaps with a member. */
    private static final Pattern NAME = Pattern.compile("([A-Z]\\w*[a-z]\\w*)(?:\\.(\\w+))?(?:\\(.*\\))?");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|enum|record) ([A-Z]\\w*)");
    /** A name that the kernel or a thread dump shows. */
    private static final Pattern SHOWN = Pattern.compile("\"(verbena-[a-z0-9-]+/?)\"?");

    /** The sources in which a type of that name is declared, nested ones too. */
    private static final Map<String, List<Path>> TYPES = types();

    private static List<Path> sources(Path below) throws IOException {
        try (Stream<Path> all = Files.walk(below)) {
            return all.filter(p -> p.toString().endsWith(".java")).toList();
        }
    }

    private static Map<String, List<Path>> types() {
        Map<String, List<Path>> found = new HashMap<>();
        try {
            for (String module : ModuleDrawing.names(ROOT)) {
                for (Path source : sources(ROOT.resolve(module).resolve("src"))) {
                    TYPE.matcher(read(source)).results().map(m -> m.group(1)).distinct().forEach(
                            name -> found.merge(name, List.of(source), ArchitectureTest::both));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static List<Path> both(List<Path> a, List<Path> b) {
        return Stream.concat(a.stream(), b.stream()).toList();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Simple names of the JDK's base classes, and of what agents use. */
    private static Set<String> jdk() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String module : List.of("java.base", "java.instrument")) {
            try (Stream<Path> all = Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules",
                    module))) {
                all.map(p -> p.getFileName().toString()).filter(n -> n.endsWith(".class"))
                        .map(n -> n.substring(n.lastIndexOf('$') + 1, n.length() - ".class".length()))
                        .forEach(names::add);
            }
        }
        return names;
    }

    private static Stream<String> codes(String text) {
        return CODE.matcher(text).results().map(m -> m.group(1));
    }

    @Test
    void drawingOfTheModulesMatchesTheBuild() throws IOException {
        assertThat(read(ROOT.resolve(ModuleDrawing.FILE))).as("run docs/diagrams/renew").isEqualTo(ModuleDrawing.svg(
                ROOT));
    }

    @Test
    void everyModuleOfTheBuildIsInTheTable() throws IOException {
        List<String> rows = read(ROOT.resolve(DOCUMENT)).lines().filter(l -> l.startsWith("| `verbena-"))
                .map(l -> codes(l).findFirst().orElseThrow()).toList();
        assertThat(rows).containsAll(ModuleDrawing.names(ROOT));
    }

    @TestFactory
    Stream<DynamicTest> everyNamedClassExists() throws IOException {
        Set<String> jdk = jdk();
        return Stream.concat(Stream.of(ROOT.resolve(DOCUMENT), ROOT.resolve("docs/glossary.md")), files(ROOT.resolve(
                "docs/decisions"))).filter(Files::exists).map(file -> DynamicTest.dynamicTest(ROOT.relativize(file)
                        .toString(), () -> {
                            Set<String> missing = new TreeSet<>();
                            codes(read(file)).map(NAME::matcher).filter(Matcher::matches)
                                    .filter(m -> !jdk.contains(m.group(1)) && !isDeclared(m.group(1), m.group(2)))
                                    .forEach(m -> missing.add(m.group()));
                            assertThat(missing).as("names that no source declares").isEmpty();
                        }));
    }

    private static Stream<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Stream.of();
        }
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(p -> p.toString().endsWith(".md")).sorted().toList().stream();
        }
    }

    private static boolean isDeclared(String type, String member) {
        List<Path> sources = TYPES.getOrDefault(type, List.of());
        return member == null
                ? !sources.isEmpty()
                : sources.stream().anyMatch(s -> Pattern.compile("\\b" + member + "\\b").matcher(read(s)).find());
    }

    /** Threads, memory files, sockets: the document explains each name that users can see. */
    @Test
    void everyPubliclyVisibleNameIsExplained() throws IOException {
        String document = read(ROOT.resolve(DOCUMENT)).replace("@", "");
        Map<String, Path> unexplained = new TreeMap<>();
        for (String library : LIBRARIES) {
            for (Path source : sources(ROOT.resolve("verbena-" + library + "/src/main/java"))) {
                SHOWN.matcher(read(source)).results().map(m -> m.group(1))
                        .filter(name -> !isModule(name) && !document.contains("`" + name))
                        .forEach(name -> unexplained.put(name, Objects.requireNonNull(source.getFileName())));
            }
        }
        assertThat(unexplained).as("not in %s", DOCUMENT).isEmpty();
    }

    /** The table of threads has each below its module. */
    @Test
    void threadsOfEachModuleMatchTheTable() throws IOException {
        String table = read(ROOT.resolve(DOCUMENT)).split("\n## Threads\n", -1)[1].split("\n## ", -1)[0];
        Map<String, Set<String>> drawn = new TreeMap<>();
        String module = "";
        for (String row : table.lines().filter(l -> l.startsWith("| `") || l.startsWith("| |")).toList()) {
            String[] cells = row.split("\\|", -1);
            module = codes(cells[1]).findFirst().orElse(module);
            Set<String> threads = drawn.computeIfAbsent(module, m -> new TreeSet<>());
            // that of a device of roce has the device's name in it
            codes(cells[2]).filter(t -> !t.contains("<")).map(t -> t.replaceFirst("-N$", "-")).forEach(threads::add);
        }
        Set<String> all = drawn.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
        Map<String, Set<String>> found = new TreeMap<>();
        drawn.keySet().forEach(m -> found.put(m, new TreeSet<>()));
        for (String library : LIBRARIES) {
            for (Path source : sources(ROOT.resolve("verbena-" + library + "/src/main/java"))) {
                SHOWN.matcher(read(source)).results().map(r -> r.group(1)).filter(all::contains).forEach(
                        name -> found.computeIfAbsent("verbena-" + library, m -> new TreeSet<>()).add(name));
            }
        }
        assertThat(found).hasSizeGreaterThan(5).isEqualTo(drawn);
    }

    private static boolean isModule(String name) {
        return Files.isDirectory(ROOT.resolve(name));
    }

    /** The other way round. */
    @Test
    void everyExplainedNameExistsInTheCode() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String library : LIBRARIES) {
            for (Path source : sources(ROOT.resolve("verbena-" + library + "/src/main/java"))) {
                all.append(read(source));
            }
        }
        String code = all.toString();
        Pattern named = Pattern.compile("@?(verbena-[a-z0-9-]+).*");
        assertThat(codes(read(ROOT.resolve(DOCUMENT))).map(named::matcher).filter(Matcher::matches).map(m -> m.group(
                1)))
                .filteredOn(name -> !isModule(name) && !name.equals("verbena-roce"))
                .allSatisfy(name -> assertThat(code).contains("\"" + name));
    }
}
