// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** How a device spreads received packets over work queues, {@code struct ibv_rss_caps}. Immutable. */
public final class RssCapabilities {
    private final Builder b;

    private RssCapabilities(Builder b) {
        this.b = b;
    }

    /** For providers: a builder with nothing set. */
    public static Builder builder() {
        return new Builder();
    }

    /** The queue pair types that can, a bit {@code 1 << type} each, see {@link QueuePairType}. */
    public int queuePairTypes() {
        return b.queuePairTypes;
    }

    /** The largest number of {@link RwqIndirectionTable}s. */
    public int maxIndirectionTables() {
        return b.maxIndirectionTables;
    }

    /** The largest number of a table's entries. */
    public int maxIndirectionTableSize() {
        return b.maxIndirectionTableSize;
    }

    /** What can go into the hash, see {@link RxHashFields}. */
    public int hashFields() {
        return b.hashFields;
    }

    /** The hash functions, {@link RxHashConfiguration#TOEPLITZ}. */
    public int hashFunctions() {
        return b.hashFunctions;
    }

    @Override
    public String toString() {
        return AttributeText.of(this, b);
    }

    /** Collects the values; a provider sets what it knows. Not safe for use by several threads. */
    public static final class Builder {
        private int queuePairTypes;
        private int maxIndirectionTables;
        private int maxIndirectionTableSize;
        private int hashFields;
        private int hashFunctions;

        private Builder() {}

        private Builder(Builder o) {
            queuePairTypes = o.queuePairTypes;
            maxIndirectionTables = o.maxIndirectionTables;
            maxIndirectionTableSize = o.maxIndirectionTableSize;
            hashFields = o.hashFields;
            hashFunctions = o.hashFunctions;
        }

        /** Sets {@link RssCapabilities#queuePairTypes()}. */
        public Builder queuePairTypes(int v) {
            queuePairTypes = v;
            return this;
        }

        /** Sets {@link RssCapabilities#maxIndirectionTables()}. */
        public Builder maxIndirectionTables(int v) {
            maxIndirectionTables = v;
            return this;
        }

        /** Sets {@link RssCapabilities#maxIndirectionTableSize()}. */
        public Builder maxIndirectionTableSize(int v) {
            maxIndirectionTableSize = v;
            return this;
        }

        /** Sets {@link RssCapabilities#hashFields()}. */
        public Builder hashFields(int v) {
            hashFields = v;
            return this;
        }

        /** Sets {@link RssCapabilities#hashFunctions()}. */
        public Builder hashFunctions(int v) {
            hashFunctions = v;
            return this;
        }

        /** Makes the object. */
        public RssCapabilities build() {
            return new RssCapabilities(new Builder(this));
        }
    }
}
