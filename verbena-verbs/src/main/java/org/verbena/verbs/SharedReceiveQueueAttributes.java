package org.verbena.verbs;

/**
 * How to create a shared receive queue, {@code struct ibv_srq_init_attr_ex}, what to change of it and what it is like,
 * {@code struct ibv_srq_attr}. Immutable.
 */
public final class SharedReceiveQueueAttributes {
    /** A bit of {@link #mask()}, {@code IBV_SRQ_MAX_WR}. */
    public static final int MAX_WR = 1;
    /** A bit of {@link #mask()}, {@code IBV_SRQ_LIMIT}. */
    public static final int LIMIT = 1 << 1;

    private static final Flags NAMES = new Flags();

    private final int maxWr;
    private final int maxSge;
    private final int limit;
    private final int mask;
    private final int compMask;

    private SharedReceiveQueueAttributes(Builder b) {
        maxWr = b.maxWr;
        maxSge = b.maxSge;
        limit = b.limit;
        mask = b.mask;
        compMask = b.compMask;
    }

    /** A builder for a queue of one receive of one element. */
    public static Builder builder() {
        return new Builder();
    }

    /** Which of the fields of the extended part were set, see {@link CompMask}; the others have no bit. */
    public int compMask() {
        return compMask;
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

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int maxWr = 1;
        private int maxSge = 1;
        private int limit;
        private int mask;
        private int compMask;

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

        /** Makes the attributes. */
        public SharedReceiveQueueAttributes build() {
            return new SharedReceiveQueueAttributes(this);
        }
    }
}
