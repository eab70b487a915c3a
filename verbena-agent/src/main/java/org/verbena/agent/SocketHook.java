// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.net.SocketImpl;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The methods that patched methods of the JDK call, see {@link HookPatch}. On the class path, where the JDK can find
 * them. A result of null means: as without Verbena.
 */
public final class SocketHook {
    /** Key of the {@link SelectorProvider}. */
    static final String PROVIDER = "provider";

    /**
     * Key of the supplier of the {@link AsynchronousChannelProvider}, called when the first such channel is opened;
     * absent if the JDK's stays.
     */
    static final String ASYNCHRONOUS = "asynchronous";

    /**
     * Key of a function that creates a socket implementation, its argument tells whether it is to listen; absent if
     * classic sockets are off.
     */
    static final String SOCKETS = "sockets";

    /** Key of a function from a listening implementation to one that it can accept into. */
    static final String ACCEPTING = "accepting";

    private static Supplier<Map<String, Object>> activation;
    private static volatile Map<String, Object> hooks;
    private static volatile boolean failed;

    private SocketHook() {}

    /** Verbena's provider. Called at the first use of a channel. */
    public static SelectorProvider provider() {
        Map<String, Object> g = hooks();
        return g == null ? null : (SelectorProvider) g.get(PROVIDER);
    }

    /** Verbena's provider of asynchronous channels. Called at the first use of one. */
    @SuppressWarnings("unchecked")
    public static AsynchronousChannelProvider asynchronousProvider() {
        Map<String, Object> g = hooks();
        Supplier<AsynchronousChannelProvider> maker = g == null
                ? null
                : (Supplier<AsynchronousChannelProvider>) g.get(ASYNCHRONOUS);
        try {
            return maker == null ? null : maker.get();
        } catch (RuntimeException | Error e) { // an exception would disable the JDK's asynchronous channels permanently
            System.err.println("verbena: asynchronous channels stay the JDK's: " + e);
            return null;
        }
    }

    /** A new implementation of a classic socket. */
    public static SocketImpl socketImpl(Boolean server) {
        return failed ? null : create(SOCKETS, server);
    }

    /** The implementation that a listening classic socket accepts into: of its own kind, whatever new sockets are. */
    public static SocketImpl accepting(SocketImpl listener) {
        return create(ACCEPTING, listener);
    }

    @SuppressWarnings("unchecked")
    private static <T> SocketImpl create(String what, T argument) {
        Map<String, Object> g = hooks();
        Function<T, SocketImpl> function = g == null ? null : (Function<T, SocketImpl>) g.get(what);
        if (function == null) {
            return null;
        }
        try {
            return function.apply(argument);
        } catch (VirtualMachineError e) { // out of memory or stack now: this one is the JDK's, the next may be Verbena's
            return null;
        } catch (RuntimeException | Error e) { // a program that creates a socket must not see foreign exceptions
            fail(e);
            return null;
        }
    }

    private static synchronized void fail(Throwable e) {
        if (!failed) {
            failed = true;
            System.err.println("verbena: classic sockets stay the JDK's: " + e);
        }
    }

    private static Map<String, Object> hooks() {
        Map<String, Object> g = hooks;
        return g == null ? activate() : g;
    }

    /** Null to a thread that opens sockets during activation. */
    private static synchronized Map<String, Object> activate() {
        Supplier<Map<String, Object>> a = activation;
        if (a != null) {
            activation = null;
            hooks = a.get();
        }
        return hooks;
    }

    /** Sets the supplier of all hooks, which throws nothing. Called once. */
    static synchronized void setActivation(Supplier<Map<String, Object>> maker) {
        activation = maker;
    }
}
