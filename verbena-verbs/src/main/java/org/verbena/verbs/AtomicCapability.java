// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** How far a device's atomics are atomic, {@code enum ibv_atomic_cap}. */
public final class AtomicCapability {
    /** No atomics. */
    public static final int NONE = 0;
    /** Among the operations of this device; the owner's own accesses to the word may be lost, or undo them. */
    public static final int HCA = 1;
    /**
     * Towards the CPU and other devices too: the owner may use {@link java.lang.invoke.VarHandle} atomics, for instance
     * {@code ValueLayout.JAVA_LONG.varHandle().getAndAdd(memory, offset, 1)}, on the word while peers do atomics on it.
     */
    public static final int GLOB = 2;

    private AtomicCapability() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case NONE -> "NONE";
            case HCA -> "HCA";
            case GLOB -> "GLOB";
            default -> Integer.toString(value);
        };
    }
}
