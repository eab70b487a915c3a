package org.verbena.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;

import org.jspecify.annotations.Nullable;

/**
 * Makes a method of the JDK begin with a question: if the answer is null, or false, it goes on as the JDK wrote it. The
 * class file alone is changed, in this JVM's memory, and by {@link MethodPrefix}: the JDK's own Class-File API
 * takes a tenth of a second for it in a JVM that has just begun. No lambdas here for the same reason.
 */
abstract class MethodPatch implements ClassFileTransformer {
    private final String type;
    private final String method;
    private final String descriptor;
    private final @Nullable String answer;
    private @Nullable Throwable failure;
    private boolean done;

    /**
     * Changes one method.
     *
     * @param type its class, as the JVM names it
     * @param descriptor its parameters and result, as in a class file
     * @param answer the type of the answer; null for a boolean
     */
    MethodPatch(String type, String method, String descriptor, @Nullable String answer) {
        this.type = type;
        this.method = method;
        this.descriptor = descriptor;
        this.answer = answer;
    }

    /** Leaves the answer on the stack, eight places of which it may use. */
    abstract void ask(Instructions code);

    /** Takes an answer that is not null from the stack, or nothing if it was true, and ends the method. */
    abstract void use(Instructions code);

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
}
