// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A modified copy of the sources of a module; a place to change that is missing, or occurs twice, is an error. */
final class SourcePatch {
    private final Path root;
    private final Path pkg;

    private SourcePatch(Path root, Path pkg) {
        this.root = root;
        this.pkg = pkg;
    }

    /**
     * Copies sources.
     *
     * @param module the module's sources
     * @param added sources of classes that the module has not
     * @param name of the package that is changed
     */
    static SourcePatch of(Path module, Path added, Path copy, String name) {
        copy(module, copy);
        copy(added, copy);
        return new SourcePatch(copy, copy.resolve(name.replace('.', '/')));
    }

    private static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path f : files.filter(Files::isRegularFile).toList()) {
                Path target = to.resolve(from.relativize(f).toString());
                Files.createDirectories(target.getParent());
                Files.copy(f, target);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The patched sources. */
    Path root() {
        return root;
    }

    private String read(String type) {
        try {
            return Files.readString(pkg.resolve(type + ".java"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Replaces the one match of a regular expression. */
    SourcePatch replace(String type, String regex, String by) {
        String s = read(type);
        Matcher m = Pattern.compile(regex).matcher(s);
        if (!m.find()) {
            throw new AssertionError(type + " has nothing like " + regex);
        }
        String changed = s.substring(0, m.start()) + m.group().replaceFirst(regex, by) + s.substring(m.end());
        if (m.find()) {
            throw new AssertionError(type + " has more than one " + regex);
        }
        try {
            Files.writeString(pkg.resolve(type + ".java"), changed);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Adds members at the beginning of a class, which may be a nested one. */
    SourcePatch add(String type, String nested, String members) {
        return replace(type, "(?m)^ *[a-z ]*class " + nested + "\\b[^{]*\\{", "$0\n" + Matcher.quoteReplacement(
                members));
    }

    /** Adds members at the beginning of a class. */
    SourcePatch add(String type, String members) {
        return add(type, type, members);
    }

    /** Adds statements at the beginning of a constructor or method. */
    SourcePatch begin(String type, String signature, String statements) {
        return replace(type, Pattern.quote(signature) + "[^{;]*\\{", "$0\n" + Matcher.quoteReplacement(statements));
    }

    /** Adds bits to a method that returns a mask, and may not be overridden yet. */
    SourcePatch supports(String type, String method, String bits) {
        String signature = "protected int " + method + "() {";
        return read(type).contains(signature)
                ? replace(type, Pattern.quote(signature) + "\\s*return ([^;]+);", Matcher.quoteReplacement(signature)
                        + " return ($1) | " + bits + ";")
                : add(type, "@Override " + signature + " return super." + method + "() | " + bits + "; }");
    }

    /** Renames an overriding method, so that another can take its place. */
    SourcePatch rename(String type, String signature, String privateSignature) {
        return replace(type, "@Override\\s+public " + Pattern.quote(signature), Matcher.quoteReplacement("private "
                + privateSignature));
    }
}
