// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Access rights of a memory region or a queue pair, {@code enum ibv_access_flags}; combined with {@code |}. */
public final class AccessFlags {
    /** The adapter may write the region on behalf of this process: receives, results of reads and atomics. */
    public static final int LOCAL_WRITE = 1;
    /** Peers may write; needs {@link #LOCAL_WRITE}. */
    public static final int REMOTE_WRITE = 1 << 1;
    /** Peers may read. */
    public static final int REMOTE_READ = 1 << 2;
    /** Peers may use atomics; needs {@link #LOCAL_WRITE}. */
    public static final int REMOTE_ATOMIC = 1 << 3;
    /** Memory windows may be bound to the region. */
    public static final int MW_BIND = 1 << 4;
    /** Addresses of the region, or window, count from 0. */
    public static final int ZERO_BASED = 1 << 5;
    /** Pages are brought in on demand, see {@link DeviceAttributes#odpCapabilities()}. */
    public static final int ON_DEMAND = 1 << 6;
    /** The memory consists of huge pages. */
    public static final int HUGETLB = 1 << 7;
    /** Peers may {@linkplain SendQueue#flush flush} until all see what they wrote. */
    public static final int FLUSH_GLOBAL = 1 << 8;
    /** Peers may flush until what they wrote outlives a loss of power. */
    public static final int FLUSH_PERSISTENT = 1 << 9;
    /** A hint: the provider may reorder writes. */
    public static final int RELAXED_ORDERING = 1 << 20;
    /** Flags in this range are hints which a provider may ignore, {@code IBV_ACCESS_OPTIONAL_RANGE}. */
    public static final int OPTIONAL_RANGE = 0x3ff00000;

    /** {@link #LOCAL_WRITE} and all three remote rights. */
    public static final int ALL = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

    private static final Flags FLAGS = new Flags("LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC",
            "MW_BIND",
            "ZERO_BASED", "ON_DEMAND", "HUGETLB", "FLUSH_GLOBAL", "FLUSH_PERSISTENT").and(RELAXED_ORDERING,
                    "RELAXED_ORDERING");

    private AccessFlags() {}

    /** The flags by name, for instance {@code "LOCAL_WRITE|REMOTE_READ"}; unknown bits as a hexadecimal number. */
    public static String toString(int flags) {
        return FLAGS.toString(flags);
    }
}
