// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The identity of this program for {@code application-id} lines.
 *
 * @param names any of which the line's first word may match; empty for any program, of which the name is not known
 * @param id what the line's second word may be; null for any
 */
public record Application(Set<String> names, @Nullable String id) {
    /** The system property that names the program, beside its class and jar. */
    static final String NAME = "verbena.application";

    /** The system property with the id; the variable VMA_APPLICATION_ID is read as well. */
    static final String ID = "verbena.application.id";

    private static final String VARIABLE = "VMA_APPLICATION_ID";
    private static final String DEFAULT_ID = "VMA_DEFAULT_APPLICATION_ID";
    private static final String JAR = ".jar";

    /** The main class of a program that is not started from a jar, with its module before it. */
    private static final String CLASS = "([\\w.]+/)?[\\w$\\P{ASCII}]+(\\.[\\w$\\P{ASCII}]+)*";

    /** This process. */
    static Application own() {
        String id = System.getProperty(ID, Objects.requireNonNullElse(System.getenv(VARIABLE), DEFAULT_ID));
        return of(System.getProperty("sun.java.command", ""), System.getProperty(NAME, ""), id);
    }

    /**
     * Another program than this.
     *
     * @param name of its class or jar, or the value of {@code verbena.application}; null if every block may match it
     * @param id null if every block may match it
     */
    public static Application named(@Nullable String name, @Nullable String id) {
        Set<String> names = name == null ? Set.of() : names(name);
        if (name != null) {
            names.add(name);
        }
        return new Application(Set.copyOf(names), id);
    }

    static Application of(String command, String property, String id) {
        Set<String> names = names(command);
        if (!property.isEmpty()) {
            names.add(property);
        }
        return new Application(Set.copyOf(names), id);
    }

    /** {@code java}, the name of each for libvma; the main class with and without package, or the jar likewise. */
    private static Set<String> names(String command) {
        Set<String> names = new LinkedHashSet<>();
        names.add("java");
        int jar = (command + " ").indexOf(JAR + " ");
        String first = command.split(" ", 2)[0];
        if (jar >= 0 && (first.endsWith(JAR) || !Pattern.matches(CLASS, first))) { // its path may have blanks
            String name = command.substring(command.lastIndexOf('/', jar) + 1, jar);
            names.add(name);
            names.add(name + JAR);
        } else if (!command.isEmpty()) {
            String main = first.substring(first.indexOf('/') + 1); // the module
            names.add(main);
            names.add(main.substring(main.lastIndexOf('.') + 1));
        }
        return names;
    }
}
