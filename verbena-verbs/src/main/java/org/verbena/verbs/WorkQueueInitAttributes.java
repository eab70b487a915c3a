// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** How to create a work queue, {@code struct ibv_wq_init_attr}. Immutable. */
public final class WorkQueueInitAttributes {
    /** Bit of {@link #flags()} in {@link #compMask()}. */
    public static final int FLAGS = 1;

    private static final Flags NAMES = new Flags("FLAGS");

    private final ProtectionDomain protectionDomain;
    private final CompletionQueue completionQueue;
    private final int type;
    private final int maxWr;
    private final int maxSge;
    private final int flags;
    private final @Nullable Object userContext;
    private final int compMask;

    private WorkQueueInitAttributes(Builder b) {
        protectionDomain = b.protectionDomain;
        completionQueue = b.completionQueue;
        type = b.type;
        maxWr = b.maxWr;
        maxSge = b.maxSge;
        flags = b.flags;
        userContext = b.userContext;
        compMask = b.compMask;
    }

    /** A builder for a queue of receives with room for one of one element. */
    public static Builder builder(ProtectionDomain pd, CompletionQueue cq) {
        return new Builder(pd, cq);
    }

    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** Which of the optional fields were set, see {@link CompMask}. */
    public int compMask() {
        return compMask;
    }

    /** What receives are posted with has to be of this domain. */
    public ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /** Where receives complete. */
    public CompletionQueue completionQueue() {
        return completionQueue;
    }

    /** See {@link WorkQueueType}. */
    public int type() {
        return type;
    }

    /** Receives that may be outstanding. */
    public int maxWr() {
        return maxWr;
    }

    /** Scatter/gather elements of a receive. */
    public int maxSge() {
        return maxSge;
    }

    /** See {@link WorkQueueFlags}. */
    public int flags() {
        return flags;
    }

    /** Whatever the application wants to find at the queue; null if nothing. */
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private final ProtectionDomain protectionDomain;
        private final CompletionQueue completionQueue;
        private int type = WorkQueueType.RQ;
        private int maxWr = 1;
        private int maxSge = 1;
        private int flags;
        private @Nullable Object userContext;
        private int compMask;

        private Builder(ProtectionDomain pd, CompletionQueue cq) {
            protectionDomain = pd;
            completionQueue = cq;
        }

        /** See {@link WorkQueueType}. */
        public Builder type(int value) {
            type = value;
            return this;
        }

        /** Receives that may be outstanding. */
        public Builder maxWr(int count) {
            maxWr = count;
            return this;
        }

        /** Scatter/gather elements of a receive. */
        public Builder maxSge(int count) {
            maxSge = count;
            return this;
        }

        /** See {@link WorkQueueFlags}. */
        public Builder flags(int value) {
            flags = value;
            compMask |= FLAGS;
            return this;
        }

        /** Whatever the application wants to find at the queue. */
        public Builder userContext(Object anything) {
            userContext = anything;
            return this;
        }

        /** Makes the attributes. */
        public WorkQueueInitAttributes build() {
            return new WorkQueueInitAttributes(this);
        }
    }
}
