// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.net.SocketImpl;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Makes implementations of classic sockets where some that listen are from before the agent, which accept into the JDK's
 * alone. Such a listener asks {@link SocketHook#accepting}, unless another agent has taken back that change: then it is the
 * JDK's method for new sockets that is called, from the one that accepts, and the JDK's is right for listeners of
 * both kinds.
 */
final class EarlyListeners implements Function<Boolean, @Nullable SocketImpl> {
    private static final String SERVER = "java.net.ServerSocket";
    private static final String ACCEPTS = "platformImplAccept";

    /** This class's, the hook's, the JDK's that makes it, and the caller of that, with some to spare. */
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
