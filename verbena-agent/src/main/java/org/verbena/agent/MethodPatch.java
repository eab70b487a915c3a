package org.verbena.agent;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Makes a method of the JDK begin with a question to {@link SocketHook}: if the answer is null it goes on as the JDK wrote
 * it. The class file alone is changed, in this JVM's memory.
 */
final class MethodPatch implements ClassFileTransformer {
    private static final ClassDesc LOADER = ClassDesc.of("java.lang.ClassLoader");
    private static final ClassDesc METHOD = ClassDesc.of("java.lang.reflect.Method");

    private final String type;
    private final String method;
    private final MethodTypeDesc signature;
    private final Question question;
    private @Nullable Throwable failure;
    private boolean done;

    /**
     * What is asked, and what becomes of the answer.
     *
     * @param hook the method of {@link SocketHook}; it throws nothing
     * @param parameter of that method; null if it has none
     * @param argument puts the argument onto the stack, as an object
     * @param answer the type of the answer
     * @param use takes an answer that is not null from the stack and returns from the method
     */
    record Question(String hook, @Nullable ClassDesc parameter, Consumer<CodeBuilder> argument, ClassDesc answer,
            Consumer<CodeBuilder> use) {}

    MethodPatch(String type, String method, MethodTypeDesc signature, Question question) {
        this.type = type;
        this.method = method;
        this.signature = signature;
        this.question = question;
    }

    /** @throws IllegalStateException if it does not work; nothing is changed then */
    void apply(Instrumentation instrumentation) throws ClassNotFoundException {
        Class<?> changed = Class.forName(type, false, null);
        instrumentation.addTransformer(this, true);
        try {
            instrumentation.retransformClasses(changed);
        } catch (UnmodifiableClassException | RuntimeException | LinkageError e) {
            throw new IllegalStateException(type + " cannot be changed: " + e, e);
        } finally {
            instrumentation.removeTransformer(this); // one that stays is asked about each class that is loaded
        }
        if (!done) {
            throw new IllegalStateException(type + " cannot be changed: " + failure, failure);
        }
    }

    @Override
    @SuppressWarnings("NullAway") // null: no change
    public byte @Nullable [] transform(@Nullable ClassLoader loader, String name, @Nullable Class<?> redefined,
            @Nullable ProtectionDomain domain, byte[] bytes) {
        if (loader != null || !name.equals(type.replace('.', '/'))) {
            return null;
        }
        try {
            byte[] changed = patched(bytes);
            done = true;
            return changed;
        } catch (RuntimeException | LinkageError e) {
            failure = e; // the JVM would keep it to itself
            return null;
        }
    }

    /** The class file with the question in it. */
    byte[] patched(byte[] original) {
        ClassFile file = ClassFile.of();
        Prefix prefix = new Prefix(question);
        byte[] changed = file.transformClass(file.parse(original), ClassTransform.transformingMethodBodies(
                m -> m.methodName().equalsString(method) && m.methodTypeSymbol().equals(signature), prefix));
        if (!prefix.placed) {
            throw new IllegalStateException("it has no method " + method + signature.displayDescriptor());
        }
        return changed;
    }

    /** Puts the question before the method's own code; through the system class loader, where the agent's jar is. */
    private static final class Prefix implements CodeTransform {
        private final Question question;
        private boolean placed;

        Prefix(Question question) {
            this.question = question;
        }

        @Override
        public void atStart(CodeBuilder code) {
            placed = true;
            Label jdk = code.newLabel();
            code.invokestatic(LOADER, "getSystemClassLoader", MethodTypeDesc.of(LOADER))
                    .ldc(SocketHook.class.getName())
                    .invokevirtual(LOADER, "loadClass",
                            MethodTypeDesc.of(ConstantDescs.CD_Class, ConstantDescs.CD_String))
                    .ldc(question.hook);
            array(code, ConstantDescs.CD_Class, question.parameter == null ? null : c -> c.ldc(question.parameter));
            code.invokevirtual(ConstantDescs.CD_Class, "getMethod", MethodTypeDesc.of(METHOD,
                    ConstantDescs.CD_String, ConstantDescs.CD_Class.arrayType())).aconst_null();
            array(code, ConstantDescs.CD_Object, question.parameter == null ? null : question.argument);
            code.invokevirtual(METHOD, "invoke", MethodTypeDesc.of(ConstantDescs.CD_Object, ConstantDescs.CD_Object,
                    ConstantDescs.CD_Object.arrayType())).checkcast(question.answer).dup().ifnull(jdk);
            question.use.accept(code);
            code.labelBinding(jdk).pop();
        }

        /** An array with what {@code element} puts onto the stack, or an empty one. */
        private static void array(CodeBuilder code, ClassDesc type, @Nullable Consumer<CodeBuilder> element) {
            if (element == null) {
                code.iconst_0().anewarray(type);
                return;
            }
            code.iconst_1().anewarray(type).dup().iconst_0();
            element.accept(code);
            code.aastore();
        }

        @Override
        public void accept(CodeBuilder code, CodeElement element) {
            code.with(element);
        }
    }
}
