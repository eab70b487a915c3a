// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.Instrumentation;

import org.jspecify.annotations.Nullable;

/**
 * The Verbena that a program ships, as a module or on the class path, of any version: where the agent uses another one,
 * the program may still open channels of its own one.
 */
record ApplicationVerbena(ClassLoader loader, Module sockets, Module linux) {
    /** That of the system class loader, which includes the modules; null if there is none, or an incomplete one. */
    static @Nullable ApplicationVerbena find() {
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        try {
            Module linux = Class.forName(InnerModules.LINUX + ".Sys", false, loader).getModule();
            return new ApplicationVerbena(loader, sockets(loader), linux);
        } catch (ReflectiveOperationException | LinkageError e) {
            return null;
        }
    }

    private static Module sockets(ClassLoader loader) throws ClassNotFoundException {
        try {
            return Class.forName(Implementation.DROP_IN, false, loader).getModule();
        } catch (ClassNotFoundException e) { // a version from before the agent
            return Class.forName(InnerModules.SOCKETS + ".VerbenaSockets", false, loader).getModule();
        }
    }

    /** Grants it the access to the JDK that its channels need. */
    void grant(Instrumentation instrumentation) {
        Grants.exports(instrumentation, sockets);
        Grants.nativeAccess(instrumentation, linux);
    }
}
