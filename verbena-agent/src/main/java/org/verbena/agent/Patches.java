// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The changes to methods of the JDK, for as long as the JVM runs: who else has a class transformed anew, another agent or
 * the Flight Recorder's method timing, begins with the JDK's own class file, and all transformers are asked again. So this
 * one stays, although it is asked about each class that the program loads: it compares names, and nothing else.
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

    /** Of this JVM. */
    Instrumentation instrumentation() {
        return instrumentation;
    }

    /** Has something run whenever somebody transforms a class of the JDK's channels that is loaded: it waits for nothing. */
    void onForeignTransform(Runnable task) {
        foreignTransformTask = task;
    }

    /**
     * Changes one method.
     *
     * @throws IllegalStateException if it does not work; nothing is changed then
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

    /** In a thread that loads or transforms a class, maybe with locks of the JVM's: it waits for nothing. */
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
