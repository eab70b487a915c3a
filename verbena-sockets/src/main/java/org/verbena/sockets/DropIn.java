// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.lang.invoke.MethodHandles;
import java.net.SocketImpl;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.nio.CallerPolicy;
import org.verbena.sockets.nio.JdkChanges;
import org.verbena.sockets.nio.NioChannels;
import org.verbena.sockets.rules.Rules;
import org.verbena.sockets.stream.PlainListeners;
import org.verbena.sockets.stream.SharedMemory;
import org.verbena.sockets.stream.Stream;
import org.verbena.sockets.stream.Summary;

/**
 * What the agent asks of the Verbena that it finds, be it the application's own or the one in the agent's jar. Programs
 * have no use for it: they ask for a channel. Stateless and thread-safe.
 */
public final class DropIn {
    /** Raised when the agent has to be informed of a change. */
    private static final int LEVEL = 8;

    private DropIn() {}

    /**
     * What this Verbena offers to an agent; an agent uses the application's own if it offers at least what its own
     * does.
     */
    public static int level() {
        return LEVEL; // a method, so that no caller has the number compiled in
    }

    /**
     * Why a system property cannot be set, as the end of a sentence; null if it can.
     *
     * @param name the property's, with {@code verbena.} before it
     */
    public static @Nullable String refusal(String name, String value) {
        return DropInProperty.refusal(name, value);
    }

    /**
     * What is wrong with system properties, as a sentence; null if nothing is. To be asked before the program
     * begins.
     */
    public static @Nullable String mistake() {
        try {
            check();
            return DropInProperty.unknown();
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    /**
     * @throws IllegalArgumentException if a system property is wrong; unknown ones may be others'
     */
    static void check() {
        String wrong = DropInProperty.wrong();
        if (wrong != null) {
            throw new IllegalArgumentException(wrong);
        }
        Rules.check();
        Summary.check();
    }

    /**
     * Why this process cannot have connections through shared memory, as the end of a sentence; null if it can. Tries
     * it, and leaves nothing behind. The caller reports it: it is not logged again. Where connections first have to earn
     * their rings nothing is tried, for it costs as much as all else at the start of a program: null, and the first connection that has
     * earned them reports it.
     */
    public static @Nullable String problem() {
        return Stream.isAtOnce() ? SharedMemory.problemToReport() : null;
    }

    /**
     * Whether a rule names a device by which other hosts are reached; to be asked when {@link #mistake} finds nothing.
     */
    public static boolean namesDevices() {
        return Rules.nameDevices();
    }

    /**
     * What to run when this process ends, after all hooks of the program's; null if there is nothing to do, or an
     * earlier caller has it.
     */
    public static @Nullable Runnable atExit() {
        return Summary.take();
    }

    /** A new provider for all channels of this process; there is one a process. */
    public static SelectorProvider provider() {
        return Maker.make();
    }

    /** The provider for all asynchronous channels of this process; there is one a process. */
    public static AsynchronousChannelProvider asynchronousProvider() {
        JdkChanges.asynchronousAsked();
        return Asynchronous.PROVIDER;
    }

    /**
     * Records that the program may have selectors of the JDK, from before it got {@link #provider}. To be called once.
     */
    public static void comesLate() {
        Maker.comeLate();
    }

    /**
     * What makes the implementations of classic sockets: from whether it is for a {@link java.net.ServerSocket} to a
     * new one, or to nothing if the JDK's is to be taken. The JDK takes it for its own platform's.
     */
    public static Function<Boolean, @Nullable SocketImpl> sockets() {
        return Maker.sockets();
    }

    /**
     * What the implementation behind a {@link java.net.ServerSocket} accepts into: a new one of the JDK's if it is the
     * JDK's, opened before the agent came or when a new one could not be Verbena's; else one of Verbena's.
     */
    public static Function<SocketImpl, SocketImpl> accepting() {
        return Maker.accepting();
    }

    /**
     * Sets what reaches the protected members of {@link SocketImpl}, asked when they are needed: to accept into the
     * JDK's, where another agent has taken back what the agent has changed. To be called once, before {@link #sockets}.
     */
    public static void reachSocketImplBy(Supplier<MethodHandles.Lookup> lookup) {
        NioChannels.reachSocketImplBy(lookup);
    }

    /**
     * Records what the agent has changed in the JDK, to be published with its state. May be called again, with all of
     * it.
     *
     * @param parts of {@code SocketLayout.PARTS}
     */
    public static void changed(Set<String> parts) {
        JdkChanges.made(parts);
    }

    /**
     * How many sockets listen that are not Verbena's, and so accept connections that TCP carries; they are published from
     * then on. To be called once, before {@link #provider} and {@link #sockets} are given to the program.
     */
    public static int listenersFromBefore() {
        return PlainListeners.find();
    }

    /**
     * Announces that other agents may apply a policy to the immediate caller of the JDK's channels.
     *
     * @return what to run whenever another agent transforms one of their classes; does not block
     */
    public static Runnable expectPolicies() {
        return Maker.expectPolicies();
    }

    /**
     * What of {@link #changed} is the JDK's own again, by another agent: parts with commas between; empty if nothing.
     */
    public static String takenBack() {
        return JdkChanges.takenBack();
    }

    /** Apart, so that only programs with asynchronous channels pay for them. */
    private static final class Asynchronous {
        static final AsynchronousChannelProvider PROVIDER = new VerbenaAsynchronousChannelProvider();
    }

    /** Apart, so that the rest of this class can be used before the agent has given the provider what it extends. */
    private static final class Maker {
        static SelectorProvider make() {
            Stream.earnRings();
            return new VerbenaSelectorProvider();
        }

        static Runnable expectPolicies() {
            CallerPolicy.expect();
            return new Runnable() { // no lambda, as below
                @Override
                public void run() {
                    CallerPolicy.othersTransform();
                }
            };
        }

        static void comeLate() {
            NioChannels.expectForeignSelectors();
        }

        static Function<Boolean, @Nullable SocketImpl> sockets() {
            Stream.earnRings();
            return new Function<>() { // no lambda: they are not cheap at the start of a program
                @Override
                public @Nullable SocketImpl apply(Boolean server) {
                    return NioChannels.socketImpl(server);
                }
            };
        }

        static Function<SocketImpl, SocketImpl> accepting() {
            return new Function<>() {
                @Override
                public SocketImpl apply(SocketImpl listener) {
                    return NioChannels.accepting(listener);
                }
            };
        }
    }
}
