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
 * Brings Verbena's sockets into this JVM, or says why not, in one line: what is wrong with the arguments at start, the
 * rest when the program opens its first channel or socket. So a program that opens none pays for no more than the change
 * to four methods of the JDK; a fifth is changed when it opens one. In the class loader of the agent alone. It has no
 * streams and few lambdas: the first of each costs time, which the start of every program would take longer.
 */
final class Activation implements Supplier<Map<String, Object>> {
    private static final String PROPERTY = "java.nio.channels.spi.SelectorProvider";

    /** Whether classic sockets are Verbena's, too. */
    private static final String CLASSIC = "verbena.classic";

    private static final long REPORT_MILLIS = 50;

    private final AgentArguments arguments;
    private final Instrumentation instrumentation;
    private final Patches patches;
    private final File jar;
    private @Nullable Carrier carrier;
    private @Nullable ApplicationVerbena application;
    private boolean sought;

    /** What was changed: of Verbena's {@code SocketLayout.PARTS}. */
    private final Set<String> changed = new HashSet<>();

    /** What stays the JDK's since it could not be changed, as the end of a sentence; empty if nothing. */
    private String missing = "";

    /** Whether the program may have selectors of the JDK. */
    private boolean late;

    /** Whether it may have classic sockets of the JDK that listen. */
    private boolean listenersBefore;

    /** Sockets of the JDK's, or a library's, that listen. */
    private int plainListeners;

    private Activation(AgentArguments arguments, Instrumentation instrumentation, File jar) {
        this.arguments = arguments;
        this.instrumentation = instrumentation;
        this.patches = new Patches(instrumentation);
        this.jar = jar;
    }

    /**
     * As {@link Preparation#apply}.
     *
     * @param jar the agent's
     */
    static Activation prepare(String given, Instrumentation instrumentation, File jar)
            throws IOException, ReflectiveOperationException {
        Activation a = new Activation(AgentArguments.parse(given), instrumentation, jar);
        Runnable atExit = null;
        if (!a.arguments.isEmpty() || hasSettings()) {
            a.arguments.set(a.carrier()::refusal);
            String mistake = a.carrier().mistake();
            if (mistake != null) {
                throw new IllegalArgumentException(mistake);
            }
            atExit = a.carrier().atExit();
        }
        a.patch();
        if (atExit != null) { // for good, hence after all that may fail
            Grants.atExit(instrumentation, atExit);
        }
        Premain.state("active when the first channel or socket is opened");
        return a;
    }

    /** Whether properties that the program was started with have something to be looked at before it begins. */
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

    /** @throws IllegalStateException if nothing at all can be changed */
    private void patch() throws ClassNotFoundException {
        patchSockets();
        try {
            if (AsynchronousPatch.apply(patches)) {
                changed.add("asynchronous channels");
            }
        } catch (IllegalStateException e) {
            missing += "; asynchronous channels stay the JDK's: " + e.getMessage();
        }
    }

    private void patchSockets() throws ClassNotFoundException {
        try {
            late = ProviderPatch.apply(patches);
            changed.add("channels");
        } catch (IllegalStateException e) {
            missing = "; channels stay the JDK's: " + e.getMessage();
        }
        if (isClassicOff()) {
            if (!missing.isEmpty()) {
                throw new IllegalStateException(missing.substring(2));
            }
            return;
        }
        try {
            listenersBefore = SocketPatch.apply(patches);
            changed.addAll(List.of("classic sockets", "classic listeners"));
        } catch (IllegalStateException e) {
            if (!missing.isEmpty()) {
                throw e;
            }
            missing = "; Socket and ServerSocket stay the JDK's: " + e.getMessage();
        }
    }

    private Carrier carrier() throws IOException, ReflectiveOperationException {
        if (carrier == null) {
            carrier = Carrier.find(jar, instrumentation, application());
        }
        return carrier;
    }

    private @Nullable ApplicationVerbena application() {
        if (!sought) {
            application = ApplicationVerbena.find();
            sought = true;
        }
        return application;
    }

    /** What {@link SocketHook} gives the JDK. Throws nothing: by that the JDK would lose all its channels for good. */
    @Override
    public Map<String, Object> get() {
        try {
            ApplicationVerbena own = application();
            if (own != null) { // which the program may ask for channels, whatever becomes of its other sockets
                own.grant(instrumentation);
            }
            String other = otherProvider();
            if (other != null) {
                say("not active: this program has a selector provider of its own, " + other);
                return Map.of();
            }
            Carrier c = carrier();
            c.grantNativeAccess(instrumentation);
            c.addDevices(instrumentation);
            patches.onOthers(c.expectPolicies());
            Map<String, Object> all = new HashMap<>(Map.of(SocketHook.PROVIDER, c.provider()));
            all.put(SocketHook.ASYNCHRONOUS, c);
            if (late) {
                c.comeLate();
            }
            if (late || listenersBefore) { // else there is no listener yet, and a start is spared the look
                plainListeners = c.listenersFromBefore();
            }
            if (!isClassicOff()) {
                Function<Boolean, @Nullable SocketImpl> made = c.classicSockets(instrumentation);
                all.put(SocketHook.SOCKETS, listenersBefore ? new EarlyListeners(made) : made);
                all.put(SocketHook.ACCEPTING, c.classicAccepting());
            }
            reportLater(c);
            return all;
        } catch (Throwable t) { // broken service files, too, and a thread that cannot be started
            sayWhatFailed(t);
            return Map.of();
        }
    }

    /**
     * The first call of native code takes a tenth of a second: the program need not wait for it, and is to have the
     * processor for itself until it has its first channel.
     */
    private void reportLater(Carrier c) {
        Thread t = new Thread("verbena-start") { // a Runnable in a Thread would be one class more, its builders are six
            @Override
            public void run() {
                try {
                    sleep(REPORT_MILLIS);
                } catch (InterruptedException e) {
                    // by a program that knows it by its name: it is said now
                }
                report(c);
            }
        };
        t.setDaemon(true);
        t.start();
    }

    private void sayWhatFailed(Throwable t) {
        try {
            say("not active, all sockets are the kernel's: " + t);
        } catch (RuntimeException | Error e) {
            // no memory to say it with: the program goes on all the same
        }
    }

    private void report(Carrier c) {
        try {
            patches.apply(new TransferPatch());
            changed.add("transferTo");
        } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
            missing += "; FileChannel.transferTo maps files: " + e.getMessage();
        }
        try {
            String again = c.changed(changed);
            if (!again.isEmpty()) {
                missing += "; the JDK's again, by another agent: " + again;
            }
            String problem = c.problem();
            say(problem == null
                    ? "active: sockets are those of " + c.whose() + listeners() + missing
                    : "all connections are the kernel's: " + problem);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            say("all connections are the kernel's: " + e);
        }
    }

    private String listeners() {
        return switch (plainListeners) {
            case 0 -> "";
            case 1 -> "; 1 listener is from before, TCP carries what it accepts until it is opened anew";
            default -> "; " + plainListeners
                    + " listeners are from before, TCP carries what they accept until they are opened anew";
        };
    }

    private void say(String line) {
        Premain.state(line);
        if (!arguments.isQuiet()) {
            System.err.println("verbena: " + line);
        }
    }

    /** What the program has chosen itself, as {@link SelectorProvider#provider()} looks for it; null if nothing. */
    private static @Nullable String otherProvider() {
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
