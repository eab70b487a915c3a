// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.testkit.Jvm;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsObject;

/** The public methods of the compiled API, so that a test of all of them includes those that are added later. */
final class ApiMethods {
    private static final String PACKAGE = "org/verbena/verbs";

    private ApiMethods() {}

    /** The public classes of the API. */
    static List<Class<?>> classes() {
        try {
            Path root = Jvm.classesOf(Verbs.class);
            if (Files.isDirectory(root)) {
                return classes(root.resolve(PACKAGE));
            }
            try (FileSystem jar = FileSystems.newFileSystem(root)) {
                return classes(jar.getPath(PACKAGE));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Class<?>> classes(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            List<Class<?>> all = new ArrayList<>();
            for (String name : files.map(f -> f.getFileName().toString()).filter(n -> n.endsWith(".class"))
                    .filter(n -> !n.startsWith("package-info")).sorted().toList()) {
                all.add(load(PACKAGE.replace('/', '.') + "." + name.replace(".class", "")));
            }
            return all.stream().filter(ApiMethods::isPublic).toList();
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, Verbs.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isPublic(Class<?> c) {
        return Modifier.isPublic(c.getModifiers())
                && (c.getEnclosingClass() == null || isPublic(c.getEnclosingClass()));
    }

    /** Public methods of the class itself. */
    static List<Method> methods(Class<?> c) {
        return Arrays.stream(c.getDeclaredMethods()).filter(m -> Modifier.isPublic(m.getModifiers()))
                .filter(m -> !m.isSynthetic()).toList();
    }

    /** True if the method takes an object of a context. */
    static boolean takesObject(Executable m) {
        return Arrays.stream(m.getGenericParameterTypes()).anyMatch(ApiMethods::isObject);
    }

    private static boolean isObject(Type t) {
        return switch (t) {
            case Class<?> c -> VerbsObject.class.isAssignableFrom(c);
            case ParameterizedType p -> Arrays.stream(p.getActualTypeArguments()).anyMatch(ApiMethods::isObject);
            default -> false;
        };
    }

    /**
     * The name of a method in the form that the tables of tests use, for instance {@code
     * QueuePair.modify(QueuePairAttributes)}.
     */
    static String signature(Executable m) {
        String owner = m.getDeclaringClass().getName().replaceAll(".*\\.", "").replace('$', '.');
        return owner + "." + m.getName() + "("
                + Arrays.stream(m.getParameterTypes()).map(Class::getSimpleName).collect(Collectors.joining(", "))
                + ")";
    }
}
