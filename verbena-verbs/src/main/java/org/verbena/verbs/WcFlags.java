// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Flags of a successful work completion, {@code enum ibv_wc_flags}; combined with {@code |}. */
public final class WcFlags {
    /** A global routing header precedes the data. */
    public static final int GRH = 1;
    /** {@link CompletionQueue#immediate()} is valid. */
    public static final int WITH_IMM = 2;
    /** The checksums of a received packet are right. */
    public static final int IP_CSUM_OK = 1 << 2;
    /** A remote key was invalidated. */
    public static final int WITH_INV = 8;
    /** The list of tags and the hardware have to be brought together. */
    public static final int TM_SYNC_REQ = 1 << 4;
    /** A message matched a tag. */
    public static final int TM_MATCH = 1 << 5;
    /** The data of a matched message are there. */
    public static final int TM_DATA_VALID = 1 << 6;

    /**
     * Of a raw packet: the checksum of TCP or UDP was not computed, since the sender is on this host and left that to
     * hardware which the packet never met: the field has the sum of the pseudo-header. The rest is right. No flag of C.
     */
    public static final int CSUM_PARTIAL = 1 << 16;
    /** Of a raw packet: it goes on in the buffer of the queue pair's next completion. No flag of C. */
    public static final int CONTINUES = 1 << 17;

    private static final Flags FLAGS = new Flags("GRH", "WITH_IMM", "IP_CSUM_OK", "WITH_INV", "TM_SYNC_REQ", "TM_MATCH",
            "TM_DATA_VALID").and(CSUM_PARTIAL, "CSUM_PARTIAL").and(CONTINUES, "CONTINUES");

    private WcFlags() {}

    /** The flags by name, for instance {@code "GRH|WITH_IMM"}; unknown bits as a hexadecimal number. */
    public static String toString(int flags) {
        return FLAGS.toString(flags);
    }
}
