package org.verbena.verbs;

import java.time.Duration;

/** How to connect a queue pair, {@code struct rdma_conn_param}. Immutable. */
public final class ConnectionParameters {
    /** The longest private data in bytes that every provider carries. */
    public static final int MAX_PRIVATE_DATA = 56;

    private static final ConnectionParameters DEFAULTS = builder().build();

    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;
    private final int retryCount;
    private final int rnrRetry;
    private final int accessFlags;
    private final Duration timeout;

    private ConnectionParameters(Builder b) {
        privateData = b.privateData.clone();
        responderResources = b.responderResources;
        initiatorDepth = b.initiatorDepth;
        retryCount = b.retryCount;
        rnrRetry = b.rnrRetry;
        accessFlags = b.accessFlags;
        timeout = b.timeout;
    }

    /** No private data, 16 reads either way, 7 retries, RNR retries for ever, all access, 10 seconds. */
    public static ConnectionParameters defaults() {
        return DEFAULTS;
    }

    /** A builder with the defaults. */
    public static Builder builder() {
        return new Builder();
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

    /** Retries, 0 to 7. */
    public int retryCount() {
        return retryCount;
    }

    /** Retries when the peer has no receive posted, 0 to 7; 7 means for ever. */
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

    /** Collects the parameters. Not safe for use by several threads. */
    public static final class Builder {
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
            return this;
        }

        /** Reads and atomics that the peer may have outstanding here. */
        public Builder responderResources(int value) {
            responderResources = value;
            return this;
        }

        /** Reads and atomics that may be outstanding from here. */
        public Builder initiatorDepth(int value) {
            initiatorDepth = value;
            return this;
        }

        /** Retries, 0 to 7. */
        public Builder retryCount(int value) {
            retryCount = value;
            return this;
        }

        /** Retries when the peer has no receive posted, 0 to 7; 7 means for ever. */
        public Builder rnrRetry(int value) {
            rnrRetry = value;
            return this;
        }

        /** What the peer may do, see {@link AccessFlags}. */
        public Builder accessFlags(int value) {
            accessFlags = value;
            return this;
        }

        /** How long to wait for the peer's answer. */
        public Builder timeout(Duration value) {
            timeout = value;
            return this;
        }

        /** Makes the parameters. */
        public ConnectionParameters build() {
            return new ConnectionParameters(this);
        }
    }
}
