// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** How to create a queue pair, {@code struct ibv_qp_init_attr_ex}. Immutable. */
public final class QueuePairInitAttributes {
    /** Bit of {@link #createFlags()} in the mask. */
    public static final int CREATE_FLAGS = 1 << 2;
    /** Bit of {@link #maxTsoHeader()} in the mask. */
    public static final int MAX_TSO_HEADER = 1 << 3;
    /** Bit of {@link #rwqIndirectionTable()} in the mask. */
    public static final int IND_TABLE = 1 << 4;
    /** Bit of {@link #rxHash()} in the mask. */
    public static final int RX_HASH = 1 << 5;
    /** Bit of {@link #sendOperations()} in the mask. */
    public static final int SEND_OPS_FLAGS = 1 << 6;

    /** Bit of {@link #sharedReceiveQueue()} in the mask. */
    public static final int SHARED_RECEIVE_QUEUE = 1 << 16;

    /** Bit of {@link #compMask()}: {@link Builder#counters} was set. */
    public static final int COUNTERS = 1 << 17;

    private static final Flags NAMES = new Flags().and(CREATE_FLAGS, "CREATE_FLAGS")
            .and(MAX_TSO_HEADER, "MAX_TSO_HEADER").and(IND_TABLE, "IND_TABLE").and(RX_HASH, "RX_HASH").and(
                    SEND_OPS_FLAGS, "SEND_OPS_FLAGS")
            .and(SHARED_RECEIVE_QUEUE, "SHARED_RECEIVE_QUEUE").and(COUNTERS, "COUNTERS");

    private final @Nullable CompletionQueue sendCq;
    private final @Nullable CompletionQueue receiveCq;
    private final int type;
    private final int maxSendWr;
    private final int maxReceiveWr;
    private final int maxSendSge;
    private final int maxReceiveSge;
    private final int maxInlineData;
    private final boolean sqSigAll;
    private final @Nullable Object userContext;
    private final int createFlags;
    private final int maxTsoHeader;
    private final int sendOperations;
    private final @Nullable RwqIndirectionTable rwqIndirectionTable;
    private final @Nullable RxHashConfiguration rxHash;
    private final @Nullable SharedReceiveQueue sharedReceiveQueue;
    private final int compMask;
    private final @Nullable Counters counters;

    private QueuePairInitAttributes(Builder b) {
        sendCq = b.sendCq;
        receiveCq = b.receiveCq;
        type = b.type;
        maxSendWr = b.maxSendWr;
        maxReceiveWr = b.maxReceiveWr;
        maxSendSge = b.maxSendSge;
        maxReceiveSge = b.maxReceiveSge;
        maxInlineData = b.maxInlineData;
        sqSigAll = b.sqSigAll;
        userContext = b.userContext;
        createFlags = b.createFlags;
        maxTsoHeader = b.maxTsoHeader;
        sendOperations = b.sendOperations;
        rwqIndirectionTable = b.rwqIndirectionTable;
        rxHash = b.rxHash;
        sharedReceiveQueue = b.sharedReceiveQueue;
        compMask = b.compMask;
        counters = b.counters;
    }

    /**
     * A builder for a queue pair of type RC with room for one work request of one element on each side.
     *
     * @param sendCq where sends complete
     * @param receiveCq where receives complete; may be the same queue
     */
    public static Builder builder(CompletionQueue sendCq, CompletionQueue receiveCq) {
        return new Builder(sendCq, receiveCq);
    }

    /**
     * A builder for a queue pair of type {@link QueuePairType#XRC_RECV}, which nothing is posted to: it has no completion
     * queues, and sizes are of no meaning. See {@link XrcDomain#createQueuePair}.
     */
    public static Builder builderXrcReceive() {
        return new Builder(null, null).type(QueuePairType.XRC_RECV).maxSendWr(0).maxReceiveWr(0).maxSendSge(0)
                .maxReceiveSge(0);
    }

    /** Which of the fields of the extended part were set, see {@link CompMask}; the others have no bit. */
    public int compMask() {
        return compMask;
    }

    /** The names of the mask's bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /**
     * Where sends complete.
     *
     * @throws IllegalStateException if there is no such queue: see {@link #builderXrcReceive()}
     */
    public CompletionQueue sendCq() {
        return present(sendCq);
    }

    /**
     * Where receives complete. Not used by queue pairs of type {@link QueuePairType#XRC_SEND}.
     *
     * @throws IllegalStateException if there is no such queue: see {@link #builderXrcReceive()}
     */
    public CompletionQueue receiveCq() {
        return present(receiveCq);
    }

    private static CompletionQueue present(@Nullable CompletionQueue cq) {
        if (cq == null) {
            throw new IllegalStateException("a queue pair of type XRC_RECV has no completion queues");
        }
        return cq;
    }

    /** Whether the builder was given completion queues. */
    boolean hasCompletionQueues() {
        return sendCq != null;
    }

    /** See {@link QueuePairType}. */
    public int type() {
        return type;
    }

    /** Send work requests that may be outstanding. */
    public int maxSendWr() {
        return maxSendWr;
    }

    /** Receive work requests that may be outstanding; of no meaning with a shared receive queue, where it becomes 0. */
    public int maxReceiveWr() {
        return maxReceiveWr;
    }

    /** Scatter/gather elements of a send. */
    public int maxSendSge() {
        return maxSendSge;
    }

    /** Scatter/gather elements of a receive; of no meaning with a shared receive queue, where it becomes 0. */
    public int maxReceiveSge() {
        return maxReceiveSge;
    }

    /** The longest inline message in bytes. */
    public int maxInlineData() {
        return maxInlineData;
    }

    /** Whether every send makes a completion, signalled or not. */
    public boolean sqSigAll() {
        return sqSigAll;
    }

    /** Whatever the application wants to find again in {@link QueuePair#userContext()}; null if not set. */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** See {@link QueuePairCreateFlags}; 0 if not set. */
    public int createFlags() {
        return createFlags;
    }

    /** The longest header of a segmented send in bytes; 0 if not set. */
    public int maxTsoHeader() {
        return maxTsoHeader;
    }

    /** The work queues over which received packets are spread; null if not set. */
    public @Nullable RwqIndirectionTable rwqIndirectionTable() {
        return rwqIndirectionTable;
    }

    /** How the hash is computed that chooses a work queue; null if not set. */
    public @Nullable RxHashConfiguration rxHash() {
        return rxHash;
    }

    /** The operations that may be posted, see {@link SendOperations}; 0 if not set, which means all that the type has. */
    public int sendOperations() {
        return sendOperations;
    }

    /** True if a field with that bit in the mask was set. */
    public boolean has(int bit) {
        return (compMask & bit) != 0;
    }

    /** Where receives come from; null for a queue of the queue pair's own. */
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /** A builder that starts with these attributes. */
    public Builder toBuilder() {
        Builder b = new Builder(sendCq, receiveCq).type(type).maxSendWr(maxSendWr).maxReceiveWr(maxReceiveWr)
                .maxSendSge(maxSendSge).maxReceiveSge(maxReceiveSge).maxInlineData(maxInlineData).sqSigAll(sqSigAll);
        b.userContext = userContext;
        b.createFlags = createFlags;
        b.maxTsoHeader = maxTsoHeader;
        b.sendOperations = sendOperations;
        b.rwqIndirectionTable = rwqIndirectionTable;
        b.rxHash = rxHash;
        b.sharedReceiveQueue = sharedReceiveQueue;
        b.counters = counters;
        b.compMask = compMask;
        return b;
    }

    /** What counts the queue pair from its first moment on; null if nothing does. */
    public @Nullable Counters counters() {
        return counters;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private final @Nullable CompletionQueue sendCq;
        private final @Nullable CompletionQueue receiveCq;
        private int type = QueuePairType.RC;
        private int maxSendWr = 1;
        private int maxReceiveWr = 1;
        private int maxSendSge = 1;
        private int maxReceiveSge = 1;
        private int maxInlineData;
        private boolean sqSigAll;
        private @Nullable Object userContext;
        private int createFlags;
        private int maxTsoHeader;
        private int sendOperations;
        private @Nullable RwqIndirectionTable rwqIndirectionTable;
        private @Nullable RxHashConfiguration rxHash;
        private @Nullable SharedReceiveQueue sharedReceiveQueue;
        private int compMask;
        private @Nullable Counters counters;

        private Builder(@Nullable CompletionQueue sendCq, @Nullable CompletionQueue receiveCq) {
            this.sendCq = sendCq;
            this.receiveCq = receiveCq;
        }

        /** See {@link QueuePairType}. */
        public Builder type(int value) {
            type = value;
            return this;
        }

        /** Send work requests that may be outstanding. */
        public Builder maxSendWr(int value) {
            maxSendWr = value;
            return this;
        }

        /** Receive work requests that may be outstanding. */
        public Builder maxReceiveWr(int value) {
            maxReceiveWr = value;
            return this;
        }

        /** Scatter/gather elements of a send. */
        public Builder maxSendSge(int value) {
            maxSendSge = value;
            return this;
        }

        /** Scatter/gather elements of a receive. */
        public Builder maxReceiveSge(int value) {
            maxReceiveSge = value;
            return this;
        }

        /** The longest inline message in bytes. */
        public Builder maxInlineData(int value) {
            maxInlineData = value;
            return this;
        }

        /** Whether every send makes a completion, signalled or not. */
        public Builder sqSigAll(boolean value) {
            sqSigAll = value;
            return this;
        }

        /** Whatever the application wants to find again in {@link QueuePair#userContext()}. */
        public Builder userContext(Object value) {
            userContext = value;
            return this;
        }

        /** See {@link QueuePairCreateFlags}. */
        public Builder createFlags(int flags) {
            createFlags = flags;
            compMask |= CREATE_FLAGS;
            return this;
        }

        /** The longest header of a segmented send in bytes. */
        public Builder maxTsoHeader(int bytes) {
            maxTsoHeader = bytes;
            compMask |= MAX_TSO_HEADER;
            return this;
        }

        /** Spreads received packets over work queues by their hash; for queue pairs of type RAW_PACKET. */
        public Builder receiveSideScaling(RwqIndirectionTable table, RxHashConfiguration hash) {
            rwqIndirectionTable = table;
            rxHash = hash;
            compMask |= IND_TABLE | RX_HASH;
            return this;
        }

        /** The operations that may be posted, see {@link SendOperations}; others are then refused with {@code EINVAL}. */
        public Builder sendOperations(int flags) {
            sendOperations = flags;
            compMask |= SEND_OPS_FLAGS;
            return this;
        }

        /**
         * Takes receives from a shared queue, of the same context. The queue pair's own receive queue refuses to post, and
         * sizes for it are of no meaning.
         */
        public Builder sharedReceiveQueue(SharedReceiveQueue srq) {
            sharedReceiveQueue = srq;
            compMask |= SHARED_RECEIVE_QUEUE;
            return this;
        }

        /**
         * Counts the queue pair from its first moment on, as {@link Counters#attach(CounterAttachAttributes)} has described.
         */
        public Builder counters(Counters value) {
            counters = value;
            compMask |= COUNTERS;
            return this;
        }

        /** Makes the attributes. */
        public QueuePairInitAttributes build() {
            return new QueuePairInitAttributes(this);
        }
    }
}
