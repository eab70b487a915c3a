// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.net.SocketImpl;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Creates implementations of classic sockets in a program whose listeners may be older than the agent: those accept
 * into the JDK's implementation only. Such a listener calls {@link SocketHook#accepting}, unless another agent has
 * removed that patch: then the JDK's method for new sockets is called, from the accepting one, and the JDK's
 * implementation is right for listeners of both kinds.
 */
final class EarlyListeners implements Function<Boolean, @Nullable SocketImpl> {
    private static final String SERVER = "java.net.ServerSocket";
    private static final String ACCEPTS = "platformImplAccept";

    /** The frames of this class, the hook, the JDK's creating method, and its caller, with some to spare. */
    private static final int FRAMES = 12;

    private static final StackWalker STACK = StackWalker.getInstance();

    private final Function<Boolean, @Nullable SocketImpl> delegate;

    EarlyListeners(Function<Boolean, @Nullable SocketImpl> all) {
        this.delegate = all;
    }

    @Override
    public @Nullable SocketImpl apply(Boolean server) {
        return !server && isAccepting() ? null : delegate.apply(server);
    }

    private static boolean isAccepting() {
        return STACK.walk(frames -> frames.limit(FRAMES)
                .anyMatch(f -> f.getClassName().equals(SERVER) && f.getMethodName().equals(ACCEPTS)));
    }
}
