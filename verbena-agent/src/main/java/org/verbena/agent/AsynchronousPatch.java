// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.constant.ClassDesc;
import java.nio.channels.spi.AsynchronousChannelProvider;

/**
 * Makes {@link AsynchronousChannelProvider#provider()} return Verbena's provider where it would return the JDK's own: a
 * provider that a program configures by the JDK's system property, or by a service file, stays.
 *
 * <p>The method that creates the JDK's own calls {@link SocketHook#asynchronousProvider()} first. It runs once, before
 * the first asynchronous channel; if it has already run, the public method is patched instead, which is called for each
 * channel that is opened in the default group. Existing groups, and channels opened in them, stay the JDK's.
 */
final class AsynchronousPatch {
    private static final String PUBLIC_CLASS = AsynchronousChannelProvider.class.getName();
    private static final String HOLDER_CLASS = PUBLIC_CLASS + "$ProviderHolder";
    private static final String DEFAULT_CLASS = "sun.nio.ch.DefaultAsynchronousChannelProvider";
    private static final ClassDesc PROVIDER = ClassDesc.of("java.nio.channels.spi.AsynchronousChannelProvider");

    private AsynchronousPatch() {}

    /**
     * Applies the patch.
     *
     * @return false if the program has a provider of its own, which stays
     * @throws IllegalStateException if patching fails; nothing is changed then
     */
    static boolean apply(Patches patches) throws ClassNotFoundException {
        if (!ProviderPatch.isLoaded(patches.instrumentation(), HOLDER_CLASS)) {
            patches.apply(patch(DEFAULT_CLASS, "create"));
        } else if (AsynchronousChannelProvider.provider().getClass().getClassLoader() == null) {
            patches.apply(patch(PUBLIC_CLASS, "provider"));
        } else {
            return false;
        }
        return true;
    }

    /** The patch of either method. */
    static MethodPatch patch(String type, String method) {
        return new HookPatch(type, method, "()Ljava/nio/channels/spi/AsynchronousChannelProvider;",
                "asynchronousProvider", null, PROVIDER);
    }
}
