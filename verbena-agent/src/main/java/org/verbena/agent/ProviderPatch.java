// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.constant.ClassDesc;
import java.lang.instrument.Instrumentation;
import java.nio.channels.spi.SelectorProvider;

/**
 * Makes {@link SelectorProvider#provider()} return Verbena's provider, also after the JDK has selected one.
 *
 * <p>The JDK's own extension point is a class named by a system property. It is useless in a running JVM, which has
 * already selected one; and such a class, found on the class path, could not be Verbena's provider, which is in a
 * module layer, but only a wrapper, so that {@code channel.provider() == SelectorProvider.provider()} would not hold.
 *
 * <p>So a method of the JDK calls {@link SocketHook#provider()} first. It is the method that selects the provider,
 * which runs once and before the first channel; if it has already run, the public method, which is called for each
 * channel that is opened.
 */
final class ProviderPatch {
    private static final String PUBLIC_CLASS = SelectorProvider.class.getName();
    private static final String HOLDER_CLASS = PUBLIC_CLASS + "$Holder";
    private static final ClassDesc PROVIDER = ClassDesc.of("java.nio.channels.spi.SelectorProvider");

    private ProviderPatch() {}

    /**
     * Applies the patch.
     *
     * @return whether the JDK has already selected one
     * @throws IllegalStateException if patching fails; nothing is changed then
     */
    static boolean apply(Patches patches) throws ClassNotFoundException {
        boolean late = isLoaded(patches.instrumentation(), HOLDER_CLASS);
        patches.apply(
                new HookPatch(late ? PUBLIC_CLASS : HOLDER_CLASS, "provider",
                        "()Ljava/nio/channels/spi/SelectorProvider;", "provider", null,
                        PROVIDER));
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
