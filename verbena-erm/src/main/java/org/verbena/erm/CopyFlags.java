// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/** Flags of a copy; combined with {@code |}. */
public final class CopyFlags {
    /** No flag. */
    public static final int NONE = 0;
    /**
     * The other end gets an event, {@link EventType#COPIED} or {@link EventType#COPIED_FROM}, when the bytes have
     * arrived: {@code SMC_ERM_CMD_FLAG_REMOTE_COMPL}. It costs least for a copy to the other end's memory without user
     * data, at an offset that is a multiple of 64 below 64 MiB: others are two requests, as one in 16 of these is.
     */
    public static final int REMOTE_COMPLETION = 1;
    /** The copy starts only when all earlier copies from the other end's memory have completed. */
    public static final int FENCE = 1 << 1;
    /**
     * A successful copy yields no local completion. The completion of a later copy implies that this one is done,
     * too. A failed copy always yields a completion.
     */
    public static final int UNSIGNALED = 1 << 2;

    static final int ALL = REMOTE_COMPLETION | FENCE | UNSIGNALED;

    private CopyFlags() {}
}
