package org.verbena.verbs;

/** How to create a queue pair, {@code struct ibv_qp_init_attr_ex}. Immutable. */
public final class QueuePairInitAttributes {
    private static final Flags NAMES = new Flags();

    private final CompletionQueue sendCq;
    private final CompletionQueue receiveCq;
    private final int type;
    private final int maxSendWr;
    private final int maxReceiveWr;
    private final int maxSendSge;
    private final int maxReceiveSge;
    private final int maxInlineData;
    private final boolean sqSigAll;
    private final int compMask;

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
        compMask = b.compMask;
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

    /** Which of the fields of the extended part were set, see {@link CompMask}; the others have no bit. */
    public int compMask() {
        return compMask;
    }

    /** The names of the mask's bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** Where sends complete. */
    public CompletionQueue sendCq() {
        return sendCq;
    }

    /** Where receives complete. */
    public CompletionQueue receiveCq() {
        return receiveCq;
    }

    /** See {@link QueuePairType}. */
    public int type() {
        return type;
    }

    /** Send work requests that may be outstanding. */
    public int maxSendWr() {
        return maxSendWr;
    }

    /** Receive work requests that may be outstanding. */
    public int maxReceiveWr() {
        return maxReceiveWr;
    }

    /** Scatter/gather elements of a send. */
    public int maxSendSge() {
        return maxSendSge;
    }

    /** Scatter/gather elements of a receive. */
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

    /** A builder that starts with these attributes. */
    public Builder toBuilder() {
        Builder b = new Builder(sendCq, receiveCq).type(type).maxSendWr(maxSendWr).maxReceiveWr(maxReceiveWr)
                .maxSendSge(maxSendSge).maxReceiveSge(maxReceiveSge).maxInlineData(maxInlineData).sqSigAll(sqSigAll);
        b.compMask = compMask;
        return b;
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private final CompletionQueue sendCq;
        private final CompletionQueue receiveCq;
        private int type = QueuePairType.RC;
        private int maxSendWr = 1;
        private int maxReceiveWr = 1;
        private int maxSendSge = 1;
        private int maxReceiveSge = 1;
        private int maxInlineData;
        private boolean sqSigAll;
        private int compMask;

        private Builder(CompletionQueue sendCq, CompletionQueue receiveCq) {
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

        /** Makes the attributes. */
        public QueuePairInitAttributes build() {
            return new QueuePairInitAttributes(this);
        }
    }
}
