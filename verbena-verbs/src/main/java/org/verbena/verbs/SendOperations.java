// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Which operations a send queue is to take, {@code enum ibv_qp_create_send_ops_flags}. */
public final class SendOperations {
    /** {@link SendQueue#write}. */
    public static final int WRITE = 1;
    /** {@link SendQueue#writeImmediate}. */
    public static final int WRITE_IMMEDIATE = 1 << 1;
    /** {@link SendQueue#send}. */
    public static final int SEND = 1 << 2;
    /** {@link SendQueue#sendImmediate}. */
    public static final int SEND_IMMEDIATE = 1 << 3;
    /** {@link SendQueue#read}. */
    public static final int READ = 1 << 4;
    /** {@link SendQueue#compareAndSwap}. */
    public static final int COMPARE_AND_SWAP = 1 << 5;
    /** {@link SendQueue#fetchAndAdd}. */
    public static final int FETCH_AND_ADD = 1 << 6;
    /** Invalidation of a local key. */
    public static final int LOCAL_INVALIDATE = 1 << 7;
    /** Binding a memory window. */
    public static final int BIND_WINDOW = 1 << 8;
    /** A send that invalidates a key of the peer. */
    public static final int SEND_INVALIDATE = 1 << 9;
    /** A send of raw packets that is cut into segments. */
    public static final int SEGMENTED_SEND = 1 << 10;
    /** Making earlier writes visible or persistent. */
    public static final int FLUSH = 1 << 11;
    /** A write of 8 bytes that is atomic. */
    public static final int ATOMIC_WRITE = 1 << 12;

    private static final Flags NAMES = new Flags("WRITE", "WRITE_IMMEDIATE", "SEND", "SEND_IMMEDIATE", "READ",
            "COMPARE_AND_SWAP", "FETCH_AND_ADD", "LOCAL_INVALIDATE", "BIND_WINDOW", "SEND_INVALIDATE",
            "SEGMENTED_SEND", "FLUSH", "ATOMIC_WRITE");

    private SendOperations() {}

    /** The operations' names; unknown bits as a number. */
    public static String toString(int flags) {
        return NAMES.toString(flags);
    }
}
