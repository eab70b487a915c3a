package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** How to create a completion queue, {@code struct ibv_cq_init_attr_ex}. Immutable. */
public final class CompletionQueueAttributes {
    /** A completion field, {@link CompletionQueue#byteLength()}. */
    public static final int WITH_BYTE_LEN = 1;
    /** A completion field, {@link CompletionQueue#immediate()}. */
    public static final int WITH_IMM = 1 << 1;
    /** A completion field, {@link CompletionQueue#queuePairNumber()}. */
    public static final int WITH_QP_NUM = 1 << 2;
    /** A completion field, {@link CompletionQueue#sourceQueuePair()}. */
    public static final int WITH_SRC_QP = 1 << 3;
    /** A completion field, {@link CompletionQueue#timestamp()}. */
    public static final int WITH_COMPLETION_TIMESTAMP = 1 << 7;

    /** The fields of a plain completion queue. */
    public static final int STANDARD_FIELDS = WITH_BYTE_LEN | WITH_IMM | WITH_QP_NUM | WITH_SRC_QP;

    /** What every provider knew from the beginning; never grows. */
    static final int BASIC_FIELDS = STANDARD_FIELDS | WITH_COMPLETION_TIMESTAMP;

    private static final Flags NAMES = new Flags();

    private final int cqe;
    private final @Nullable CompletionChannel channel;
    private final int fields;
    private final int compMask;

    private CompletionQueueAttributes(Builder b) {
        cqe = b.cqe;
        channel = b.channel;
        fields = b.fields;
        compMask = b.compMask;
    }

    /** A builder for a queue of one entry with the standard fields. */
    public static Builder builder() {
        return new Builder();
    }

    /** Which of the fields of the extended part were set, see {@link CompMask}; the others have no bit. */
    public int compMask() {
        return compMask;
    }

    /** The names of the mask's bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** The least number of entries. */
    public int cqe() {
        return cqe;
    }

    /** Where to signal events; null if nowhere. */
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    /** Which fields completions are to carry, {@code WITH_…}. */
    public int fields() {
        return fields;
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int cqe = 1;
        private @Nullable CompletionChannel channel;
        private int fields = STANDARD_FIELDS;
        private int compMask;

        private Builder() {}

        /** The least number of entries. */
        public Builder cqe(int entries) {
            cqe = entries;
            return this;
        }

        /** Where to signal events. */
        public Builder channel(CompletionChannel events) {
            channel = events;
            return this;
        }

        /** Which fields completions are to carry, {@code WITH_…}; the standard ones if not called. */
        public Builder fields(int wcFields) {
            fields = wcFields;
            return this;
        }

        /** Makes the attributes. */
        public CompletionQueueAttributes build() {
            return new CompletionQueueAttributes(this);
        }
    }
}
