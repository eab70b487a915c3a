package org.verbena.verbs;

/** How far a device's atomics are atomic, {@code enum ibv_atomic_cap}. */
public final class AtomicCapability {
    /** No atomics. */
    public static final int NONE = 0;
    /** Among the operations of this device. */
    public static final int HCA = 1;
    /** Towards the CPU and other devices too. */
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
