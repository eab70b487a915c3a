// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.verbena.tests.CommandOptions;

/** Compiles sources, packs classes into jars, and finds those of this build. */
public final class Jars {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    private Jars() {}

    /** The jar or folder of the class path whose path contains this. */
    static Path onClassPath(String part) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(p -> p.contains(part)).map(Path::of).findFirst()
                .orElseThrow(() -> new AssertionError("no " + part + " on the class path"));
    }

    /** A copy of a jar, or a jar of a folder of classes. */
    static Path pack(Path classes, Path jar) {
        try {
            Files.createDirectories(jar.getParent());
            if (Files.isRegularFile(classes)) {
                return Files.copy(classes, jar);
            }
            try (OutputStream file = Files.newOutputStream(jar);
                    JarOutputStream out = new JarOutputStream(file);
                    Stream<Path> files = Files.walk(classes)) {
                for (Path f : files.filter(Files::isRegularFile).toList()) {
                    out.putNextEntry(new JarEntry(classes.relativize(f).toString()));
                    Files.copy(f, out);
                    out.closeEntry();
                }
            }
            return jar;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Compiles all sources below a folder; returns the errors, one per line, none if it worked. */
    static List<String> compile(Path sources, List<Path> modulePath, List<Path> classPath, Path classes) {
        List<Path> files;
        try (Stream<Path> all = Files.walk(sources)) {
            files = all.filter(f -> f.toString().endsWith(".java")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return compile(files, modulePath, classPath, classes);
    }

    /** Compiles sources; returns the errors. */
    public static List<String> compile(List<Path> files, List<Path> modulePath, List<Path> classPath, Path classes) {
        List<String> options = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString()));
        options.addAll(CommandOptions.exportsOnClassPath()); // sources of verbena-sockets are among them
        options.addAll(modulePath.isEmpty() ? List.of() : List.of("--module-path", path(modulePath)));
        options.addAll(classPath.isEmpty() ? List.of() : List.of("-cp", path(classPath)));
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        try (StandardJavaFileManager manager = COMPILER.getStandardFileManager(null, null, null)) {
            Files.createDirectories(classes);
            COMPILER.getTask(null, manager, diagnostics, options, null, manager.getJavaFileObjectsFromPaths(files))
                    .call();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return diagnostics.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR)
                .map(d -> d.getMessage(Locale.ROOT)).toList();
    }

    /** Compiles sources that must compile, and packs them. */
    static Path build(Path sources, List<Path> modulePath, Path jar) {
        Path classes = jar.resolveSibling(jar.getFileName() + ".classes");
        List<String> errors = compile(sources, modulePath, List.of(), classes);
        if (!errors.isEmpty()) {
            throw new AssertionError(sources + " does not compile: " + String.join("\n", errors));
        }
        return pack(classes, jar);
    }

    static String path(List<Path> paths) {
        return paths.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
}
