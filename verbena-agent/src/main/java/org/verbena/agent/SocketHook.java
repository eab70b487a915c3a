// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.net.SocketImpl;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Where methods of the JDK, as {@link HookPatch} has changed them, find what is Verbena's. On the class path, where the
 * JDK looks. Null in each case means: as without Verbena.
 */
public final class SocketHook {
    /** What the activation gives: a {@link SelectorProvider}. */
    static final String PROVIDER = "provider";

    /** What makes the {@link AsynchronousChannelProvider}, when the first such channel is opened; missing if it stays. */
    static final String ASYNCHRONOUS = "asynchronous";

    /** A function from whether it is to listen to a new implementation of a socket; missing if classic sockets are off. */
    static final String SOCKETS = "sockets";

    /** A function from an implementation that listens to one that it can accept into. */
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
        } catch (RuntimeException | Error e) { // the JDK would lose its asynchronous channels for good
            System.err.println("verbena: asynchronous channels stay the JDK's: " + e);
            return null;
        }
    }

    /** A new implementation of a classic socket. */
    public static SocketImpl socketImpl(Boolean server) {
        return failed ? null : create(SOCKETS, server);
    }

    /** What a classic socket that listens accepts into: its own kind, whatever new sockets have come to be. */
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
        } catch (VirtualMachineError e) { // no memory or stack just now: this one is the JDK's, the next may be Verbena's
            return null;
        } catch (RuntimeException | Error e) { // who makes a socket is told of nothing that is not its own
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

    /** Null to a thread that is just activating, and opens sockets on the way. */
    private static synchronized Map<String, Object> activate() {
        Supplier<Map<String, Object>> a = activation;
        if (a != null) {
            activation = null;
            hooks = a.get();
        }
        return hooks;
    }

    /** Says who makes it all; it throws nothing. Called once. */
    static synchronized void setActivation(Supplier<Map<String, Object>> maker) {
        activation = maker;
    }
}
