// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.SocketImpl;
import java.nio.channels.spi.SelectorProvider;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Installs Verbena's sockets in this JVM, or prints one line with the reason why not: an error in the arguments at
 * start, others when the program opens its first channel or socket. So a program that opens none pays only for patching
 * four methods of the JDK; two more are patched when it opens one. Loaded only by the class loader of the agent. It uses
 * no streams and few lambdas: the first of each costs time, which would delay the start of every program.
 */
final class Activation implements Supplier<Map<String, Object>> {
    private static final String PROPERTY = "java.nio.channels.spi.SelectorProvider";

    /** The property that turns Verbena's classic sockets off. */
    private static final String CLASSIC = "verbena.classic";

    private static final long REPORT_MILLIS = 50;

    private final AgentArguments arguments;
    private final Instrumentation instrumentation;
    private final Patches patches;
    private final File jar;
    private @Nullable Implementation implementation;
    private @Nullable ApplicationVerbena application;
    private boolean applicationSearched;

    /** The patched parts, of Verbena's {@code SocketLayout.PARTS}. */
    private final Set<String> patchedParts = new HashSet<>();

    /** The parts that stay the JDK's since patching failed, as the end of a sentence; empty if none. */
    private String unpatched = "";

    /** Whether the program may have selectors of the JDK. */
    private boolean selectorsMayExist;

    /** Whether the program may have listening classic sockets of the JDK. */
    private boolean listenersMayExist;

    /** Listening sockets of the JDK, or of a library. */
    private int earlyListeners;

    private Activation(AgentArguments arguments, Instrumentation instrumentation, File jar) {
        this.arguments = arguments;
        this.instrumentation = instrumentation;
        this.patches = new Patches(instrumentation);
        this.jar = jar;
    }

    /**
     * See {@link AgentInstaller#apply}.
     *
     * @param jar the agent's jar
     */
    static Activation install(String given, Instrumentation instrumentation, File jar)
            throws IOException, ReflectiveOperationException {
        Activation a = new Activation(AgentArguments.parse(given), instrumentation, jar);
        Runnable atExit = null;
        if (!a.arguments.isEmpty() || hasSettings()) {
            a.arguments.set(a.implementation()::propertyError);
            String mistake = a.implementation().configurationError();
            if (mistake != null) {
                throw new IllegalArgumentException(mistake);
            }
            atExit = a.implementation().atExit();
        }
        a.patch();
        if (atExit != null) { // cannot be undone, hence after all steps that may fail
            Grants.atExit(instrumentation, atExit);
        }
        Premain.setState("active when the first channel or socket is opened");
        return a;
    }

    /** Whether the program was started with properties that must be checked before it runs. */
    private static boolean hasSettings() {
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith("verbena.") && !name.equals(Premain.STATE)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isClassicOff() {
        return "off".equals(System.getProperty(CLASSIC));
    }

    /** @throws IllegalStateException if nothing at all can be patched */
    private void patch() throws ClassNotFoundException {
        patchSockets();
        try {
            if (AsynchronousPatch.apply(patches)) {
                patchedParts.add("asynchronous channels");
            }
        } catch (IllegalStateException e) {
            unpatched += "; asynchronous channels stay the JDK's: " + e.getMessage();
        }
    }

    private void patchSockets() throws ClassNotFoundException {
        try {
            selectorsMayExist = ProviderPatch.apply(patches);
            patchedParts.add("channels");
        } catch (IllegalStateException e) {
            unpatched = "; channels stay the JDK's: " + e.getMessage();
        }
        if (isClassicOff()) {
            if (!unpatched.isEmpty()) {
                throw new IllegalStateException(unpatched.substring(2));
            }
            return;
        }
        try {
            listenersMayExist = SocketPatch.apply(patches);
            patchedParts.addAll(List.of("classic sockets", "classic listeners"));
        } catch (IllegalStateException e) {
            if (!unpatched.isEmpty()) {
                throw e;
            }
            unpatched = "; Socket and ServerSocket stay the JDK's: " + e.getMessage();
        }
    }

    private Implementation implementation() throws IOException, ReflectiveOperationException {
        if (implementation == null) {
            implementation = Implementation.find(jar, instrumentation, application());
        }
        return implementation;
    }

    private @Nullable ApplicationVerbena application() {
        if (!applicationSearched) {
            application = ApplicationVerbena.find();
            applicationSearched = true;
        }
        return application;
    }

    /**
     * The factories for {@link SocketHook}. Throws nothing, since an exception would disable all channels of the JDK
     * permanently.
     */
    @Override
    public Map<String, Object> get() {
        try {
            ApplicationVerbena own = application();
            if (own != null) { // the program may use it for channels, whatever implements its other sockets
                own.grant(instrumentation);
            }
            String other = configuredProvider();
            if (other != null) {
                print("not active: this program has a selector provider of its own, " + other);
                return Map.of();
            }
            Implementation c = implementation();
            c.grantNativeAccess(instrumentation);
            c.addDevices(instrumentation);
            patches.onForeignTransform(c.expectPolicies());
            Map<String, Object> all = new HashMap<>(Map.of(SocketHook.PROVIDER, c.provider()));
            all.put(SocketHook.ASYNCHRONOUS, c);
            if (selectorsMayExist) {
                c.expectJdkSelectors();
            }
            if (selectorsMayExist || listenersMayExist) { // otherwise there is no listener yet, and a start need not count them
                earlyListeners = c.countEarlyListeners();
            }
            if (!isClassicOff()) {
                Function<Boolean, @Nullable SocketImpl> made = c.classicSockets(instrumentation);
                all.put(SocketHook.SOCKETS, listenersMayExist ? new EarlyListeners(made) : made);
                all.put(SocketHook.ACCEPTING, c.classicAccepting());
            }
            reportLater(c);
            return all;
        } catch (Throwable t) { // also for broken service files, and a thread that cannot be started
            reportFailure(t);
            return Map.of();
        }
    }

    /**
     * Reports later, on a thread of its own: the first call of native code takes a tenth of a second, which the program
     * need not wait for, and the program should have the processor to itself until it has its first channel.
     */
    private void reportLater(Implementation c) {
        Thread t = new Thread("verbena-start") { // a Runnable in a Thread would load one more class, the thread builders six
            @Override
            public void run() {
                try {
                    sleep(REPORT_MILLIS);
                } catch (InterruptedException e) {
                    // interrupted by a program that knows its name: report now
                }
                reportState(c);
            }
        };
        t.setDaemon(true);
        t.start();
    }

    private void reportFailure(Throwable t) {
        try {
            print("not active, all sockets are the kernel's: " + t);
        } catch (RuntimeException | Error e) {
            // no memory to report it: the program continues
        }
    }

    private void reportState(Implementation c) {
        try {
            patches.apply(new TransferPatch());
            patchedParts.add("transferTo");
        } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
            unpatched += "; FileChannel.transferTo maps files, and transferFrom reads pieces: " + e.getMessage();
        }
        try {
            String again = c.reportPatched(patchedParts);
            if (!again.isEmpty()) {
                unpatched += "; the JDK's again, by another agent: " + again;
            }
            String problem = c.sharedMemoryProblem();
            print(problem == null
                    ? "active: sockets are those of " + c.origin() + listenerNote() + unpatched
                    : "all connections are the kernel's: " + problem);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            print("all connections are the kernel's: " + e);
        }
    }

    private String listenerNote() {
        return switch (earlyListeners) {
            case 0 -> "";
            case 1 -> "; 1 listener is from before, TCP carries what it accepts until it is opened anew";
            default -> "; " + earlyListeners
                    + " listeners are from before, TCP carries what they accept until they are opened anew";
        };
    }

    private void print(String line) {
        Premain.setState(line);
        if (!arguments.isQuiet()) {
            System.err.println("verbena: " + line);
        }
    }

    /**
     * The provider that the program has configured, looked up as by {@link SelectorProvider#provider()}; null if none.
     */
    private static @Nullable String configuredProvider() {
        String named = System.getProperty(PROPERTY);
        if (named != null) {
            return named;
        }
        ClassLoader system = ClassLoader.getSystemClassLoader();
        Optional<ServiceLoader.Provider<SelectorProvider>> first = ServiceLoader.load(SelectorProvider.class, system)
                .stream().findFirst();
        return first.isPresent() ? first.get().type().getName() : null;
    }
}
