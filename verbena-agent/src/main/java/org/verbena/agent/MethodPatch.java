// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import org.jspecify.annotations.Nullable;

/**
 * Prepends a call to a method of the JDK: if its result is null, or false, the method continues with the JDK's code.
 * Only the class in this JVM's memory is changed, and by {@link MethodPrefix}: the JDK's own Class-File API takes a
 * tenth of a second for that in a JVM that has just started. No lambdas here for the same reason.
 */
abstract class MethodPatch {
    private final String type;
    private final String file;
    private final String method;
    private final String descriptor;
    private final @Nullable String resultType;
    private volatile @Nullable Throwable failure;
    private volatile boolean applied;

    /**
     * Patches one method.
     *
     * @param type its class, by its binary name
     * @param descriptor its parameters and result, as in a class file
     * @param answer the type of the result; null for a boolean
     */
    MethodPatch(String type, String method, String descriptor, @Nullable String answer) {
        this.type = type;
        this.file = type.replace('.', '/');
        this.method = method;
        this.descriptor = descriptor;
        this.resultType = answer;
    }

    /** Pushes the result onto the stack; may use eight slots of it. */
    abstract void pushResult(Instructions code);

    /** Pops a result that is not null from the stack, or nothing if it was true, and ends the method. */
    abstract void returnResult(Instructions code);

    /** Its class. */
    String type() {
        return type;
    }

    /** Its class, by its name in class files. */
    String file() {
        return file;
    }

    /** Whether it was patched at least once. */
    boolean isApplied() {
        return applied;
    }

    /** The reason if it was not. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** The patched class file; null if patching fails. */
    byte @Nullable [] transform(byte[] bytes) {
        try {
            byte[] changed = patch(bytes);
            applied = true;
            return changed;
        } catch (RuntimeException | LinkageError e) {
            failure = e; // the JVM would swallow it
            return null;
        }
    }

    /** The patched class file. */
    byte[] patch(byte[] original) {
        MethodPrefix prefix = new MethodPrefix(original);
        Instructions asked = new Instructions(prefix.constants());
        pushResult(asked);
        Instructions used = new Instructions(prefix.constants());
        returnResult(used);
        byte[] changed = prefix.prepend(method, descriptor, asked, resultType, used);
        if (changed == null) {
            throw new IllegalStateException("it has no method " + method + descriptor);
        }
        return changed;
    }
}
