// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.verbena.testkit.Folders;

/**
 * A process that compiles and runs one example after the other, as Java's source launcher does: the start of a JVM with a
 * compiler takes most of what an example takes. It reads paths, prints what the examples print, and {@link #END} with an exit code
 * after each. The tests' end is {@link ExampleProcess#run}.
 */
final class ExampleHost {
    /** Begins the line after the output of an example. */
    static final String END = "\u0000end ";

    private ExampleHost() {}

    /** Runs what standard input names; the arguments are options of the compiler's. */
    public static void main(String[] options) throws IOException {
        BufferedReader paths = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String path = paths.readLine(); path != null; path = paths.readLine()) {
            int code = run(Path.of(path), List.of(options));
            System.out.println(END + code);
        }
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // as the launcher does
    private static int run(Path example, List<String> options) throws IOException {
        Path classes = Files.createTempDirectory("verbena-example");
        try (URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
            if (!compile(example, classes, options)) {
                return 1;
            }
            loader.loadClass(example.getFileName().toString().replace(".java", "")).getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
            return 0;
        } catch (ReflectiveOperationException e) {
            e.printStackTrace();
            return 1;
        } finally {
            Folders.remove(classes);
        }
    }

    private static boolean compile(Path example, Path classes, List<String> options) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> all = Stream.concat(options.stream(), Stream.of("-proc:none", "-d", classes.toString(),
                    "-sourcepath", String.valueOf(example.getParent()), "-p", System.getProperty("jdk.module.path",
                            ""))).toList();
            return compiler.getTask(null, files, null, all, null, files.getJavaFileObjects(example)).call();
        }
    }
}
