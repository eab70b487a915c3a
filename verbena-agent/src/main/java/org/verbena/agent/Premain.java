// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.AllPermission;
import java.security.CodeSource;
import java.security.PermissionCollection;
import java.security.Permissions;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * The entry point of the agent. This class and {@link SocketHook} are compiled for Java 8, so that an older JVM can
 * print that it is too old; the rest of the agent is for Java 25 and has a class loader of its own, so that the agent's
 * privileges (see {@code Grants}) are not granted to the application's class path as well.
 */
public final class Premain {
    /** The system property with the state of the agent; {@code verbena attach} reads it. */
    static final String STATE = "verbena.agent";

    private static final int REQUIRED_JAVA = 25;

    /** The arguments of the agent that is active; null if none is. */
    private static String activeArguments;

    private Premain() {}

    /** For those who start the jar: says how it is used, and ends with 2, wrong command line. */
    public static void main(String[] words) {
        System.err.println("verbena: this jar is an agent: start a program as java -javaagent:verbena-agent.jar"
                + " -jar app.jar, or by 'verbena run -- COMMAND'");
        System.exit(2);
    }

    /** Called before the program's main class. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        start(arguments, instrumentation, false);
    }

    /** Called when attached to a running JVM. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        start(arguments, instrumentation, true);
    }

    private static synchronized void start(String arguments, Instrumentation instrumentation, boolean attached) {
        String given = arguments == null ? "" : arguments;
        if (activeArguments != null) { // specified twice, or attached to a JVM that has it
            if (!given.isEmpty() && !given.equals(activeArguments) && !isQuiet(given)) {
                System.err.println("verbena: the agent is here already: the arguments '" + given + "' are not read");
            }
            return;
        }
        String version = System.getProperty("java.specification.version", "1.8");
        if (feature(version) < REQUIRED_JAVA) {
            print(given, "not active: this is Java " + version + ", and Verbena needs " + REQUIRED_JAVA
                    + " or newer: put the bin of such a JDK first on PATH, or name its java");
            return;
        }
        try {
            activate(given, instrumentation, attached);
            activeArguments = given;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            reportFailure(given, e, attached);
        }
    }

    @SuppressWarnings("unchecked")
    private static void activate(String given, Instrumentation instrumentation, boolean attached)
            throws ReflectiveOperationException {
        URL jar = Premain.class.getProtectionDomain().getCodeSource().getLocation();
        // stays open: it loads the agent's classes
        ClassLoader own = new URLClassLoader(new URL[] {jar}, null) {
            /**
             * All permissions, as the JDK's own classes have: agents that apply a policy to callers on the stack are to
             * judge the program's.
             */
            @Override
            protected PermissionCollection getPermissions(CodeSource source) {
                Permissions all = new Permissions();
                all.add(new AllPermission());
                return all;
            }
        };
        BiFunction<String, Instrumentation, Supplier<Map<String, Object>>> installer = (BiFunction<String, Instrumentation, Supplier<Map<String, Object>>>) Class
                .forName(
                        "org.verbena.agent.AgentInstaller", true, own).getConstructor().newInstance();
        SocketHook.setActivation(installer.apply(given, instrumentation));
        if (attached) {
            SocketHook.provider(); // now, so that the attaching process gets the result
        }
    }

    /**
     * Invalid arguments end a program at its start; no failure ends a running one, and no other failure ends either.
     */
    private static void reportFailure(String given, Throwable problem, boolean attached) {
        if (problem instanceof IllegalArgumentException) {
            setState("not active: " + problem.getMessage());
            if (!attached) { // the attaching process reads the property
                System.err.println("verbena: " + problem.getMessage());
                System.err.flush();
                Runtime.getRuntime().halt(1); // exit would run the hooks of a program that has not started
            }
        } else {
            print(given, "not active: " + problem);
        }
    }

    /** Sets the property; where a policy forbids that to an agent, only the line is printed. */
    static void setState(String line) {
        try {
            System.setProperty(STATE, line);
        } catch (RuntimeException refused) {
            // an exception would end a starting program
        }
    }

    /** Prints the one line; with {@code quiet} only the property is set. */
    private static void print(String given, String line) {
        setState(line);
        if (!isQuiet(given)) {
            System.err.println("verbena: " + line);
        }
    }

    private static boolean isQuiet(String given) {
        return ("," + given + ",").contains(",quiet,");
    }

    /** 8 of "1.8", 17 of "17". */
    private static int feature(String version) {
        String v = version.startsWith("1.") ? version.substring(2) : version;
        int dot = v.indexOf('.');
        try {
            return Integer.parseInt(dot < 0 ? v : v.substring(0, dot));
        } catch (NumberFormatException unknown) {
            return 0;
        }
    }
}
