package org.verbena.sockets.rules;

import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;

/**
 * By what an {@code application-id} line knows this program.
 *
 * @param names any of which the line's first word may match
 * @param id what the line's second word may be
 */
public record Application(Set<String> names, String id) {
    /** The system property that names the program, beside its class and jar. */
    static final String NAME = "verbena.application";

    /** The system property with the id; the variable VMA_APPLICATION_ID is looked at as well. */
    static final String ID = "verbena.application.id";

    private static final String VARIABLE = "VMA_APPLICATION_ID";
    private static final String DEFAULT_ID = "VMA_DEFAULT_APPLICATION_ID";
    private static final String JAR = ".jar";

    /** This process. */
    static Application own() {
        String id = System.getProperty(ID, Objects.requireNonNullElse(System.getenv(VARIABLE), DEFAULT_ID));
        return of(System.getProperty("sun.java.command", ""), System.getProperty(NAME, ""), id);
    }

    /** One that is called {@code text}, by name or by id. */
    public static Application named(String text) {
        Set<String> names = names(text);
        names.add(text);
        return new Application(Set.copyOf(names), text);
    }

    static Application of(String command, String property, String id) {
        Set<String> names = names(command);
        if (!property.isEmpty()) {
            names.add(property);
        }
        return new Application(Set.copyOf(names), id);
    }

    /** {@code java}, by which libvma knows every one; the main class with and without package, or the jar likewise. */
    private static Set<String> names(String command) {
        Set<String> names = new LinkedHashSet<>();
        names.add("java");
        int jar = (command + " ").indexOf(JAR + " ");
        if (jar >= 0) { // its path may have blanks
            String name = command.substring(command.lastIndexOf('/', jar) + 1, jar);
            names.add(name);
            names.add(name + JAR);
        } else if (!command.isEmpty()) {
            String main = command.split(" ", 2)[0];
            main = main.substring(main.indexOf('/') + 1); // the module
            names.add(main);
            names.add(main.substring(main.lastIndexOf('.') + 1));
        }
        return names;
    }
}
