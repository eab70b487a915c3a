// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The patches of the JDK, for the lifetime of the JVM: when another agent, or the Flight Recorder's method timing,
 * retransforms a class, the JVM starts from the JDK's own class file and calls all transformers again. So this one
 * stays registered, although it is called for each class that the program loads: it only compares names.
 */
final class Patches implements ClassFileTransformer {
    private static final String CLIENTS = "sun/nio/ch/SocketChannelImpl";
    private static final String SERVERS = "sun/nio/ch/ServerSocketChannelImpl";

    private final Instrumentation instrumentation;
    private volatile MethodPatch[] patches = {};
    private volatile @Nullable Runnable foreignTransformTask;

    Patches(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** The instrumentation of this JVM. */
    Instrumentation instrumentation() {
        return instrumentation;
    }

    /**
     * Sets a task that runs whenever another agent retransforms a loaded class of the JDK's channels; it must not
     * block.
     */
    void onForeignTransform(Runnable task) {
        foreignTransformTask = task;
    }

    /**
     * Patches one method.
     *
     * @throws IllegalStateException if patching fails; nothing is changed then
     */
    synchronized void apply(MethodPatch patch) throws ClassNotFoundException {
        Class<?> changed = Class.forName(patch.type(), false, null);
        MethodPatch[] before = patches;
        MethodPatch[] with = Arrays.copyOf(before, before.length + 1);
        with[before.length] = patch;
        patches = with;
        if (before.length == 0) {
            instrumentation.addTransformer(this, true);
        }
        RuntimeException problem = null;
        try {
            instrumentation.retransformClasses(changed);
        } catch (UnmodifiableClassException | RuntimeException | LinkageError e) {
            problem = new IllegalStateException(patch.type() + " cannot be changed: " + e, e);
        }
        if (problem == null && !patch.isApplied()) {
            problem = new IllegalStateException(patch.type() + " cannot be changed: " + patch.failure(),
                    patch.failure());
        }
        if (problem != null) {
            patches = before;
            if (before.length == 0) {
                instrumentation.removeTransformer(this);
            }
            throw problem;
        }
    }

    /** Called by a thread that loads or transforms a class, maybe holding locks of the JVM: must not block. */
    @Override
    @SuppressWarnings("NullAway") // null: no change
    public byte @Nullable [] transform(@Nullable ClassLoader loader, @Nullable String name,
            @Nullable Class<?> redefined, @Nullable ProtectionDomain domain, byte[] bytes) {
        if (loader != null || name == null) {
            return null;
        }
        Runnable task = foreignTransformTask;
        if (redefined != null && task != null && (name.equals(CLIENTS) || name.equals(SERVERS))) {
            task.run();
        }
        byte[] changed = null;
        for (MethodPatch p : patches) {
            if (name.equals(p.file())) {
                byte[] more = p.transform(changed == null ? bytes : changed);
                changed = more == null ? changed : more;
            }
        }
        return changed;
    }
}
