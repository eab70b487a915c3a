// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/** What a connection may have, and how long to wait for the other end. */
final class Limits {
    /** Regions of each end; {@code -Dverbena.erm.regions}. */
    static final int REGIONS = Math.clamp(Integer.getInteger("verbena.erm.regions", 1024), 1, RegionId.MAX_INDEX + 1);
    /** Bytes that this end may register; {@code -Dverbena.erm.memory}. */
    static final long BYTES = Math.max(1, Long.getLong("verbena.erm.memory", 1L << 40));
    /** How long the other end may take to answer; {@code -Dverbena.erm.patience}, in milliseconds. */
    static final long REPLY_TIMEOUT_NANOS = 1_000_000L * Math.clamp(Long.getLong("verbena.erm.patience", 2000), 1,
            600_000);

    /** Copies that may be on their way or wait to be polled. */
    static final int COPIES = 128;
    /** Receives for what the other end's {@link Control} says. */
    static final int CONTROL_RECEIVES = 64;
    /** Requests that {@link Control} has on their way. */
    static final int CONTROL_SENDS = 64;

    private Limits() {}
}
