// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;

import jdk.internal.access.JavaLangAccess;
import jdk.internal.access.SharedSecrets;

/** What Verbena's modules need of the JDK and get by the agent, where others need options of the JVM's. */
final class Grants {
    private static final Module BASE = Object.class.getModule();
    /** Of those that java.lang.Shutdown has. */
    private static final int LAST_HOOK = 9;

    private Grants() {}

    /** As {@code --add-exports java.base/sun.nio.ch=}, and {@code sun.net}, {@code jdk.internal.access}, {@code jdk.internal.event}. */
    static void exports(Instrumentation instrumentation, Module sockets) {
        export(instrumentation, sockets, "sun.nio.ch", "sun.net", "jdk.internal.access", "jdk.internal.event");
    }

    /**
     * Exports the packages that the program itself has put into {@code java.base} ({@code --patch-module}): they are for code of the
     * JDK's that an agent changes, and Verbena's stands in its place. Elasticsearch's entitlements call what they have put
     * there from the process's selector provider, whose it may be.
     */
    static void patches(Instrumentation instrumentation, Module sockets) {
        for (String p : BASE.getPackages()) {
            if (!isOfJdk(p)) { // the JDK's own list of its packages has those, too
                export(instrumentation, sockets, p);
            }
        }
    }

    private static boolean isOfJdk(String name) {
        return name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("sun.")
                || name.startsWith("javax.") || name.startsWith("com.sun.") || name.startsWith("apple.");
    }

    /**
     * As {@code --enable-native-access=}. There is a public way, {@link ModuleLayer.Controller#enableNativeAccess}, but it
     * is for those who have native access themselves, and an agent's jar is not asked for its manifest's
     * {@code Enable-Native-Access}: hence the JDK's own, through a package that is exported to the agent's class loader
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
     * Has something run when all shutdown hooks of the program have ended, since these may use sockets: among the hooks of the
     * JDK itself, of which there are ten, run one after the other, and the last one is nobody's.
     *
     * @throws IllegalStateException if it is somebody's
     */
    static void atExit(Instrumentation instrumentation, Runnable task) {
        try {
            access(instrumentation).registerShutdownHook(LAST_HOOK, false, task);
        } catch (InternalError e) {
            throw new IllegalStateException("the summary cannot be written at the end: " + e.getMessage(), e);
        }
    }

    /** What the JDK's own packages ask of java.lang; {@code jdk.internal.module} can be used, too, when this has returned. */
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
