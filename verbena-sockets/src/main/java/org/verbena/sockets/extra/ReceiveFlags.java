// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.extra;

/** Flags of {@link ExtraApi#receive}, to be combined by {@code |}. The values are those of {@code vma_extra.h} and of recvmsg(2). */
public final class ReceiveFlags {
    /** None. */
    public static final int NONE = 0;

    /** Does not wait even if the channel blocks, nor for another thread that reads it: {@code MSG_DONTWAIT}. */
    public static final int DONT_WAIT = 0x40;

    /** Nothing is to be copied: where bytes are there and only a copy can receive them, the call takes none and fails with {@code EIO}: {@code MSG_VMA_ZCOPY_FORCE}. */
    public static final int FORCE = 0x0100_0000;

    private ReceiveFlags() {}
}
