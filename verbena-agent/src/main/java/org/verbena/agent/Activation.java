package org.verbena.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.channels.spi.SelectorProvider;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Brings Verbena's sockets into this JVM, or says why not, in one line: what is wrong with the arguments at start, the
 * rest when the program opens its first channel. So a program that opens none pays for no more than the change to one
 * method of the JDK. In the class loader of the agent alone.
 */
public final class Activation {
    private static final String PROPERTY = "java.nio.channels.spi.SelectorProvider";

    private final AgentArguments arguments;
    private final Instrumentation instrumentation;
    private final File jar;
    private @Nullable Carrier carrier;

    private Activation(AgentArguments arguments, Instrumentation instrumentation, File jar) {
        this.arguments = arguments;
        this.instrumentation = instrumentation;
        this.jar = jar;
    }

    /**
     * Called by {@link Premain}, in another class loader, hence public.
     *
     * @param given the agent's arguments
     * @param jar the agent's
     * @return makes Verbena's provider, or null if the program is to have the JDK's; throws nothing
     * @throws IllegalArgumentException if the arguments are wrong
     */
    public static Supplier<@Nullable SelectorProvider> prepare(String given, Instrumentation instrumentation, URL jar)
            throws IOException, ReflectiveOperationException, URISyntaxException {
        Activation a = new Activation(AgentArguments.parse(given), instrumentation, new File(jar.toURI()));
        if (!a.arguments.isEmpty() || hasSettings()) {
            a.arguments.set(a.carrier()::refusal);
            String mistake = a.carrier().mistake();
            if (mistake != null) {
                throw new IllegalArgumentException(mistake);
            }
            Runnable atExit = a.carrier().atExit();
            if (atExit != null) {
                Grants.atExit(instrumentation, atExit);
            }
        }
        ProviderPatch.apply(instrumentation);
        System.setProperty(Premain.STATE, "active when the first channel is opened");
        return a::provider;
    }

    /** Whether properties that the program was started with have something to be looked at before it begins. */
    private static boolean hasSettings() {
        return Stream.of("rules", "rules.file", "summary").anyMatch(p -> System.getProperty("verbena." + p) != null);
    }

    private Carrier carrier() throws IOException, ReflectiveOperationException {
        if (carrier == null) {
            carrier = Carrier.find(jar, instrumentation);
        }
        return carrier;
    }

    private @Nullable SelectorProvider provider() {
        try {
            String other = otherProvider();
            if (other != null) {
                say("not active: this program has a selector provider of its own, " + other);
                return null;
            }
            Carrier c = carrier();
            c.grantNativeAccess(instrumentation);
            SelectorProvider p = c.provider();
            // the first call of native code takes a tenth of a second: the program need not wait for it
            Thread.ofPlatform().daemon().name("verbena-start").start(() -> report(c));
            return p;
        } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError e) {
            say("not active, all sockets are the kernel's: " + e);
            return null;
        }
    }

    private void report(Carrier c) {
        try {
            String problem = c.problem();
            say(problem == null
                    ? "active: sockets are those of " + c.whose()
                    : "all connections are the kernel's: " + problem);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            say("all connections are the kernel's: " + e);
        }
    }

    private void say(String line) {
        System.setProperty(Premain.STATE, line);
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
        return ServiceLoader.load(SelectorProvider.class, system).stream().findFirst().map(p -> p.type().getName())
                .orElse(null);
    }
}
