// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.time.Duration;

/** How to connect a queue pair, {@code struct rdma_conn_param}. Immutable. */
public final class ConnectionParameters {
    /** The longest private data in bytes that every provider carries. */
    public static final int MAX_PRIVATE_DATA = 56;

    /** Bit of {@link #privateData()} in the mask. */
    public static final int PRIVATE_DATA = 1;
    /** Bit of {@link #responderResources()} in the mask. */
    public static final int RESPONDER_RESOURCES = 1 << 1;
    /** Bit of {@link #initiatorDepth()} in the mask. */
    public static final int INITIATOR_DEPTH = 1 << 2;
    /** Bit of {@link #retryCount()} in the mask. */
    public static final int RETRY_COUNT = 1 << 3;
    /** Bit of {@link #rnrRetry()} in the mask. */
    public static final int RNR_RETRY = 1 << 4;
    /** Bit of {@link #accessFlags()} in the mask. */
    public static final int ACCESS_FLAGS = 1 << 5;
    /** Bit of {@link #timeout()} in the mask. */
    public static final int TIMEOUT = 1 << 6;

    /** What every provider knew from the beginning; never grows. */
    static final int BASIC = PRIVATE_DATA | RESPONDER_RESOURCES | INITIATOR_DEPTH | RETRY_COUNT | RNR_RETRY
            | ACCESS_FLAGS | TIMEOUT;

    private static final Flags NAMES = new Flags("PRIVATE_DATA", "RESPONDER_RESOURCES", "INITIATOR_DEPTH",
            "RETRY_COUNT", "RNR_RETRY", "ACCESS_FLAGS", "TIMEOUT");

    private static final int MAX_RESOURCES = 255;
    private static final int MAX_RETRIES = 7;
    private static final Duration A_YEAR = Duration.ofDays(365);

    private static final ConnectionParameters DEFAULTS = builder().build();

    private final int compMask;
    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;
    private final int retryCount;
    private final int rnrRetry;
    private final int accessFlags;
    private final Duration timeout;

    private ConnectionParameters(Builder b) {
        compMask = b.compMask;
        privateData = b.privateData.clone();
        responderResources = b.responderResources;
        initiatorDepth = b.initiatorDepth;
        retryCount = b.retryCount;
        rnrRetry = b.rnrRetry;
        accessFlags = b.accessFlags;
        timeout = b.timeout;
    }

    /** No private data, 16 reads either way, 7 retries, unlimited RNR retries, all access, 10 seconds. */
    public static ConnectionParameters defaults() {
        return DEFAULTS;
    }

    /** A builder with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Which parameters were set, see {@link CompMask}. */
    public int compMask() {
        return compMask;
    }

    /** The names of the mask's bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** Data for the peer's application, at most {@link #MAX_PRIVATE_DATA} bytes. */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** Reads and atomics that the peer may have outstanding here. */
    public int responderResources() {
        return responderResources;
    }

    /** Reads and atomics that may be outstanding from here. */
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /**
     * Retries of both ends, 0 to 7: the connecting end sets them, the value of the accepting one is not used.
     */
    public int retryCount() {
        return retryCount;
    }

    /**
     * Retries of the peer when no receive is posted here, 0 to 7; 7 means without limit. The peer sets those of this
     * end.
     */
    public int rnrRetry() {
        return rnrRetry;
    }

    /** What the peer may do, see {@link AccessFlags}; used if the queue pair is still in state RESET. */
    public int accessFlags() {
        return accessFlags;
    }

    /** How long to wait for the peer's answer. */
    public Duration timeout() {
        return timeout;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the parameters. Not safe for use by several threads. */
    public static final class Builder {
        private int compMask;
        private byte[] privateData = {};
        private int responderResources = 16;
        private int initiatorDepth = 16;
        private int retryCount = 7;
        private int rnrRetry = 7;
        private int accessFlags = AccessFlags.ALL;
        private Duration timeout = Duration.ofSeconds(10);

        private Builder() {}

        /**
         * Data for the peer's application.
         *
         * @throws IllegalArgumentException if they are longer than {@link #MAX_PRIVATE_DATA}
         */
        public Builder privateData(byte... data) {
            if (data.length > MAX_PRIVATE_DATA) {
                throw new IllegalArgumentException(
                        "private data of " + data.length + " bytes, at most " + MAX_PRIVATE_DATA + " are carried");
            }
            privateData = data.clone();
            return with(PRIVATE_DATA);
        }

        /**
         * Reads and atomics that the peer may have outstanding here, 0 to 255 and not more than the device takes.
         *
         * @throws IllegalArgumentException if it is not in that range
         */
        public Builder responderResources(int value) {
            responderResources = checked("responder resources", value, MAX_RESOURCES);
            return with(RESPONDER_RESOURCES);
        }

        /**
         * Reads and atomics that may be outstanding from here, 0 to 255 and not more than the device takes.
         *
         * @throws IllegalArgumentException if it is not in that range
         */
        public Builder initiatorDepth(int value) {
            initiatorDepth = checked("initiator depth", value, MAX_RESOURCES);
            return with(INITIATOR_DEPTH);
        }

        /**
         * Retries of both ends, 0 to 7; {@code retry_count} of {@code struct rdma_conn_param}. Of no meaning where a
         * connection is accepted.
         *
         * @throws IllegalArgumentException if it is not in that range
         */
        public Builder retryCount(int value) {
            retryCount = checked("retry count", value, MAX_RETRIES);
            return with(RETRY_COUNT);
        }

        /**
         * Retries of the peer when no receive is posted here, 0 to 7; 7 means without limit. {@code rnr_retry_count} of
         * {@code struct rdma_conn_param}: each end sets it for the other one.
         *
         * @throws IllegalArgumentException if it is not in that range
         */
        public Builder rnrRetry(int value) {
            rnrRetry = checked("RNR retry count", value, MAX_RETRIES);
            return with(RNR_RETRY);
        }

        /** What the peer may do, see {@link AccessFlags}. */
        public Builder accessFlags(int value) {
            accessFlags = value;
            return with(ACCESS_FLAGS);
        }

        /**
         * How long to wait for the peer's answer; more than a year counts as one.
         *
         * @throws IllegalArgumentException if it is negative
         */
        public Builder timeout(Duration value) {
            if (value.isNegative()) {
                throw new IllegalArgumentException("a time-out of " + value);
            }
            timeout = value.compareTo(A_YEAR) > 0 ? A_YEAR : value;
            return with(TIMEOUT);
        }

        private Builder with(int bit) {
            compMask |= bit;
            return this;
        }

        private static int checked(String what, int value, int most) {
            if (value < 0 || value > most) {
                throw new IllegalArgumentException(what + " " + value + ", must be 0 to " + most);
            }
            return value;
        }

        /** Makes the parameters. */
        public ConnectionParameters build() {
            return new ConnectionParameters(this);
        }
    }
}
