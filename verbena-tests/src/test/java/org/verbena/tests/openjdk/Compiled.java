// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles tests as jtreg would, each into a folder of its own, once. */
final class Compiled {
    private final Path tests;
    private final Path classes;
    private final String classPath;

    /**
     * @param tests what OpenJDK has in its folder for tests
     * @param classes where class files go
     * @param classPath with the test frameworks that some of the tests use
     */
    Compiled(Path tests, Path classes, String classPath) {
        this.tests = tests;
        this.classes = classes;
        this.classPath = classPath;
    }

    /** Where the class files of a test are; compiled if they are not there yet. */
    Path of(JtregTest program) throws IOException {
        // two runs of one file share the classes
        Path out = classes.resolve(program.name().replaceAll("#.*", ""));
        synchronized (program.file().toString().intern()) {
            Path done = out.resolve(".complete");
            if (!Files.exists(done)) {
                Files.createDirectories(out);
                compile(program, out);
                Files.writeString(done, "");
            }
        }
        return out;
    }

    private void compile(JtregTest program, Path out) throws IOException {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        List<Path> path = new ArrayList<>(List.of(program.file().getParent()));
        for (String l : program.libraries()) {
            path.add(library(program, l));
        }
        Set<Path> files = new TreeSet<>(List.of(program.file()));
        for (String b : program.build()) {
            path.stream().map(p -> p.resolve(b.replace('.', '/') + ".java")).filter(Files::exists).findFirst()
                    .ifPresent(files::add);
        }
        List<String> options = new ArrayList<>(List.of("-nowarn", "-proc:none", "-implicit:class", "-d", out.toString(),
                "-sourcepath", path.stream().map(Path::toString).collect(Collectors.joining(":")), "-cp", classPath));
        options.addAll(access(program, true));
        StringWriter said = new StringWriter();
        try (StandardJavaFileManager manager = javac.getStandardFileManager(null, Locale.ROOT,
                StandardCharsets.ISO_8859_1)) {
            if (!javac.getTask(said, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files)).call()) {
                throw new IOException("does not compile: " + said);
            }
        }
    }

    /** {@code /test/lib} lies beside the tests of the JDK, other absolute names are below these. */
    private Path library(JtregTest program, String name) {
        if (name.startsWith("/test/")) {
            return tests.resolve(name.substring("/test/".length()));
        }
        return name.startsWith("/")
                ? tests.resolve("jdk" + name)
                : program.file().resolveSibling(name).normalize();
    }

    /** Options that give a test the packages it asks for. */
    static List<String> access(JtregTest test, boolean compiler) {
        return test.modules().stream().flatMap(m -> access(m, compiler)).toList();
    }

    private static Stream<String> access(String module, boolean compiler) {
        String[] parts = module.split(":", -1);
        String how = parts.length > 1 ? parts[1] : "";
        if (!parts[0].contains("/")) {
            return Stream.of("--add-modules", parts[0]);
        }
        List<String> options = new ArrayList<>();
        if (!how.equals("open")) {
            options.addAll(List.of("--add-exports", parts[0] + "=ALL-UNNAMED"));
        }
        if (how.endsWith("open") && !compiler) {
            options.addAll(List.of("--add-opens", parts[0] + "=ALL-UNNAMED"));
        }
        return options.stream();
    }
}
