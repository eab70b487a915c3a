// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What a device does to cut long sends into packets, {@code struct ibv_tso_caps}. Immutable. */
public final class SegmentationCapabilities {
    private final Builder b;

    private SegmentationCapabilities(Builder b) {
        this.b = b;
    }

    /** For providers: a builder with nothing set. */
    public static Builder builder() {
        return new Builder();
    }

    /** The longest send that is cut into packets, in bytes. */
    public int maxBytes() {
        return b.maxBytes;
    }

    /** The queue pair types that can, a bit {@code 1 << type} each, see {@link QueuePairType}. */
    public int queuePairTypes() {
        return b.queuePairTypes;
    }

    @Override
    public String toString() {
        return AttributeText.of(this, b);
    }

    /** Collects the values; a provider sets what it knows. Not safe for use by several threads. */
    public static final class Builder {
        private int maxBytes;
        private int queuePairTypes;

        private Builder() {}

        private Builder(Builder o) {
            maxBytes = o.maxBytes;
            queuePairTypes = o.queuePairTypes;
        }

        /** Sets {@link SegmentationCapabilities#maxBytes()}. */
        public Builder maxBytes(int v) {
            maxBytes = v;
            return this;
        }

        /** Sets {@link SegmentationCapabilities#queuePairTypes()}. */
        public Builder queuePairTypes(int v) {
            queuePairTypes = v;
            return this;
        }

        /** Makes the object. */
        public SegmentationCapabilities build() {
            return new SegmentationCapabilities(new Builder(this));
        }
    }
}
