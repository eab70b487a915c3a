// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** How far a device limits the rate of queue pairs, {@code struct ibv_packet_pacing_caps}. Immutable. */
public final class PacketPacingCapabilities {
    private final Builder b;

    private PacketPacingCapabilities(Builder b) {
        this.b = b;
    }

    /** For providers: a builder with nothing set. */
    public static Builder builder() {
        return new Builder();
    }

    /** The lowest rate in kbit/s. */
    public int minKilobits() {
        return b.minKilobits;
    }

    /** The highest rate in kbit/s. */
    public int maxKilobits() {
        return b.maxKilobits;
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
        private int minKilobits;
        private int maxKilobits;
        private int queuePairTypes;

        private Builder() {}

        private Builder(Builder o) {
            minKilobits = o.minKilobits;
            maxKilobits = o.maxKilobits;
            queuePairTypes = o.queuePairTypes;
        }

        /** Sets {@link PacketPacingCapabilities#minKilobits()}. */
        public Builder minKilobits(int v) {
            minKilobits = v;
            return this;
        }

        /** Sets {@link PacketPacingCapabilities#maxKilobits()}. */
        public Builder maxKilobits(int v) {
            maxKilobits = v;
            return this;
        }

        /** Sets {@link PacketPacingCapabilities#queuePairTypes()}. */
        public Builder queuePairTypes(int v) {
            queuePairTypes = v;
            return this;
        }

        /** Makes the object. */
        public PacketPacingCapabilities build() {
            return new PacketPacingCapabilities(new Builder(this));
        }
    }
}
