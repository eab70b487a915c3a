// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/**
 * Makes the JDK use Verbena's implementation of classic sockets where it would use its own platform implementation: not
 * where the program has set a factory of its own, and below the JDK's SOCKS and HTTP proxy clients.
 *
 * <p>The JDK creates the implementation to accept into before it accepts, without reference to the listener, which
 * accepts only into its own kind: the JDK's if it was opened before the agent was loaded, or while there was no memory
 * for Verbena's. That is the second patch, which must be in place before the first.
 */
final class SocketPatch {
    private static final ClassDesc IMPL = ClassDesc.of("java.net.SocketImpl");
    private static final ClassDesc SERVER = ClassDesc.of("java.net.ServerSocket");
    private static final ClassDesc BOOLEAN = ConstantDescs.CD_Boolean;

    private SocketPatch() {}

    /**
     * Applies both patches.
     *
     * @return whether the program may have listening sockets by now
     * @throws IllegalStateException if patching fails; the JDK's sockets are unchanged then
     */
    static boolean apply(Patches patches) throws ClassNotFoundException {
        boolean before = ProviderPatch.isLoaded(patches.instrumentation(), "java.net.ServerSocket");
        patches.apply(accepting());
        patches.apply(creating());
        return before;
    }

    /** Calls for the implementation to accept into, of the listener's kind. */
    static MethodPatch accepting() {
        return new HookPatch("java.net.ServerSocket", "platformImplAccept", "()Ljava/net/SocketImpl;", "accepting",
                IMPL,
                IMPL) {
            @Override
            void pushArgument(CodeBuilder code) {
                code.aload(0).getfield(SERVER, "impl", IMPL);
            }

            @Override
            void returnResult(CodeBuilder code) {
                code.dup().aload(0).swap()
                        .invokevirtual(SERVER, "implAccept", MethodTypeDesc.of(ConstantDescs.CD_void, IMPL)).areturn();
            }
        };
    }

    /** Calls for a new implementation. */
    static MethodPatch creating() {
        return new HookPatch("java.net.SocketImpl", "createPlatformSocketImpl", "(Z)Ljava/net/SocketImpl;",
                "socketImpl",
                BOOLEAN, IMPL) {
            @Override
            void pushArgument(CodeBuilder code) {
                code.iload(0).invokestatic(BOOLEAN, "valueOf",
                        MethodTypeDesc.of(BOOLEAN, ConstantDescs.CD_boolean));
            }
        };
    }
}
