// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** How fast a queue pair may send, {@code struct ibv_qp_rate_limit_attr}. Immutable. */
public final class RateLimit {
    private final int kilobitsPerSecond;
    private final int maxBurst;
    private final int typicalPacket;

    private RateLimit(int kilobitsPerSecond, int maxBurst, int typicalPacket) {
        this.kilobitsPerSecond = kilobitsPerSecond;
        this.maxBurst = maxBurst;
        this.typicalPacket = typicalPacket;
    }

    /**
     * A limit.
     *
     * @param kilobitsPerSecond kbit/s, 0: no limit
     * @param maxBurst the longest burst in bytes, 0: the device's own
     * @param typicalPacket the size that most packets have in bytes, 0: the device's own
     */
    public static RateLimit of(int kilobitsPerSecond, int maxBurst, int typicalPacket) {
        return new RateLimit(kilobitsPerSecond, maxBurst, typicalPacket);
    }

    /** Bits in a second, in thousands; 0: no limit. */
    public int kilobitsPerSecond() {
        return kilobitsPerSecond;
    }

    /** The longest burst in bytes; 0: the device's own. */
    public int maxBurst() {
        return maxBurst;
    }

    /** The size that most packets have in bytes; 0: the device's own. */
    public int typicalPacket() {
        return typicalPacket;
    }

    @Override
    public String toString() {
        return "RateLimit[" + kilobitsPerSecond + " kbit/s, burst " + maxBurst + ", packets of " + typicalPacket + "]";
    }
}
