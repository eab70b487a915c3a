// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.verbena.linux.Errno;

/** Flags of a send work request, {@code enum ibv_send_flags}; combined with {@code |}. */
public final class SendFlags {
    /** No flag. */
    public static final int NONE = 0;
    /** Starts only when all earlier reads and atomics of the queue have completed. */
    public static final int FENCE = 1;
    /** Makes a completion also on success. Queue pairs created with {@code sqSigAll} behave as if it were always set. */
    public static final int SIGNALED = 1 << 1;
    /** The peer's completion counts as solicited, see {@link CompletionQueue#requestNotify(boolean)}. */
    public static final int SOLICITED = 1 << 2;
    /** The data are taken when the request is posted; the buffer may be reused at once. */
    public static final int INLINE = 1 << 3;
    /** The checksums of a raw packet are computed, see {@link RawPacketCapabilities#IP_CSUM}. */
    public static final int IP_CSUM = 1 << 4;
    /**
     * The request goes all the way that a send goes, and nothing leaves: it keeps caches warm. For devices with
     * {@link DeviceCapabilityFlags#DUMMY_SEND}; the bit is that of libvma's {@code VMA_SND_FLAGS_DUMMY}.
     */
    public static final int DUMMY = 1 << 10;

    private static final int ALL = FENCE | SIGNALED | SOLICITED | INLINE | IP_CSUM | DUMMY;

    private static final Flags FLAGS = new Flags("FENCE", "SIGNALED", "SOLICITED", "INLINE", "IP_CSUM").and(DUMMY,
            "DUMMY");

    private SendFlags() {}

    /**
     * For providers: what a post with these flags answers.
     *
     * @param known the flags that the provider knows
     * @return 0, {@code EOPNOTSUPP} for a flag that this version of the API has, else {@code EINVAL}
     */
    public static int check(int flags, int known) {
        int unknown = flags & ~known;
        return unknown == 0 ? 0 : (unknown & ~ALL) == 0 ? Errno.EOPNOTSUPP : Errno.EINVAL;
    }

    /** The flags by name; unknown bits as a hexadecimal number. */
    public static String toString(int flags) {
        return FLAGS.toString(flags);
    }
}
