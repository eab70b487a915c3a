// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

/**
 * A memory window, {@code struct ibv_mw}: a key for a part of a memory region, with rights of its own, that is given and
 * taken away by work requests and without registering anything. Safe for use by several threads.
 *
 * <p>A window of {@link #TYPE_1} is bound and unbound by {@link QueuePair#bindMemoryWindow}, again and again, and can be
 * used by peers of all queue pairs of its protection domain. One of {@link #TYPE_2} is bound by
 * {@link SendQueue#bindMemoryWindow} with a key of the application's choice, can be used by the peer of that queue pair
 * alone, and is taken away by {@link SendQueue#localInvalidate} or by the peer's {@link SendQueue#sendInvalidate}; then
 * it may be bound again.
 *
 * <p>When the completion of what takes a key away is there, or {@link #close()} ({@code ibv_dealloc_mw}) has returned, no
 * peer touches the memory by that key any more. A region cannot be closed while a window is bound to it.
 */
public abstract class MemoryWindow extends VerbsObject {
    /** Bound by a verb, {@code IBV_MW_TYPE_1}. */
    public static final int TYPE_1 = 1;
    /** Bound by a work request, {@code IBV_MW_TYPE_2}. */
    public static final int TYPE_2 = 2;

    /** The rights that a window may have. */
    static final int RIGHTS = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC
            | AccessFlags.ZERO_BASED;

    private final ProtectionDomain pd;
    private final int type;

    /** For providers. */
    protected MemoryWindow(ProtectionDomain pd, int type) throws VerbsException {
        super(List.of(pd));
        this.pd = pd;
        this.type = type;
    }

    /** The protection domain. */
    public final ProtectionDomain protectionDomain() {
        return pd;
    }

    /** {@link #TYPE_1} or {@link #TYPE_2}. */
    public final int type() {
        return type;
    }

    /** The key of the latest binding, or the one that the window began with; peers may use it while it is bound. */
    public abstract int rkey();

    /** The next key of a window, {@code ibv_inc_rkey}: its lower 8 bits are the application's to choose. */
    public static int incrementRkey(int rkey) {
        return rkey & ~0xff | rkey + 1 & 0xff;
    }

    /** The type's name, or its number if this version does not know it. */
    public static String toString(int type) {
        return switch (type) {
            case TYPE_1 -> "TYPE_1";
            case TYPE_2 -> "TYPE_2";
            default -> Integer.toString(type);
        };
    }

    @Override
    int closeOrder() {
        return 1;
    }
}
