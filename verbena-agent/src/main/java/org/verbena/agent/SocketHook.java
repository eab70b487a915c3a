package org.verbena.agent;

import java.nio.channels.spi.SelectorProvider;
import java.util.function.Supplier;

/**
 * Where the JDK's {@code SelectorProvider}, as {@code ProviderPatch} has changed it, finds Verbena's
 * provider. On the class path, where the JDK looks.
 */
public final class SocketHook {
    private static Supplier<?> activation;
    private static Object provider;

    private SocketHook() {}

    /** Verbena's, or null for the one that the JDK takes without Verbena. Called at the first use of a channel. */
    public static synchronized SelectorProvider provider() {
        if (activation != null) {
            Supplier<?> a = activation;
            activation = null;
            provider = a.get();
        }
        return (SelectorProvider) provider;
    }

    /** Says who makes the provider; it throws nothing. Called once. */
    static synchronized void set(Supplier<?> maker) {
        activation = maker;
    }
}
