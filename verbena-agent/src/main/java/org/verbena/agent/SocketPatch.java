package org.verbena.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.Instrumentation;

/**
 * Makes the JDK take Verbena's implementation for classic sockets where it would take its own platform's: not where the
 * program has set a factory of its own, and below the JDK's SOCKS and HTTP proxy clients.
 *
 * <p>The JDK makes what it accepts into before it accepts, with no word of the listener. One that was opened before the
 * agent came can accept only into its own kind, and keeps doing so; that is the second question, which has to be in place
 * before the first.
 */
final class SocketPatch {
    private static final ClassDesc IMPL = ClassDesc.of("java.net.SocketImpl");
    private static final ClassDesc SERVER = ClassDesc.of("java.net.ServerSocket");
    private static final MethodTypeDesc ACCEPTS = MethodTypeDesc.of(ConstantDescs.CD_void, IMPL);

    private SocketPatch() {}

    /** @throws IllegalStateException if it does not work; the JDK's sockets stay as they are then */
    static void apply(Instrumentation instrumentation) throws ClassNotFoundException {
        accepting().apply(instrumentation);
        making().apply(instrumentation);
    }

    /** Asks for the implementation to accept into, as its listener wants it. */
    static MethodPatch accepting() {
        return new MethodPatch("java.net.ServerSocket", "platformImplAccept", MethodTypeDesc.of(IMPL),
                new MethodPatch.Question("accepting", IMPL, c -> c.aload(0).getfield(SERVER, "impl", IMPL), IMPL,
                        c -> c.dup().aload(0).swap().invokevirtual(SERVER, "implAccept", ACCEPTS).areturn()));
    }

    /** Asks for a new implementation. */
    static MethodPatch making() {
        return new MethodPatch("java.net.SocketImpl", "createPlatformSocketImpl",
                MethodTypeDesc.of(IMPL, ConstantDescs.CD_boolean),
                new MethodPatch.Question("socketImpl", ConstantDescs.CD_Boolean,
                        c -> c.iload(0).invokestatic(ConstantDescs.CD_Boolean, "valueOf",
                                MethodTypeDesc.of(ConstantDescs.CD_Boolean, ConstantDescs.CD_boolean)),
                        IMPL, CodeBuilder::areturn));
    }
}
