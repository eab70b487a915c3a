// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.SocketImpl;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The Verbena implementation of this process, represented by its class {@code DropIn}: the application's own, as a
 * module or on the class path, if its level is at least that of the one in the agent's jar, and that one otherwise.
 * Never both: two in one class loader would mix their classes.
 *
 * @param origin a description, for messages
 * @param inner the modules if it comes from the agent's jar; null if it is the application's own
 */
record Implementation(String origin, Class<?> dropIn, Module sockets, Module linux, @Nullable InnerModules inner)
        implements
            Supplier<AsynchronousChannelProvider> {
    /** The value of {@code DropIn.level()} inside the agent's jar. */
    static final int LEVEL = 8;

    static final String DROP_IN = InnerModules.SOCKETS + ".DropIn";

    /** Finds the implementation, and exports packages of the JDK to it. */
    static Implementation find(File jar, Instrumentation instrumentation, @Nullable ApplicationVerbena application)
            throws IOException, ReflectiveOperationException {
        Optional<Implementation> own = of(application);
        Implementation c = own.isPresent() ? own.get() : inner(jar, instrumentation);
        Grants.exports(instrumentation, c.sockets);
        Grants.patches(instrumentation, c.sockets);
        return c;
    }

    private static Optional<Implementation> of(@Nullable ApplicationVerbena application) {
        if (application == null) {
            return Optional.empty();
        }
        try {
            Class<?> dropIn = Class.forName(DROP_IN, false, application.loader());
            Implementation own = new Implementation("the application's own Verbena", dropIn, application.sockets(),
                    application.linux(), null);
            return own.level() >= LEVEL ? Optional.of(own) : Optional.empty();
        } catch (ReflectiveOperationException | LinkageError e) {
            return Optional.empty(); // a version from before the agent
        }
    }

    private static Implementation inner(File jar, Instrumentation instrumentation)
            throws IOException, ReflectiveOperationException {
        InnerModules modules = new InnerModules(jar, Grants.access(instrumentation));
        return new Implementation("Verbena", Class.forName(DROP_IN, false, modules), modules.module(
                InnerModules.SOCKETS),
                modules.module(InnerModules.LINUX), modules);
    }

    void grantNativeAccess(Instrumentation instrumentation) {
        Grants.nativeAccess(instrumentation, linux);
    }

    /**
     * Adds the devices that rules name; programs without rules skip the lookup. Called after the settings are applied.
     */
    void addDevices(Instrumentation instrumentation) throws IOException, ReflectiveOperationException {
        if (inner != null && (System.getProperty("verbena.rules") != null
                || System.getProperty("verbena.rules.file") != null)
                && Boolean.TRUE.equals(call("namesDevices"))) {
            inner.addRoce(Grants.access(instrumentation));
        }
    }

    private int level() throws ReflectiveOperationException {
        return (Integer) require("level");
    }

    /** Why a property cannot be set; null if it can. */
    @Nullable
    String propertyError(String name, String value) {
        try {
            return (String) invoke(dropIn.getMethod("refusal", String.class, String.class), name, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The error in the system properties; null if there is none. */
    @Nullable
    String configurationError() throws ReflectiveOperationException {
        return (String) call("mistake");
    }

    /** Why connections through shared memory are impossible; null if they are possible. */
    @Nullable
    String sharedMemoryProblem() throws ReflectiveOperationException {
        return (String) call("problem");
    }

    /** A task for the end of the process; null if there is none. */
    @Nullable
    Runnable atExit() throws ReflectiveOperationException {
        return (Runnable) call("atExit");
    }

    SelectorProvider provider() throws ReflectiveOperationException {
        return (SelectorProvider) create("provider");
    }

    /** The provider of asynchronous channels, see {@link SocketHook#ASYNCHRONOUS}; created at the first call. */
    @Override
    public AsynchronousChannelProvider get() {
        try {
            return (AsynchronousChannelProvider) create("asynchronousProvider");
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Reports the patched parts of the JDK; returns those whose patch was removed since, separated by commas; empty if
     * none.
     */
    String reportPatched(Set<String> parts) throws ReflectiveOperationException {
        call("changed", Set.class, parts);
        return (String) require("takenBack");
    }

    /**
     * Announces that other agents may have policies; returns a task to run when another agent transforms the JDK's
     * channels.
     */
    Runnable expectPolicies() throws ReflectiveOperationException {
        return (Runnable) require("expectPolicies");
    }

    /** The number of listening sockets of this process, none of which is Verbena's yet. */
    int countEarlyListeners() throws ReflectiveOperationException {
        return (Integer) require("listenersFromBefore");
    }

    /** Announces that the program may have selectors of the JDK. */
    void expectJdkSelectors() throws ReflectiveOperationException {
        call("comesLate");
    }

    /** The factory of classic sockets, see {@link SocketHook#SOCKETS}. */
    @SuppressWarnings("unchecked") // the type is DropIn's
    Function<Boolean, @Nullable SocketImpl> classicSockets(Instrumentation instrumentation)
            throws ReflectiveOperationException {
        call("reachSocketImplBy", Supplier.class, new SocketImplMembers(instrumentation));
        return (Function<Boolean, @Nullable SocketImpl>) create("sockets");
    }

    /** The factory for accepted sockets, see {@link SocketHook#ACCEPTING}. */
    Object classicAccepting() throws ReflectiveOperationException {
        return create("accepting");
    }

    private Object create(String what) throws ReflectiveOperationException {
        try {
            return require(what);
        } catch (RuntimeException | LinkageError e) {
            Throwable cause = e instanceof ExceptionInInitializerError i && i.getCause() != null ? i.getCause() : e;
            throw new IllegalStateException("Verbena's sockets cannot be made: " + cause, cause);
        }
    }

    private Object require(String name) throws ReflectiveOperationException {
        return Objects.requireNonNull(call(name));
    }

    private @Nullable Object call(String name) throws ReflectiveOperationException {
        return invoke(dropIn.getMethod(name));
    }

    private void call(String name, Class<?> type, Object argument) throws ReflectiveOperationException {
        invoke(dropIn.getMethod(name, type), argument);
    }

    /** Throws the exception of the method, unwrapped from its InvocationTargetException. */
    private static @Nullable Object invoke(Method m, Object... arguments) throws ReflectiveOperationException {
        try {
            return m.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            switch (e.getCause()) {
                case RuntimeException r -> throw r;
                case Error r -> throw r;
                case null, default -> throw e;
            }
        }
    }
}
