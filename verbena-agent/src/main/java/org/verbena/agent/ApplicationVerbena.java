// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.Instrumentation;

import org.jspecify.annotations.Nullable;

/**
 * The Verbena that a program ships, as a module or on the class path, of any version: where the agent brings another one, the
 * program's may be asked for its channels all the same.
 */
record ApplicationVerbena(ClassLoader loader, Module sockets, Module linux) {
    /** The system class loader's, which knows the modules as well; null if it has none, or half of one. */
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
        } catch (ClassNotFoundException e) { // one before there was an agent
            return Class.forName(InnerModules.SOCKETS + ".VerbenaSockets", false, loader).getModule();
        }
    }

    /** Gives it what its channels need of the JDK. */
    void grant(Instrumentation instrumentation) {
        Grants.exports(instrumentation, sockets);
        Grants.nativeAccess(instrumentation, linux);
    }
}
