// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import org.jspecify.annotations.Nullable;

/** Makes a method of the JDK begin with a question to {@link SocketHook}, for an object to return or to go on with. */
class HookPatch extends MethodPatch {
    private static final String OBJECT = "java/lang/Object";
    private static final String CLASS = "java/lang/Class";
    private static final String LOADER = "java/lang/ClassLoader";
    private static final String METHOD = "java/lang/reflect/Method";

    private final String hook;
    private final @Nullable String parameter;
    private final String resultType;

    /**
     * As {@link MethodPatch}.
     *
     * @param hook the method of {@link SocketHook} that is asked; it throws nothing
     * @param parameter type of the hook's parameter; null if it has none
     */
    HookPatch(String type, String method, String descriptor, String hook, @Nullable String parameter, String answer) {
        super(type, method, descriptor, answer);
        this.hook = hook;
        this.parameter = parameter;
        this.resultType = answer;
    }

    /** Puts the argument of the hook onto the stack, as an object. */
    void pushArgument(Instructions code) {}

    @Override
    void returnResult(Instructions code) {
        code.areturn();
    }

    /** By the system class loader, where the agent's jar is. */
    @Override
    void pushResult(Instructions code) {
        code.invokestatic(LOADER, "getSystemClassLoader", "()Ljava/lang/ClassLoader;")
                .string(SocketHook.class.getName())
                .invokevirtual(LOADER, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;")
                .string(hook);
        String p = parameter;
        if (p == null) {
            code.iconst0().anewarray(CLASS);
        } else {
            code.iconst1().anewarray(CLASS).dup().iconst0().type(p).aastore();
        }
        code.invokevirtual(CLASS, "getMethod", "(Ljava/lang/String;[Ljava/lang/Class;)Ljava/lang/reflect/Method;")
                .aconstNull();
        if (p == null) {
            code.iconst0().anewarray(OBJECT);
        } else {
            pushArgument(code.iconst1().anewarray(OBJECT).dup().iconst0());
            code.aastore();
        }
        code.invokevirtual(METHOD, "invoke", "(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;")
                .checkcast(resultType);
    }
}
