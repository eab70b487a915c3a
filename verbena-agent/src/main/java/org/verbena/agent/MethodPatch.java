// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;

import org.jspecify.annotations.Nullable;

/**
 * Prepends a call to a method of the JDK: if its result is null, or false, the method continues with the JDK's code.
 * Only the class in this JVM's memory is changed, by {@link MethodPrefix}.
 */
abstract class MethodPatch {
    private final String type;
    private final String file;
    private final String method;
    private final String descriptor;
    private final @Nullable ClassDesc resultType;
    private volatile @Nullable Throwable failure;
    private volatile boolean applied;

    /**
     * Patches one method.
     *
     * @param type its class, by its binary name
     * @param descriptor its parameters and result, as in a class file
     * @param answer the type of the result; null for a boolean
     */
    MethodPatch(String type, String method, String descriptor, @Nullable ClassDesc answer) {
        this.type = type;
        this.file = type.replace('.', '/');
        this.method = method;
        this.descriptor = descriptor;
        this.resultType = answer;
    }

    /** Pushes the result onto the stack. */
    abstract void pushResult(CodeBuilder code);

    /** Pops a result that is not null from the stack, or nothing if it was true, and ends the method. */
    abstract void returnResult(CodeBuilder code);

    /** Its class. */
    String type() {
        return type;
    }

    /** Its class, by its name in class files. */
    String file() {
        return file;
    }

    /** The name of the method. */
    String method() {
        return method;
    }

    /** Its parameters and result, as in a class file. */
    String descriptor() {
        return descriptor;
    }

    /** The type of the result that is pushed; null for a boolean. */
    @Nullable
    ClassDesc resultType() {
        return resultType;
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
        return MethodPrefix.prepend(this, original);
    }
}
