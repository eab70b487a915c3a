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
import java.nio.channels.spi.SelectorProvider;
import java.security.ProtectionDomain;

import org.jspecify.annotations.Nullable;

/**
 * Makes {@link SelectorProvider#provider()} answer Verbena's provider, also after the JDK has chosen one.
 *
 * <p>The JDK's own way in is a class named by a system property. It is of no use to a JVM that runs, which has chosen
 * already; and such a class, found on the class path, could not be Verbena's provider, which is in a module layer, but
 * only stand before it, so that {@code channel.provider() == SelectorProvider.provider()} would not hold.
 *
 * <p>So a method of the JDK begins with: what does {@link SocketHook#provider()} say? Only if that is null it goes on as
 * the JDK wrote it. It is the method that chooses the provider, which runs once and before the first channel; where that
 * has happened already, the public one, which is called for each channel that is opened.
 */
final class ProviderPatch implements ClassFileTransformer {
    private static final String PUBLIC = SelectorProvider.class.getName();
    private static final String CHOOSES = PUBLIC + "$Holder";

    private static final ClassDesc LOADER = ClassDesc.of("java.lang.ClassLoader");
    private static final ClassDesc METHOD = ClassDesc.of("java.lang.reflect.Method");
    private static final ClassDesc PROVIDER = ClassDesc.of(PUBLIC);
    private static final MethodTypeDesc GETTER = MethodTypeDesc.of(PROVIDER);

    private final String patched;
    private @Nullable Throwable failure;
    private boolean done;

    private ProviderPatch(String patched) {
        this.patched = patched.replace('.', '/');
    }

    /** @throws IllegalStateException if it does not work; nothing is changed then */
    static void apply(Instrumentation instrumentation) throws ClassNotFoundException {
        String name = isLoaded(instrumentation, CHOOSES) ? PUBLIC : CHOOSES;
        Class<?> type = Class.forName(name, false, null);
        ProviderPatch patch = new ProviderPatch(name);
        instrumentation.addTransformer(patch, true);
        try {
            instrumentation.retransformClasses(type);
        } catch (UnmodifiableClassException | RuntimeException | LinkageError e) {
            throw new IllegalStateException(name + " cannot be changed: " + e, e);
        } finally {
            instrumentation.removeTransformer(patch); // one that stays is asked about each class that is loaded
        }
        if (!patch.done) {
            throw new IllegalStateException(name + " cannot be changed: " + patch.failure, patch.failure);
        }
    }

    private static boolean isLoaded(Instrumentation instrumentation, String name) {
        for (Class<?> c : instrumentation.getAllLoadedClasses()) {
            if (c.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    @Override
    @SuppressWarnings("NullAway") // null: no change
    public byte @Nullable [] transform(@Nullable ClassLoader loader, String name, @Nullable Class<?> type,
            @Nullable ProtectionDomain domain, byte[] bytes) {
        if (loader != null || !name.equals(patched)) {
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

    private static byte[] patched(byte[] original) {
        ClassFile file = ClassFile.of();
        Prefix prefix = new Prefix();
        byte[] changed = file.transformClass(file.parse(original), ClassTransform.transformingMethodBodies(
                m -> m.methodName().equalsString("provider") && m.methodTypeSymbol().equals(GETTER), prefix));
        if (!prefix.placed) {
            throw new IllegalStateException("it has no method provider()");
        }
        return changed;
    }

    /** Puts the question before the method's own code; through the system class loader, where the agent's jar is. */
    private static final class Prefix implements CodeTransform {
        private boolean placed;

        @Override
        public void atStart(CodeBuilder code) {
            placed = true;
            Label jdk = code.newLabel();
            code.invokestatic(LOADER, "getSystemClassLoader", MethodTypeDesc.of(LOADER))
                    .ldc(SocketHook.class.getName())
                    .invokevirtual(LOADER, "loadClass",
                            MethodTypeDesc.of(ConstantDescs.CD_Class, ConstantDescs.CD_String))
                    .ldc("provider").iconst_0().anewarray(ConstantDescs.CD_Class)
                    .invokevirtual(ConstantDescs.CD_Class, "getMethod", MethodTypeDesc.of(METHOD,
                            ConstantDescs.CD_String, ConstantDescs.CD_Class.arrayType()))
                    .aconst_null().iconst_0().anewarray(ConstantDescs.CD_Object)
                    .invokevirtual(METHOD, "invoke", MethodTypeDesc.of(ConstantDescs.CD_Object, ConstantDescs.CD_Object,
                            ConstantDescs.CD_Object.arrayType()))
                    .checkcast(PROVIDER).dup().ifnull(jdk).areturn()
                    .labelBinding(jdk).pop();
        }

        @Override
        public void accept(CodeBuilder code, CodeElement element) {
            code.with(element);
        }
    }
}
