// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import org.jspecify.annotations.Nullable;

/** Prepends a call of {@link SocketHook} to a method of the JDK, for an object to return or to continue with. */
class HookPatch extends MethodPatch {
    private static final String OBJECT = "java/lang/Object";
    private static final String CLASS = "java/lang/Class";
    private static final String LOADER = "java/lang/ClassLoader";
    private static final String METHOD = "java/lang/reflect/Method";

    private final String hook;
    private final @Nullable String parameter;
    private final String resultType;

    /**
     * See {@link MethodPatch}.
     *
     * @param hook the method of {@link SocketHook} to call; it throws nothing
     * @param parameter type of the hook's parameter; null if it has none
     */
    HookPatch(String type, String method, String descriptor, String hook, @Nullable String parameter, String answer) {
        super(type, method, descriptor, answer);
        this.hook = hook;
        this.parameter = parameter;
        this.resultType = answer;
    }

    /** Pushes the argument of the hook, as an object. */
    void pushArgument(Instructions code) {}

    @Override
    void returnResult(Instructions code) {
        code.areturn();
    }

    /** Calls it through the system class loader, which has the agent's jar. */
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
