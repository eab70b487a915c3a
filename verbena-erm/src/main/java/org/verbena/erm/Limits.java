// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/** Limits of a connection, and the timeout of replies. */
final class Limits {
    /** Regions of each end; {@code -Dverbena.erm.regions}. */
    static final int REGIONS = Math.clamp(Integer.getInteger("verbena.erm.regions", 1024), 1, RegionId.MAX_INDEX + 1);
    /** Bytes that this end may register; {@code -Dverbena.erm.memory}. */
    static final long BYTES = Math.max(1, Long.getLong("verbena.erm.memory", 1L << 40));
    /** Timeout of replies of the other end; {@code -Dverbena.erm.patience}, in milliseconds. */
    static final long REPLY_TIMEOUT_NANOS = 1_000_000L * Math.clamp(Long.getLong("verbena.erm.patience", 2000), 1,
            600_000);

    /** Copies that may be outstanding or wait to be polled. */
    static final int COPIES = 128;
    /** Receives for messages of the other end's {@link Control}. */
    static final int CONTROL_RECEIVES = 64;
    /** Outstanding requests of {@link Control}. */
    static final int CONTROL_SENDS = 64;

    private Limits() {}
}
