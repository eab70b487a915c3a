// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.nio.channels.spi.AsynchronousChannelProvider;

/**
 * Makes {@link AsynchronousChannelProvider#provider()} answer Verbena's provider where it would answer the JDK's own: what
 * a program names by the JDK's system property, or by a service file, stays.
 *
 * <p>The method that makes the JDK's own asks {@link SocketHook#asynchronousProvider()} first. It runs once, before the
 * first asynchronous channel; where that has happened already it is the public one, which is called for each channel that
 * is opened in the default group. Groups that are there by then, and what is opened in them, stay the JDK's.
 */
final class AsynchronousPatch {
    private static final String PUBLIC_CLASS = AsynchronousChannelProvider.class.getName();
    private static final String HOLDER_CLASS = PUBLIC_CLASS + "$ProviderHolder";
    private static final String DEFAULT_CLASS = "sun.nio.ch.DefaultAsynchronousChannelProvider";
    private static final String PROVIDER = "java/nio/channels/spi/AsynchronousChannelProvider";

    private AsynchronousPatch() {}

    /**
     * Changes it.
     *
     * @return false if the program has one of its own, which stays
     * @throws IllegalStateException if it does not work; nothing is changed then
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

    /** Of either method. */
    static MethodPatch patch(String type, String method) {
        return new HookPatch(type, method, "()L" + PROVIDER + ";", "asynchronousProvider", null, PROVIDER);
    }
}
