// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.extra;

/**
 * The functions of the Extra API, each with its bit in {@code vma_extra_supported_mask} of {@code vma_extra.h}. More may be added: a
 * program has a default in a {@code switch} over them.
 */
public enum ExtraFunction {
    /** Zero-copy receive, {@link ExtraApi#receive}: {@code recvfrom_zcopy}. */
    RECEIVE_ZERO_COPY(1),
    /** Freeing of packets, {@link ExtraApi#freePackets}: {@code free_packets}. */
    FREE_PACKETS(2),
    /** Rules at run time, {@link ExtraApi#addRule}: {@code add_conf_rule}. */
    ADD_RULE(3),
    /** Which transport the sockets of a thread may use, {@link ExtraApi#threadOffload}: {@code thread_offload}. */
    THREAD_OFFLOAD(4),
    /** Statistics of sockets as text, {@link ExtraApi#dumpStatistics}: {@code dump_fd_stats}. */
    DUMP_STATISTICS(5);

    private final int bit;

    ExtraFunction(int bit) {
        this.bit = bit;
    }

    /** Its bit in {@link ExtraApi#mask}, the one that {@code vma_extra_api_mask} of {@code vma_extra.h} gives it. */
    public long mask() {
        return 1L << bit;
    }
}
