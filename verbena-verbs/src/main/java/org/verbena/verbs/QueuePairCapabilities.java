// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

import org.jspecify.annotations.Nullable;

/** Sizes of a queue pair's two queues, {@code struct ibv_qp_cap}. Immutable. */
public final class QueuePairCapabilities {
    private final int maxSendWr;
    private final int maxReceiveWr;
    private final int maxSendSge;
    private final int maxReceiveSge;
    private final int maxInlineData;

    private QueuePairCapabilities(Builder b) {
        maxSendWr = b.maxSendWr;
        maxReceiveWr = b.maxReceiveWr;
        maxSendSge = b.maxSendSge;
        maxReceiveSge = b.maxReceiveSge;
        maxInlineData = b.maxInlineData;
    }

    /** A builder with all sizes 0. */
    public static Builder builder() {
        return new Builder();
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

    private List<Integer> fields() {
        return List.of(maxSendWr, maxReceiveWr, maxSendSge, maxReceiveSge, maxInlineData);
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof QueuePairCapabilities c && c.fields().equals(fields());
    }

    @Override
    public int hashCode() {
        return fields().hashCode();
    }

    @Override
    public String toString() {
        return "QueuePairCapabilities[maxSendWr=" + maxSendWr + ", maxReceiveWr=" + maxReceiveWr + ", maxSendSge="
                + maxSendSge + ", maxReceiveSge=" + maxReceiveSge + ", maxInlineData=" + maxInlineData + "]";
    }

    /** Collects the sizes. Not safe for use by several threads. */
    public static final class Builder {
        private int maxSendWr;
        private int maxReceiveWr;
        private int maxSendSge;
        private int maxReceiveSge;
        private int maxInlineData;

        private Builder() {}

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

        /** Makes the capabilities. */
        public QueuePairCapabilities build() {
            return new QueuePairCapabilities(this);
        }
    }
}
