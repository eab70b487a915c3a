// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * How to create a shared receive queue, {@code struct ibv_srq_init_attr_ex}, what to change of it and what it is like,
 * {@code struct ibv_srq_attr}. Immutable.
 */
public final class SharedReceiveQueueAttributes {
    /** A bit of {@link #mask()}, {@code IBV_SRQ_MAX_WR}. */
    public static final int MAX_WR = 1;
    /** A bit of {@link #mask()}, {@code IBV_SRQ_LIMIT}. */
    public static final int LIMIT = 1 << 1;

    /** Bit of {@link #compMask()}: {@link Builder#type} was set. */
    public static final int TYPE = 1;
    /** Bit of {@link #compMask()}: {@link Builder#xrcDomain} was set. */
    public static final int XRCD = 1 << 2;
    /** Bit of {@link #compMask()}: {@link Builder#completionQueue} was set. */
    public static final int CQ = 1 << 3;

    /** Bit of {@link #compMask()}: {@link Builder#counters} was set. */
    public static final int COUNTERS = 1 << 17;

    /** What a queue is created with and keeps. */
    static final int FIXED = TYPE | XRCD | CQ | COUNTERS;

    private static final Flags NAMES = new Flags("TYPE", "PD", "XRCD", "CQ").and(COUNTERS, "COUNTERS");

    private final int maxWr;
    private final int maxSge;
    private final int limit;
    private final int mask;
    private final int type;
    private final @Nullable XrcDomain xrcDomain;
    private final @Nullable CompletionQueue completionQueue;
    private final int compMask;
    private final @Nullable Counters counters;

    private SharedReceiveQueueAttributes(Builder b) {
        maxWr = b.maxWr;
        maxSge = b.maxSge;
        limit = b.limit;
        mask = b.mask;
        type = b.type;
        xrcDomain = b.xrcDomain;
        completionQueue = b.completionQueue;
        compMask = b.compMask;
        counters = b.counters;
    }

    /** A builder for a queue of one receive of one element. */
    public static Builder builder() {
        return new Builder();
    }

    /** Which of the fields of the extended part were set, see {@link CompMask}; the others have no bit. */
    public int compMask() {
        return compMask;
    }

    /** The same, without saying that the queue is of the type that it is anyway: any provider takes that. */
    SharedReceiveQueueAttributes withoutType() {
        Builder b = builder();
        b.maxWr = maxWr;
        b.maxSge = maxSge;
        b.limit = limit;
        b.mask = mask;
        b.counters = counters;
        b.compMask = compMask & ~TYPE;
        return b.build();
    }

    /** The names of the bits of {@link #compMask()}. */
    static String names(int compMask) {
        return NAMES.toString(compMask);
    }

    /** Which of {@link #maxWr()} and {@link #limit()} were set: what {@link SharedReceiveQueue#modify} is to change. */
    public int mask() {
        return mask;
    }

    /** Receives that may be outstanding. */
    public int maxWr() {
        return maxWr;
    }

    /** Scatter/gather elements of a receive. */
    public int maxSge() {
        return maxSge;
    }

    /**
     * When fewer receives than this are left, {@link AsyncEventType#SRQ_LIMIT_REACHED} is raised, once, and the limit is
     * 0 again, which means none. Of no meaning when a queue is created, as in C.
     */
    public int limit() {
        return limit;
    }

    /** See {@link SharedReceiveQueueType}; {@link SharedReceiveQueueType#BASIC} if not set. */
    public int type() {
        return type;
    }

    /** The domain of a queue of type {@link SharedReceiveQueueType#XRC}; null if not set. */
    public @Nullable XrcDomain xrcDomain() {
        return xrcDomain;
    }

    /** Where receives of a queue of type {@link SharedReceiveQueueType#XRC} complete; null if not set. */
    public @Nullable CompletionQueue completionQueue() {
        return completionQueue;
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
        private int maxWr = 1;
        private int maxSge = 1;
        private int limit;
        private int mask;
        private int type = SharedReceiveQueueType.BASIC;
        private @Nullable XrcDomain xrcDomain;
        private @Nullable CompletionQueue completionQueue;
        private int compMask;
        private @Nullable Counters counters;

        private Builder() {}

        /** Receives that may be outstanding. */
        public Builder maxWr(int value) {
            maxWr = value;
            mask |= MAX_WR;
            return this;
        }

        /** Scatter/gather elements of a receive; cannot be changed later. */
        public Builder maxSge(int value) {
            maxSge = value;
            return this;
        }

        /** When fewer receives are left, an event is raised; 0: never. */
        public Builder limit(int value) {
            limit = value;
            mask |= LIMIT;
            return this;
        }

        /** See {@link SharedReceiveQueueType}. */
        public Builder type(int value) {
            type = value;
            compMask |= TYPE;
            return this;
        }

        /** The domain, of the same context; for queues of type {@link SharedReceiveQueueType#XRC}. */
        public Builder xrcDomain(XrcDomain domain) {
            xrcDomain = domain;
            compMask |= XRCD;
            return this;
        }

        /**
         * Where receives complete, of the same context; for queues of type {@link SharedReceiveQueueType#XRC}. With type
         * {@link SharedReceiveQueueType#BASIC} that is the queue pairs' matter.
         */
        public Builder completionQueue(CompletionQueue cq) {
            completionQueue = cq;
            compMask |= CQ;
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
        public SharedReceiveQueueAttributes build() {
            return new SharedReceiveQueueAttributes(this);
        }
    }
}
