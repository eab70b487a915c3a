// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import org.jspecify.annotations.Nullable;

/**
 * Makes a method of the JDK begin with a question: if the answer is null, or false, it goes on as the JDK wrote it. The
 * class file alone is changed, in this JVM's memory, and by {@link MethodPrefix}: the JDK's own Class-File API
 * takes a tenth of a second for it in a JVM that has just begun. No lambdas here for the same reason.
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
     * Changes one method.
     *
     * @param type its class, as the JVM names it
     * @param descriptor its parameters and result, as in a class file
     * @param answer the type of the answer; null for a boolean
     */
    MethodPatch(String type, String method, String descriptor, @Nullable String answer) {
        this.type = type;
        this.file = type.replace('.', '/');
        this.method = method;
        this.descriptor = descriptor;
        this.resultType = answer;
    }

    /** Leaves the answer on the stack, eight places of which it may use. */
    abstract void pushResult(Instructions code);

    /** Takes an answer that is not null from the stack, or nothing if it was true, and ends the method. */
    abstract void returnResult(Instructions code);

    /** Its class. */
    String type() {
        return type;
    }

    /** Its class, as class files name it. */
    String file() {
        return file;
    }

    /** Whether it was changed at least once. */
    boolean isApplied() {
        return applied;
    }

    /** Why it was not. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** The class file with the question in it; null if that does not work. */
    byte @Nullable [] transform(byte[] bytes) {
        try {
            byte[] changed = patch(bytes);
            applied = true;
            return changed;
        } catch (RuntimeException | LinkageError e) {
            failure = e; // the JVM would keep it to itself
            return null;
        }
    }

    /** The class file with the question in it. */
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
