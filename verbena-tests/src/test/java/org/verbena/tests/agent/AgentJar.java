// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import javax.tools.ToolProvider;

/** The jar of the agent from the build, or, if the build has only compiled, one that is created in the same way. */
public final class AgentJar {
    private static final List<String> MODULES = List.of("linux", "telemetry", "verbs", "shm", "roce", "sockets");

    /** What was compiled in this JVM, by the program and the Java it is for: most tests have the same few. */
    private static final Map<List<String>, Map<String, byte[]>> COMPILED = new HashMap<>();

    private AgentJar() {}

    public static Path in(Path scratch) throws IOException {
        Path built = onClassPath("agent");
        if (Files.isRegularFile(built)) {
            return built;
        }
        Path jar = scratch.resolve("verbena-agent.jar");
        try (OutputStream file = Files.newOutputStream(jar); ZipOutputStream out = new ZipOutputStream(file)) {
            add(out, built, "", p -> !p.startsWith("META-INF/modules/"));
            for (String m : MODULES) {
                add(out, onClassPath(m), "META-INF/modules/org.verbena." + m + "/", p -> true);
            }
        }
        return jar;
    }

    /** The jar or folder of a module. */
    static Path onClassPath(String module) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(p -> p.matches(".*/verbena-" + module + "(/target/.*|[-.].*)"))
                .map(Path::of).findFirst().orElseThrow(() -> new AssertionError("no " + module + " on the class path"));
    }

    /** A jar with the selected files of a folder or jar of classes. */
    public static Path copy(Path classes, Path jar, Predicate<String> wanted) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar); ZipOutputStream out = new ZipOutputStream(file)) {
            add(out, classes, "", wanted);
        }
        return jar;
    }

    /** A jar for {@code java -jar}. */
    static Path runnable(Path classes, String main, Path jar) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, main);
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            add(out, classes, "", p -> true);
        }
        return jar;
    }

    /** A jar for {@code -javaagent}, or to attach, of an agent that may transform classes. */
    public static Path agent(Path classes, String premain, Path jar) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", premain);
        manifest.getMainAttributes().putValue("Agent-Class", premain);
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            add(out, classes, "", p -> true);
        }
        return jar;
    }

    private static void add(ZipOutputStream out, Path classes, String folder, Predicate<String> wanted)
            throws IOException {
        if (Files.isRegularFile(classes)) {
            try (java.util.zip.ZipFile zip = new java.util.zip.ZipFile(classes.toFile())) {
                for (ZipEntry e : zip.stream().filter(e -> !e.isDirectory() && wanted.test(e.getName())).toList()) {
                    out.putNextEntry(new ZipEntry(folder + e.getName()));
                    zip.getInputStream(e).transferTo(out);
                    out.closeEntry();
                }
            }
            return;
        }
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path f : files.filter(Files::isRegularFile).toList()) {
                String name = classes.relativize(f).toString();
                if (wanted.test(name)) {
                    out.putNextEntry(new ZipEntry(folder + name));
                    Files.copy(f, out);
                    out.closeEntry();
                }
            }
        }
    }

    /** Compiles the test's program {@code Report} for Java 8 into a folder. */
    public static Path program(Path folder) throws IOException {
        return program(folder, "Report");
    }

    /** Compiles one of the tests' programs for Java 8 into a folder. */
    public static Path program(Path folder, String name) throws IOException {
        return program(folder, name, "8");
    }

    /** Compiles one of the tests' programs for a Java into a folder. */
    public static Path program(Path folder, String name, String release) throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        for (Map.Entry<String, byte[]> file : compiled(folder, name, release).entrySet()) {
            Path to = classes.resolve(file.getKey());
            Files.createDirectories(to.getParent());
            Files.write(to, file.getValue());
        }
        return classes;
    }

    private static synchronized Map<String, byte[]> compiled(Path scratch, String name, String release)
            throws IOException {
        List<String> key = List.of(name, release);
        Map<String, byte[]> known = COMPILED.get(key);
        if (known != null) {
            return known;
        }
        Path made = Files.createTempDirectory(scratch, "compiled");
        Path source = made.resolve(name + ".java");
        try (var in = AgentJar.class.getResourceAsStream("/agent/" + name + ".java")) {
            Files.copy(in, source);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, "-nowarn", "-Xlint:-options", "--release",
                release, "-d", made.toString(), source.toString())).isZero();
        Files.delete(source);
        Map<String, byte[]> files = new HashMap<>();
        try (Stream<Path> all = Files.walk(made)) {
            for (Path f : all.filter(Files::isRegularFile).toList()) {
                files.put(made.relativize(f).toString(), Files.readAllBytes(f));
            }
        }
        COMPILED.put(key, files);
        return files;
    }
}
