// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

/**
 * Makes the JDK take Verbena's implementation for classic sockets where it would take its own platform's: not where the
 * program has set a factory of its own, and below the JDK's SOCKS and HTTP proxy clients.
 *
 * <p>The JDK makes what it accepts into before it accepts, with no word of the listener, which accepts only into its own
 * kind: the JDK's if it was opened before the agent came, or while there was no memory for Verbena's. That is the second
 * question, which has to be in place before the first.
 */
final class SocketPatch {
    private static final String IMPL = "java/net/SocketImpl";
    private static final String SERVER = "java/net/ServerSocket";
    private static final String BOOLEAN = "java/lang/Boolean";

    private SocketPatch() {}

    /**
     * Changes both.
     *
     * @return whether the program may have some that listen by now
     * @throws IllegalStateException if it does not work; the JDK's sockets stay as they are then
     */
    static boolean apply(Patches patches) throws ClassNotFoundException {
        boolean before = ProviderPatch.isLoaded(patches.instrumentation(), "java.net.ServerSocket");
        patches.apply(accepting());
        patches.apply(creating());
        return before;
    }

    /** Asks for the implementation to accept into, as its listener wants it. */
    static MethodPatch accepting() {
        return new HookPatch("java.net.ServerSocket", "platformImplAccept", "()L" + IMPL + ";", "accepting", IMPL,
                IMPL) {
            @Override
            void pushArgument(Instructions code) {
                code.aload0().getfield(SERVER, "impl", "L" + IMPL + ";");
            }

            @Override
            void returnResult(Instructions code) {
                code.dup().aload0().swap().invokevirtual(SERVER, "implAccept", "(L" + IMPL + ";)V").areturn();
            }
        };
    }

    /** Asks for a new implementation. */
    static MethodPatch creating() {
        return new HookPatch("java.net.SocketImpl", "createPlatformSocketImpl", "(Z)L" + IMPL + ";", "socketImpl",
                BOOLEAN, IMPL) {
            @Override
            void pushArgument(Instructions code) {
                code.iload0().invokestatic(BOOLEAN, "valueOf", "(Z)L" + BOOLEAN + ";");
            }
        };
    }
}
