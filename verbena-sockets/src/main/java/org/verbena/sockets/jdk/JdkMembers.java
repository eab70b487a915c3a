// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.jdk;

import java.lang.invoke.MethodHandles;

import jdk.internal.access.JavaLangAccess;
import jdk.internal.access.SharedSecrets;

/**
 * Private members of {@code sun.nio.ch}. Package {@code jdk.internal.access} makes them accessible, where it is exported to this
 * module.
 */
public final class JdkMembers {
    private JdkMembers() {}

    /** Whether {@link #lookup} can work. */
    public static boolean areAccessible() {
        return Object.class.getModule().isExported("jdk.internal.access", JdkMembers.class.getModule());
    }

    /**
     * Looks up members of a class of {@code sun.nio.ch}.
     *
     * @throws IllegalAccessException if the JVM does not allow it
     */
    public static MethodHandles.Lookup lookup(Class<?> of) throws IllegalAccessException {
        Opened.open();
        return MethodHandles.privateLookupIn(of, MethodHandles.lookup());
    }

    /** Loaded only where the package is exported. */
    private static final class Opened {
        static void open() {
            Module mine = JdkMembers.class.getModule();
            Module base = Object.class.getModule();
            JavaLangAccess access = SharedSecrets.getJavaLangAccess();
            if (mine.isNamed()) {
                access.addOpens(base, "sun.nio.ch", mine);
            } else {
                access.addOpensToAllUnnamed(base, "sun.nio.ch");
            }
        }
    }
}
