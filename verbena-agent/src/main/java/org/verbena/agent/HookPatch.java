// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

import org.jspecify.annotations.Nullable;

/** Prepends a call of {@link SocketHook} to a method of the JDK, for an object to return or to continue with. */
class HookPatch extends MethodPatch {
    private static final ClassDesc OBJECT = ConstantDescs.CD_Object;
    private static final ClassDesc CLASS = ConstantDescs.CD_Class;
    private static final ClassDesc STRING = ConstantDescs.CD_String;
    private static final ClassDesc LOADER = ClassDesc.of("java.lang.ClassLoader");
    private static final ClassDesc METHOD = ClassDesc.of("java.lang.reflect.Method");

    private final String hook;
    private final @Nullable ClassDesc parameter;
    private final ClassDesc resultType;

    /**
     * See {@link MethodPatch}.
     *
     * @param hook the method of {@link SocketHook} to call; it throws nothing
     * @param parameter type of the hook's parameter; null if it has none
     */
    HookPatch(String type, String method, String descriptor, String hook, @Nullable ClassDesc parameter,
            ClassDesc answer) {
        super(type, method, descriptor, answer);
        this.hook = hook;
        this.parameter = parameter;
        this.resultType = answer;
    }

    /** Pushes the argument of the hook, as an object. */
    void pushArgument(CodeBuilder code) {}

    @Override
    void returnResult(CodeBuilder code) {
        code.areturn();
    }

    /** Calls it through the system class loader, which has the agent's jar. */
    @Override
    void pushResult(CodeBuilder code) {
        code.invokestatic(LOADER, "getSystemClassLoader", MethodTypeDesc.of(LOADER))
                .loadConstant(SocketHook.class.getName())
                .invokevirtual(LOADER, "loadClass", MethodTypeDesc.of(CLASS, STRING)).loadConstant(hook);
        ClassDesc p = parameter;
        if (p == null) {
            code.iconst_0().anewarray(CLASS);
        } else {
            code.iconst_1().anewarray(CLASS).dup().iconst_0().loadConstant(p).aastore();
        }
        code.invokevirtual(CLASS, "getMethod", MethodTypeDesc.of(METHOD, STRING, CLASS.arrayType())).aconst_null();
        if (p == null) {
            code.iconst_0().anewarray(OBJECT);
        } else {
            code.iconst_1().anewarray(OBJECT).dup().iconst_0();
            pushArgument(code);
            code.aastore();
        }
        code.invokevirtual(METHOD, "invoke", MethodTypeDesc.of(OBJECT, OBJECT, OBJECT.arrayType()))
                .checkcast(resultType);
    }
}
