// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** How the hash of a received packet is computed, {@code struct ibv_rx_hash_conf}. Immutable. */
public final class RxHashConfiguration {
    /** The hash function Toeplitz, {@code IBV_RX_HASH_FUNC_TOEPLITZ}. */
    public static final int TOEPLITZ = 1;
    /** Bytes of the key of {@link #TOEPLITZ}. */
    public static final int TOEPLITZ_KEY_BYTES = 40;

    private final int function;
    private final byte[] key;
    private final int fields;

    private RxHashConfiguration(int function, byte[] key, int fields) {
        this.function = function;
        this.key = key.clone();
        this.fields = fields;
    }

    /**
     * A hash function with its key.
     *
     * @param function {@link #TOEPLITZ}
     * @param key {@value #TOEPLITZ_KEY_BYTES} bytes
     * @param fields see {@link RxHashFields}; none sends every packet to the same queue
     */
    public static RxHashConfiguration of(int function, byte[] key, int fields) {
        return new RxHashConfiguration(function, key, fields);
    }

    /** The hash function, {@link #TOEPLITZ}. */
    public int function() {
        return function;
    }

    /** The key. */
    public byte[] key() {
        return key.clone();
    }

    /** See {@link RxHashFields}. */
    public int fields() {
        return fields;
    }

    /** The first contradiction, for every provider; null if there is none. */
    @Nullable
    String objection() {
        if (function != TOEPLITZ) {
            return "unknown hash function " + function;
        }
        if (key.length != TOEPLITZ_KEY_BYTES) {
            return "the key has " + key.length + " bytes, Toeplitz needs " + TOEPLITZ_KEY_BYTES;
        }
        if ((fields & ~RxHashFields.KNOWN) != 0) {
            return "unknown fields " + RxHashFields.toString(fields & ~RxHashFields.KNOWN);
        }
        if ((fields & RxHashFields.IPV4) != 0 && (fields & RxHashFields.IPV6) != 0) {
            return "a packet is IPv4 or IPv6, not both: " + RxHashFields.toString(fields);
        }
        if ((fields & RxHashFields.TCP) != 0 && (fields & RxHashFields.UDP) != 0) {
            return "a packet is TCP or UDP, not both: " + RxHashFields.toString(fields);
        }
        if ((fields & RxHashFields.IPSEC_SPI) != 0 && (fields & (RxHashFields.TCP | RxHashFields.UDP)) != 0) {
            return "the ports of an IPsec packet are encrypted: " + RxHashFields.toString(fields);
        }
        return null;
    }

    @Override
    public String toString() {
        return "RxHashConfiguration[function " + function + ", " + RxHashFields.toString(fields) + "]";
    }
}
