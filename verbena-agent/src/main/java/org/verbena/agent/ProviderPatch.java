// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.Instrumentation;
import java.nio.channels.spi.SelectorProvider;

/**
 * Makes {@link SelectorProvider#provider()} answer Verbena's provider, also after the JDK has chosen one.
 *
 * <p>The JDK's own way in is a class named by a system property. It is of no use to a JVM that runs, which has chosen
 * already; and such a class, found on the class path, could not be Verbena's provider, which is in a module layer, but
 * only stand before it, so that {@code channel.provider() == SelectorProvider.provider()} would not hold.
 *
 * <p>So a method of the JDK asks {@link SocketHook#provider()} first. It is the method that chooses the provider, which
 * runs once and before the first channel; where that has happened already, the public one, which is called for each
 * channel that is opened.
 */
final class ProviderPatch {
    private static final String PUBLIC_CLASS = SelectorProvider.class.getName();
    private static final String HOLDER_CLASS = PUBLIC_CLASS + "$Holder";
    private static final String PROVIDER = "java/nio/channels/spi/SelectorProvider";

    private ProviderPatch() {}

    /**
     * Changes it.
     *
     * @return whether the JDK has chosen one before
     * @throws IllegalStateException if it does not work; nothing is changed then
     */
    static boolean apply(Patches patches) throws ClassNotFoundException {
        boolean late = isLoaded(patches.instrumentation(), HOLDER_CLASS);
        patches.apply(
                new HookPatch(late ? PUBLIC_CLASS : HOLDER_CLASS, "provider", "()L" + PROVIDER + ";", "provider", null, PROVIDER));
        return late;
    }

    static boolean isLoaded(Instrumentation instrumentation, String name) {
        for (Class<?> c : instrumentation.getAllLoadedClasses()) {
            if (c.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }
}
