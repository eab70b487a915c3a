// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;

import jdk.internal.access.JavaLangAccess;
import jdk.internal.access.SharedSecrets;

/** The access to the JDK that Verbena's modules need and get from the agent, in place of options of the JVM. */
final class Grants {
    private static final Module BASE = Object.class.getModule();
    /** The last slot of those of java.lang.Shutdown. */
    private static final int LAST_HOOK = 9;

    private Grants() {}

    /** As {@code --add-exports java.base/sun.nio.ch=}, and {@code sun.net}, {@code jdk.internal.access}, {@code jdk.internal.event}. */
    static void exports(Instrumentation instrumentation, Module sockets) {
        export(instrumentation, sockets, "sun.nio.ch", "sun.net", "jdk.internal.access", "jdk.internal.event");
    }

    /**
     * Exports the packages that the program itself has put into {@code java.base} ({@code --patch-module}): they are
     * for code of the JDK that an agent patches, and that Verbena's replaces. Elasticsearch's entitlements call their
     * classes there from the process's selector provider, which may be Verbena's.
     */
    static void patches(Instrumentation instrumentation, Module sockets) {
        for (String p : BASE.getPackages()) {
            if (!isOfJdk(p)) { // the JDK's own list of its packages includes those, too
                export(instrumentation, sockets, p);
            }
        }
    }

    private static boolean isOfJdk(String name) {
        return name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("sun.")
                || name.startsWith("javax.") || name.startsWith("com.sun.") || name.startsWith("apple.");
    }

    /**
     * As {@code --enable-native-access=}. There is a public method, {@link ModuleLayer.Controller#enableNativeAccess},
     * but its caller needs native access itself, and the manifest attribute {@code Enable-Native-Access} of an agent's
     * jar is ignored: hence the JDK's internal method, through a package that is exported to the agent's class loader
     * alone.
     */
    static void nativeAccess(Instrumentation instrumentation, Module linux) {
        if (linux.isNativeAccessEnabled()) {
            return;
        }
        JavaLangAccess access = access(instrumentation);
        if (linux.isNamed()) {
            access.addEnableNativeAccess(linux);
        } else {
            access.addEnableNativeAccessToAllUnnamed();
        }
    }

    /**
     * Runs a task when all shutdown hooks of the program have ended, since these may use sockets: as one of the ten
     * hooks of the JDK itself, which run one after the other, in the last slot, which is unused.
     *
     * @throws IllegalStateException if the slot is used
     */
    static void atExit(Instrumentation instrumentation, Runnable task) {
        try {
            access(instrumentation).registerShutdownHook(LAST_HOOK, false, task);
        } catch (InternalError e) {
            throw new IllegalStateException("the summary cannot be written at the end: " + e.getMessage(), e);
        }
    }

    /** The access of the JDK's own packages to java.lang; also exports {@code jdk.internal.module}. */
    static JavaLangAccess access(Instrumentation instrumentation) {
        export(instrumentation, Grants.class.getModule(), "jdk.internal.access", "jdk.internal.module");
        return SharedSecrets.getJavaLangAccess();
    }

    /** As {@code --add-opens java.base/java.net=}, for the agent's own class loader alone. */
    static void openSockets(Instrumentation instrumentation) {
        instrumentation.redefineModule(BASE, Set.of(), Map.of(), Map.of("java.net", Set.of(Grants.class.getModule())),
                Set.of(), Map.of());
    }

    private static void export(Instrumentation instrumentation, Module to, String... packages) {
        for (String p : packages) {
            instrumentation.redefineModule(BASE, Set.of(), Map.of(p, Set.of(to)), Map.of(), Set.of(), Map.of());
        }
    }
}
