// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import sun.nio.ch.DefaultSelectorProvider;

/**
 * Whether a policy of another agent refuses Verbena the JDK's sockets. One that judges the immediate caller of each
 * method, as Elasticsearch's entitlements do, sees Verbena where the JDK's own channel would show it the program. What
 * is opened then is the JDK's, so that the policy judges the program. Thread-safe.
 *
 * <p>It is probed, by an address that no channel takes, with the first channel of each kind, and with each one once
 * another agent has transformed a class of the JDK's channels: it may have been for that. A transformation is in force
 * some time after it is noticed here, so each channel probes until one of each kind has done so {@link #IN_FORCE_NANOS}
 * later.
 */
public final class CallerPolicy {
    private static final SocketAddress UNSUPPORTED_ADDRESS = new SocketAddress() {
        private static final long serialVersionUID = 1;
    };

    /** What was transformed is in force by then: the JVM replaces the class soon after its transformer returns. */
    private static final long IN_FORCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static volatile boolean clientProbeDue;
    private static volatile boolean serverProbeDue;
    /**
     * When another agent transformed a class last, by {@link System#nanoTime}; 0 if none has, or the result is there.
     */
    private static final AtomicLong TRANSFORMED = new AtomicLong();
    private static volatile boolean refused;

    private CallerPolicy() {}

    /** Other agents are possible: the first channel of each kind probes. */
    public static void expect() {
        clientProbeDue = true;
        serverProbeDue = true;
    }

    /** Another agent transforms a class of the JDK's channels. On its thread: does not block. */
    public static void othersTransform() {
        TRANSFORMED.set(System.nanoTime() | 1);
    }

    /** Whether a policy has refused something so far. */
    static boolean hasRefused() {
        return refused;
    }

    private static boolean isProbeDue(boolean server) {
        long then = TRANSFORMED.get();
        if (then != 0 && System.nanoTime() - then > IN_FORCE_NANOS) {
            expect(); // each kind once more
            TRANSFORMED.compareAndSet(then, 0);
        }
        return then != 0 || (server ? serverProbeDue : clientProbeDue);
    }

    /** Whether this channel of the JDK's, just opened, is to be the program's as it is. */
    public static boolean refuses(SocketChannel inner) {
        if (!refused && isProbeDue(false)) {
            clientProbeDue = false;
            try {
                inner.connect(UNSUPPORTED_ADDRESS);
            } catch (UnsupportedAddressTypeException | IOException e) {
                // as without a policy
            } catch (RuntimeException e) {
                refuse();
            }
        }
        return refused;
    }

    /** Whether this channel of the JDK's, just opened, is to be the program's as it is. */
    public static boolean refuses(ServerSocketChannel inner) {
        if (!refused && isProbeDue(true)) {
            serverProbeDue = false;
            try {
                inner.bind(UNSUPPORTED_ADDRESS, 0); // as Verbena binds: with one parameter the JDK would be the caller
            } catch (UnsupportedAddressTypeException | IOException e) {
                // as without a policy
            } catch (RuntimeException e) {
                refuse();
            }
        }
        return refused;
    }

    /** Whether a new socket of the JDK's, of whatever class, is to be the program's as it is. */
    public static boolean refuses(boolean server) {
        if (!refused && isProbeDue(server)) {
            try {
                if (server) {
                    try (ServerSocketChannel s = DefaultSelectorProvider.get().openServerSocketChannel()) {
                        refuses(s);
                    }
                } else {
                    try (SocketChannel s = DefaultSelectorProvider.get().openSocketChannel()) {
                        refuses(s);
                    }
                }
            } catch (IOException e) { // no descriptor: reported to the next caller that needs one
                return refused;
            }
        }
        return refused;
    }

    private static void refuse() {
        NioChannels.expectForeignSelectors(); // channels from before meet the JDK's
        refused = true;
    }
}
