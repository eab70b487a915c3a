// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Attributes of a queue pair, {@code struct ibv_qp_attr}, with a mask of those that are set. Immutable.
 *
 * <p>Which attributes a transition needs and allows is checked by {@link QueuePair#modify}.
 */
public final class QueuePairAttributes {
    /** Bit of {@link #state()} in the mask. */
    public static final int STATE = 0x1;
    /** Bit of {@link #currentState()} in the mask. */
    public static final int CUR_STATE = 0x2;
    /** Bit of {@link #sqdAsyncNotify()} in the mask. */
    public static final int EN_SQD_ASYNC_NOTIFY = 0x4;
    /** Bit of {@link #accessFlags()} in the mask. */
    public static final int ACCESS_FLAGS = 0x8;
    /** Bit of {@link #pkeyIndex()} in the mask. */
    public static final int PKEY_INDEX = 0x10;
    /** Bit of {@link #port()} in the mask. */
    public static final int PORT = 0x20;
    /** Bit of {@link #qkey()} in the mask. */
    public static final int QKEY = 0x40;
    /** Bit of {@link #addressVector()} in the mask. */
    public static final int AV = 0x80;
    /** Bit of {@link #pathMtu()} in the mask. */
    public static final int PATH_MTU = 0x100;
    /** Bit of {@link #timeout()} in the mask. */
    public static final int TIMEOUT = 0x200;
    /** Bit of {@link #retryCount()} in the mask. */
    public static final int RETRY_CNT = 0x400;
    /** Bit of {@link #rnrRetry()} in the mask. */
    public static final int RNR_RETRY = 0x800;
    /** Bit of {@link #rqPsn()} in the mask. */
    public static final int RQ_PSN = 0x1000;
    /** Bit of {@link #maxReadAtomic()} in the mask. */
    public static final int MAX_QP_RD_ATOMIC = 0x2000;
    /** Bit of {@link #minRnrTimer()} in the mask. */
    public static final int MIN_RNR_TIMER = 0x8000;
    /** Bit of {@link #sqPsn()} in the mask. */
    public static final int SQ_PSN = 0x10000;
    /** Bit of {@link #maxDestReadAtomic()} in the mask. */
    public static final int MAX_DEST_RD_ATOMIC = 0x20000;
    /** Bit of {@link #destinationQueuePair()} in the mask. */
    public static final int DEST_QPN = 0x100000;
    /** Bit of {@link #alternateAddressVector()} and what goes with it in the mask. */
    public static final int ALT_PATH = 0x4000;
    /** Bit of {@link #pathMigrationState()} in the mask. */
    public static final int PATH_MIG_STATE = 0x40000;
    /** Bit of {@link #capabilities()} in the mask; no type of queue pair lets its queues be resized. */
    public static final int CAP = 0x80000;
    /** Bit of {@link #rateLimit()} in the mask. */
    public static final int RATE_LIMIT = 0x2000000;

    /** What every provider knew from the beginning; never grows. */
    static final int BASIC = STATE | CUR_STATE | EN_SQD_ASYNC_NOTIFY | ACCESS_FLAGS | PKEY_INDEX | PORT | QKEY | AV
            | PATH_MTU | TIMEOUT | RETRY_CNT | RNR_RETRY | RQ_PSN | MAX_QP_RD_ATOMIC | MIN_RNR_TIMER | SQ_PSN
            | MAX_DEST_RD_ATOMIC | DEST_QPN;

    private final int mask;
    private final @Nullable QueuePairState state;
    private final @Nullable QueuePairState currentState;
    private final boolean sqdAsyncNotify;
    private final boolean sqDraining;
    private final int accessFlags;
    private final int pkeyIndex;
    private final int port;
    private final int qkey;
    private final @Nullable AddressVector addressVector;
    private final int pathMtu;
    private final int timeout;
    private final int retryCount;
    private final int rnrRetry;
    private final int rqPsn;
    private final int maxReadAtomic;
    private final int minRnrTimer;
    private final int sqPsn;
    private final int maxDestReadAtomic;
    private final int destinationQueuePair;
    private final @Nullable AddressVector alternateAddressVector;
    private final int alternatePkeyIndex;
    private final int alternateTimeout;
    private final int pathMigrationState;
    private final @Nullable QueuePairCapabilities capabilities;
    private final int rateLimit;

    private QueuePairAttributes(Builder b) {
        mask = b.mask;
        state = b.state;
        currentState = b.currentState;
        sqdAsyncNotify = b.sqdAsyncNotify;
        sqDraining = b.sqDraining;
        accessFlags = b.accessFlags;
        pkeyIndex = b.pkeyIndex;
        port = b.port;
        qkey = b.qkey;
        addressVector = b.addressVector;
        pathMtu = b.pathMtu;
        timeout = b.timeout;
        retryCount = b.retryCount;
        rnrRetry = b.rnrRetry;
        rqPsn = b.rqPsn;
        maxReadAtomic = b.maxReadAtomic;
        minRnrTimer = b.minRnrTimer;
        sqPsn = b.sqPsn;
        maxDestReadAtomic = b.maxDestReadAtomic;
        destinationQueuePair = b.destinationQueuePair;
        alternateAddressVector = b.alternateAddressVector;
        alternatePkeyIndex = b.alternatePkeyIndex;
        alternateTimeout = b.alternateTimeout;
        pathMigrationState = b.pathMigrationState;
        capabilities = b.capabilities;
        rateLimit = b.rateLimit;
    }

    /** A builder with nothing set. */
    public static Builder builder() {
        return new Builder();
    }

    /** A builder for a move to {@code state}. */
    public static Builder to(QueuePairState state) {
        return new Builder().state(state);
    }

    /** A builder that starts with these attributes. */
    public Builder toBuilder() {
        Builder b = new Builder();
        b.mask = mask;
        b.state = state;
        b.currentState = currentState;
        b.sqdAsyncNotify = sqdAsyncNotify;
        b.sqDraining = sqDraining;
        b.accessFlags = accessFlags;
        b.pkeyIndex = pkeyIndex;
        b.port = port;
        b.qkey = qkey;
        b.addressVector = addressVector;
        b.pathMtu = pathMtu;
        b.timeout = timeout;
        b.retryCount = retryCount;
        b.rnrRetry = rnrRetry;
        b.rqPsn = rqPsn;
        b.maxReadAtomic = maxReadAtomic;
        b.minRnrTimer = minRnrTimer;
        b.sqPsn = sqPsn;
        b.maxDestReadAtomic = maxDestReadAtomic;
        b.destinationQueuePair = destinationQueuePair;
        b.alternateAddressVector = alternateAddressVector;
        b.alternatePkeyIndex = alternatePkeyIndex;
        b.alternateTimeout = alternateTimeout;
        b.pathMigrationState = pathMigrationState;
        b.capabilities = capabilities;
        b.rateLimit = rateLimit;
        return b;
    }

    /** These attributes, replaced by those that are set in {@code newer}: what a queue pair has after a modify. */
    public QueuePairAttributes with(QueuePairAttributes newer) {
        Builder b = toBuilder();
        if (newer.has(STATE)) {
            b.state = newer.state;
        }
        if (newer.has(CUR_STATE)) {
            b.currentState = newer.currentState;
        }
        if (newer.has(EN_SQD_ASYNC_NOTIFY)) {
            b.sqdAsyncNotify = newer.sqdAsyncNotify;
        }
        if (newer.has(ACCESS_FLAGS)) {
            b.accessFlags = newer.accessFlags;
        }
        if (newer.has(PKEY_INDEX)) {
            b.pkeyIndex = newer.pkeyIndex;
        }
        if (newer.has(PORT)) {
            b.port = newer.port;
        }
        if (newer.has(QKEY)) {
            b.qkey = newer.qkey;
        }
        if (newer.has(AV)) {
            b.addressVector = newer.addressVector;
        }
        if (newer.has(PATH_MTU)) {
            b.pathMtu = newer.pathMtu;
        }
        if (newer.has(TIMEOUT)) {
            b.timeout = newer.timeout;
        }
        if (newer.has(RETRY_CNT)) {
            b.retryCount = newer.retryCount;
        }
        if (newer.has(RNR_RETRY)) {
            b.rnrRetry = newer.rnrRetry;
        }
        if (newer.has(RQ_PSN)) {
            b.rqPsn = newer.rqPsn;
        }
        if (newer.has(MAX_QP_RD_ATOMIC)) {
            b.maxReadAtomic = newer.maxReadAtomic;
        }
        if (newer.has(MIN_RNR_TIMER)) {
            b.minRnrTimer = newer.minRnrTimer;
        }
        if (newer.has(SQ_PSN)) {
            b.sqPsn = newer.sqPsn;
        }
        if (newer.has(MAX_DEST_RD_ATOMIC)) {
            b.maxDestReadAtomic = newer.maxDestReadAtomic;
        }
        if (newer.has(DEST_QPN)) {
            b.destinationQueuePair = newer.destinationQueuePair;
        }
        if (newer.has(ALT_PATH)) {
            b.alternateAddressVector = newer.alternateAddressVector;
            b.alternatePkeyIndex = newer.alternatePkeyIndex;
            b.alternateTimeout = newer.alternateTimeout;
        }
        if (newer.has(PATH_MIG_STATE)) {
            b.pathMigrationState = newer.pathMigrationState;
        }
        if (newer.has(CAP)) {
            b.capabilities = newer.capabilities;
        }
        if (newer.has(RATE_LIMIT)) {
            b.rateLimit = newer.rateLimit;
        }
        b.mask |= newer.mask;
        return b.build();
    }

    /** Which attributes are set: the bits of {@code enum ibv_qp_attr_mask}; see {@link CompMask}. */
    public int mask() {
        return mask;
    }

    /** True if all attributes of {@code bits} are set. */
    public boolean has(int bits) {
        return (mask & bits) == bits;
    }

    /** The state to move to; null if not set. */
    public @Nullable QueuePairState state() {
        return state;
    }

    /** The state that the caller believes the queue pair to be in; null if not set. */
    public @Nullable QueuePairState currentState() {
        return currentState;
    }

    /** Whether an event is raised when the send queue is drained. */
    public boolean sqdAsyncNotify() {
        return sqdAsyncNotify;
    }

    /**
     * Of {@link QueuePair#query()}, whether requests that were started before {@link QueuePairState#SQD} are not done
     * yet; {@code sq_draining}. No modify looks at it.
     */
    public boolean sqDraining() {
        return sqDraining;
    }

    /** What the peer may do, see {@link AccessFlags}. */
    public int accessFlags() {
        return accessFlags;
    }

    /** Index of the partition key. */
    public int pkeyIndex() {
        return pkeyIndex;
    }

    /** The port, counts from 1. */
    public int port() {
        return port;
    }

    /** The queue key of a datagram queue pair. */
    public int qkey() {
        return qkey;
    }

    /** The path to the peer; null if not set. */
    public @Nullable AddressVector addressVector() {
        return addressVector;
    }

    /** The path MTU in bytes: 256, 512, 1024, 2048 or 4096. */
    public int pathMtu() {
        return pathMtu;
    }

    /** Acknowledgement time-out, 4.096 µs · 2^timeout; 0 waits without limit; at most 31. */
    public int timeout() {
        return timeout;
    }

    /** How often a request that got no answer is repeated, 0 to 7. */
    public int retryCount() {
        return retryCount;
    }

    /** Retries of a request that found no receive posted (RNR), 0 to 7; 7 means without limit. */
    public int rnrRetry() {
        return rnrRetry;
    }

    /** First packet sequence number of the peer, 24 bits. */
    public int rqPsn() {
        return rqPsn;
    }

    /** Reads and atomics that may be outstanding from here. */
    public int maxReadAtomic() {
        return maxReadAtomic;
    }

    /** How long the peer waits before it repeats a request that found no receive posted: the timer's code, 0 to 31. */
    public int minRnrTimer() {
        return minRnrTimer;
    }

    /** First own packet sequence number, 24 bits. */
    public int sqPsn() {
        return sqPsn;
    }

    /** Reads and atomics that may be outstanding from the peer. */
    public int maxDestReadAtomic() {
        return maxDestReadAtomic;
    }

    /** The peer's queue pair number. */
    public int destinationQueuePair() {
        return destinationQueuePair;
    }

    /** The path to take when the first one fails, from the port that it names; null if not set. */
    public @Nullable AddressVector alternateAddressVector() {
        return alternateAddressVector;
    }

    /** Index of the alternate path's partition key. */
    public int alternatePkeyIndex() {
        return alternatePkeyIndex;
    }

    /** The alternate path's acknowledgement time-out, a code as {@link #timeout()}. */
    public int alternateTimeout() {
        return alternateTimeout;
    }

    /** See {@link PathMigrationState}. */
    public int pathMigrationState() {
        return pathMigrationState;
    }

    /** The sizes of the queues; null if not set. */
    public @Nullable QueuePairCapabilities capabilities() {
        return capabilities;
    }

    /** The highest rate of a queue pair of raw packets in kbit/s; 0 is no limit. */
    public int rateLimit() {
        return rateLimit;
    }

    /** The names of the mask's bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    private static final Flags NAMES = new Flags("STATE", "CUR_STATE", "EN_SQD_ASYNC_NOTIFY", "ACCESS_FLAGS",
            "PKEY_INDEX",
            "PORT", "QKEY", "AV", "PATH_MTU", "TIMEOUT", "RETRY_CNT", "RNR_RETRY", "RQ_PSN", "MAX_QP_RD_ATOMIC",
            "ALT_PATH",
            "MIN_RNR_TIMER", "SQ_PSN", "MAX_DEST_RD_ATOMIC", "PATH_MIG_STATE", "CAP", "DEST_QPN").and(RATE_LIMIT,
                    "RATE_LIMIT");

    @Override
    public String toString() {
        return "QueuePairAttributes[" + names(mask) + "]";
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int mask;
        private @Nullable QueuePairState state;
        private @Nullable QueuePairState currentState;
        private boolean sqdAsyncNotify;
        private boolean sqDraining;
        private int accessFlags;
        private int pkeyIndex;
        private int port = 1;
        private int qkey;
        private @Nullable AddressVector addressVector;
        private int pathMtu;
        private int timeout;
        private int retryCount;
        private int rnrRetry;
        private int rqPsn;
        private int maxReadAtomic;
        private int minRnrTimer;
        private int sqPsn;
        private int maxDestReadAtomic;
        private int destinationQueuePair;
        private @Nullable AddressVector alternateAddressVector;
        private int alternatePkeyIndex;
        private int alternateTimeout;
        private int pathMigrationState;
        private @Nullable QueuePairCapabilities capabilities;
        private int rateLimit;

        private Builder() {}

        /** The state to move to. */
        public Builder state(QueuePairState value) {
            state = value;
            mask |= STATE;
            return this;
        }

        /** The state that the caller believes the queue pair to be in. */
        public Builder currentState(QueuePairState value) {
            currentState = value;
            mask |= CUR_STATE;
            return this;
        }

        /** Whether an event is raised when the send queue is drained. */
        public Builder sqdAsyncNotify(boolean value) {
            sqdAsyncNotify = value;
            mask |= EN_SQD_ASYNC_NOTIFY;
            return this;
        }

        /** For providers: whether requests that were started before {@link QueuePairState#SQD} are not done yet. */
        public Builder sqDraining(boolean value) {
            sqDraining = value;
            return this;
        }

        /** What the peer may do, see {@link AccessFlags}. */
        public Builder accessFlags(int value) {
            accessFlags = value;
            mask |= ACCESS_FLAGS;
            return this;
        }

        /** Index of the partition key. */
        public Builder pkeyIndex(int value) {
            pkeyIndex = value;
            mask |= PKEY_INDEX;
            return this;
        }

        /** The port, counts from 1. */
        public Builder port(int value) {
            port = value;
            mask |= PORT;
            return this;
        }

        /** The queue key of a datagram queue pair. */
        public Builder qkey(int value) {
            qkey = value;
            mask |= QKEY;
            return this;
        }

        /** The path to the peer. */
        public Builder addressVector(AddressVector value) {
            addressVector = value;
            mask |= AV;
            return this;
        }

        /** The path MTU in bytes: 256, 512, 1024, 2048 or 4096. */
        public Builder pathMtu(int value) {
            pathMtu = value;
            mask |= PATH_MTU;
            return this;
        }

        /** Acknowledgement time-out, 4.096 µs · 2^timeout; 0 waits without limit; at most 31. */
        public Builder timeout(int value) {
            timeout = value;
            mask |= TIMEOUT;
            return this;
        }

        /** How often a request that got no answer is repeated, 0 to 7. */
        public Builder retryCount(int value) {
            retryCount = value;
            mask |= RETRY_CNT;
            return this;
        }

        /** Retries of a request that found no receive posted (RNR), 0 to 7; 7 means without limit. */
        public Builder rnrRetry(int value) {
            rnrRetry = value;
            mask |= RNR_RETRY;
            return this;
        }

        /** First packet sequence number of the peer, 24 bits. */
        public Builder rqPsn(int value) {
            rqPsn = value;
            mask |= RQ_PSN;
            return this;
        }

        /** Reads and atomics that may be outstanding from here. */
        public Builder maxReadAtomic(int value) {
            maxReadAtomic = value;
            mask |= MAX_QP_RD_ATOMIC;
            return this;
        }

        /**
         * How long the peer waits before it repeats a request that found no receive posted: the timer's code, 0 to 31.
         */
        public Builder minRnrTimer(int value) {
            minRnrTimer = value;
            mask |= MIN_RNR_TIMER;
            return this;
        }

        /** First own packet sequence number, 24 bits. */
        public Builder sqPsn(int value) {
            sqPsn = value;
            mask |= SQ_PSN;
            return this;
        }

        /** Reads and atomics that may be outstanding from the peer. */
        public Builder maxDestReadAtomic(int value) {
            maxDestReadAtomic = value;
            mask |= MAX_DEST_RD_ATOMIC;
            return this;
        }

        /** The peer's queue pair number. */
        public Builder destinationQueuePair(int value) {
            destinationQueuePair = value;
            mask |= DEST_QPN;
            return this;
        }

        /**
         * The path to take when the first one fails.
         *
         * @param path from the port that it names
         * @param altPkeyIndex index of its partition key
         * @param altTimeout its acknowledgement time-out, a code as {@link #timeout(int)}
         */
        public Builder alternatePath(AddressVector path, int altPkeyIndex, int altTimeout) {
            alternateAddressVector = path;
            alternatePkeyIndex = altPkeyIndex;
            alternateTimeout = altTimeout;
            mask |= ALT_PATH;
            return this;
        }

        /** See {@link PathMigrationState}. */
        public Builder pathMigrationState(int value) {
            pathMigrationState = value;
            mask |= PATH_MIG_STATE;
            return this;
        }

        /** The sizes of the queues. */
        public Builder capabilities(QueuePairCapabilities value) {
            capabilities = value;
            mask |= CAP;
            return this;
        }

        /** The highest rate of a queue pair of raw packets in kbit/s; 0 is no limit. */
        public Builder rateLimit(int kilobits) {
            rateLimit = kilobits;
            mask |= RATE_LIMIT;
            return this;
        }

        /** Makes the attributes. */
        public QueuePairAttributes build() {
            return new QueuePairAttributes(this);
        }
    }
}
