// SPDX-License-Identifier: Apache-2.0
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
    /** A completion field, {@link CompletionQueue#slid()}. */
    public static final int WITH_SLID = 1 << 4;
    /** A completion field, {@link CompletionQueue#serviceLevel()}. */
    public static final int WITH_SL = 1 << 5;
    /** A completion field, {@link CompletionQueue#dlidPathBits()}. */
    public static final int WITH_DLID_PATH_BITS = 1 << 6;
    /** A completion field, {@link CompletionQueue#timestamp()}. */
    public static final int WITH_COMPLETION_TIMESTAMP = 1 << 7;
    /** A completion field, {@link CompletionQueue#cvlan()}. */
    public static final int WITH_CVLAN = 1 << 8;
    /** A completion field, {@link CompletionQueue#flowTag()}. */
    public static final int WITH_FLOW_TAG = 1 << 9;
    /** A completion field, {@link CompletionQueue#tmTag()} and {@link CompletionQueue#tmPrivate()}. */
    public static final int WITH_TM_INFO = 1 << 10;
    /** A completion field, {@link CompletionQueue#wallClockTimestamp()}. */
    public static final int WITH_COMPLETION_TIMESTAMP_WALLCLOCK = 1 << 11;

    /** The fields of a plain completion queue, {@code IBV_WC_STANDARD_FLAGS}. */
    public static final int STANDARD_FIELDS = WITH_BYTE_LEN | WITH_IMM | WITH_QP_NUM | WITH_SRC_QP | WITH_SLID | WITH_SL
            | WITH_DLID_PATH_BITS;

    /** A flag: one thread at a time uses the queue and everything that completes on it. */
    public static final int SINGLE_THREADED = 1;
    /** A flag: the queue may overrun, and what does not fit is lost; the application takes care that it fits. */
    public static final int IGNORE_OVERRUN = 1 << 1;

    /** Bit of {@link #flags()} in {@link #compMask()}. */
    public static final int FLAGS = 1;
    /** Bit of {@link #parentDomain()} in {@link #compMask()}. */
    public static final int PARENT_DOMAIN = 1 << 1;

    /** Bit of {@link #compMask()}: {@link Builder#counters} was set. */
    public static final int COUNTERS = 1 << 17;

    /** What every provider knew from the beginning; never grows. */
    static final int BASIC_FIELDS = STANDARD_FIELDS | WITH_COMPLETION_TIMESTAMP;
    static final int BASIC_FLAGS = SINGLE_THREADED | IGNORE_OVERRUN;

    private static final Flags NAMES = new Flags("FLAGS", "PARENT_DOMAIN").and(COUNTERS, "COUNTERS");
    private static final Flags FIELDS = new Flags("BYTE_LEN", "IMM", "QP_NUM", "SRC_QP", "SLID", "SL", "DLID_PATH_BITS",
            "COMPLETION_TIMESTAMP", "CVLAN", "FLOW_TAG", "TM_INFO", "COMPLETION_TIMESTAMP_WALLCLOCK");

    private final int cqe;
    private final @Nullable CompletionChannel channel;
    private final int fields;
    private final int completionVector;
    private final @Nullable Object userContext;
    private final int compMask;
    private final @Nullable Counters counters;
    private final int flags;
    private final @Nullable ProtectionDomain parentDomain;

    private CompletionQueueAttributes(Builder b) {
        cqe = b.cqe;
        channel = b.channel;
        fields = b.fields;
        completionVector = b.completionVector;
        userContext = b.userContext;
        compMask = b.compMask;
        counters = b.counters;
        flags = b.flags;
        parentDomain = b.parentDomain;
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

    /** The fields by name; unknown bits as a hexadecimal number. */
    public static String fieldNames(int fields) {
        return FIELDS.toString(fields);
    }

    /** Which completion vector signals events, from 0 on. */
    public int completionVector() {
        return completionVector;
    }

    /** Whatever the application wants to find at the queue; null if nothing. */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** {@link #SINGLE_THREADED} and {@link #IGNORE_OVERRUN}, combined with {@code |}. */
    public int flags() {
        return flags;
    }

    /** The parent domain that the queue belongs to; null if none. */
    public @Nullable ProtectionDomain parentDomain() {
        return parentDomain;
    }

    /** What counts the queue from its first moment on; null if nothing does. */
    public @Nullable Counters counters() {
        return counters;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int cqe = 1;
        private @Nullable CompletionChannel channel;
        private int fields = STANDARD_FIELDS;
        private int completionVector;
        private @Nullable Object userContext;
        private int compMask;
        private @Nullable Counters counters;
        private int flags;
        private @Nullable ProtectionDomain parentDomain;

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

        /** Which completion vector signals events, 0 to {@link Context#completionVectors()} - 1. */
        public Builder completionVector(int number) {
            completionVector = number;
            return this;
        }

        /** Whatever the application wants to find at the queue, {@link CompletionQueue#userContext()}. */
        public Builder userContext(Object anything) {
            userContext = anything;
            return this;
        }

        /** {@link #SINGLE_THREADED} and {@link #IGNORE_OVERRUN}, combined with {@code |}. */
        public Builder flags(int value) {
            flags = value;
            compMask |= FLAGS;
            return this;
        }

        /** The parent domain that the queue belongs to, from {@link Context#allocateParentDomain}. */
        public Builder parentDomain(ProtectionDomain domain) {
            parentDomain = domain;
            compMask |= PARENT_DOMAIN;
            return this;
        }

        /**
         * Counts the queue from its first moment on, as {@link Counters#attach(CounterAttachAttributes)} has described.
         */
        public Builder counters(Counters value) {
            counters = value;
            compMask |= COUNTERS;
            return this;
        }

        /** Makes the attributes. */
        public CompletionQueueAttributes build() {
            return new CompletionQueueAttributes(this);
        }
    }
}
