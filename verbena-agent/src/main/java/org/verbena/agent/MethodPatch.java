package org.verbena.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;

import org.jspecify.annotations.Nullable;

/**
 * Makes a method of the JDK begin with a question to {@link SocketHook}: if the answer is null it goes on as the JDK wrote
 * it. The class file alone is changed, in this JVM's memory, and by {@link MethodPrefix}: the JDK's own Class-File API
 * takes a tenth of a second for it in a JVM that has just begun. No lambdas here for the same reason.
 */
class MethodPatch implements ClassFileTransformer {
    private static final String OBJECT = "java/lang/Object";
    private static final String CLASS = "java/lang/Class";
    private static final String LOADER = "java/lang/ClassLoader";
    private static final String METHOD = "java/lang/reflect/Method";

    private final String type;
    private final String method;
    private final String descriptor;
    private final String hook;
    private final @Nullable String parameter;
    private final String answer;
    private @Nullable Throwable failure;
    private boolean done;

    /**
     * Changes one method.
     *
     * @param type its class, as the JVM names it
     * @param descriptor its parameters and result, as in a class file
     * @param hook the method of {@link SocketHook} that is asked; it throws nothing
     * @param parameter type of the hook's parameter; null if it has none
     * @param answer the type of the answer
     */
    MethodPatch(String type, String method, String descriptor, String hook, @Nullable String parameter, String answer) {
        this.type = type;
        this.method = method;
        this.descriptor = descriptor;
        this.hook = hook;
        this.parameter = parameter;
        this.answer = answer;
    }

    /** Puts the argument of the hook onto the stack, as an object. */
    void argument(Instructions code) {}

    /** Takes an answer that is not null from the stack, two places of which it may use, and ends the method. */
    void use(Instructions code) {
        code.areturn();
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
        MethodPrefix prefix = new MethodPrefix(original);
        Instructions asked = new Instructions(prefix.constants());
        ask(asked);
        Instructions used = new Instructions(prefix.constants());
        use(used);
        byte[] changed = prefix.before(method, descriptor, asked, answer, used);
        if (changed == null) {
            throw new IllegalStateException("it has no method " + method + descriptor);
        }
        return changed;
    }

    /** Leaves the answer on the stack. By the system class loader, where the agent's jar is. */
    private void ask(Instructions code) {
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
            argument(code.iconst1().anewarray(OBJECT).dup().iconst0());
            code.aastore();
        }
        code.invokevirtual(METHOD, "invoke", "(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;")
                .checkcast(answer);
    }
}
