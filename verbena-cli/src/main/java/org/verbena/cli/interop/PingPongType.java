// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.util.Locale;

import org.verbena.verbs.QueuePairType;

/** Which of the programs {@code ibv_*_pingpong} is the peer. */
enum PingPongType {
    /** {@code ibv_rc_pingpong}. */
    RC(QueuePairType.RC, 1, 4096),
    /** {@code ibv_uc_pingpong}. */
    UC(QueuePairType.UC, 1, 4096),
    /** {@code ibv_ud_pingpong}. */
    UD(QueuePairType.UD, 1, 1024),
    /** {@code ibv_srq_pingpong}: several queue pairs of type RC, and one shared receive queue. */
    SRQ(QueuePairType.RC, 256, 4096);

    /** Of {@link QueuePairType}. */
    final int queuePairType;

    /** How many addresses each end sends; those of missing queue pairs are zeros. */
    final int addresses;

    /** The default length of a message in bytes. */
    final long defaultSize;

    PingPongType(int queuePairType, int addresses, long defaultSize) {
        this.queuePairType = queuePairType;
        this.addresses = addresses;
        this.defaultSize = defaultSize;
    }

    /** The program in C. */
    String program() {
        return "ibv_" + this + "_pingpong";
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
