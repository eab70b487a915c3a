// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What a slot of {@link Counters} counts, {@code struct ibv_counter_attach_attr}. Immutable. */
public final class CounterAttachAttributes {
    /** Bit of {@link #compMask()}: {@link Builder#port} was set. */
    public static final int PORT = 1;

    private static final Flags NAMES = new Flags("PORT");

    private final int compMask;
    private final int samplePoint;
    private final int index;
    private final int port;

    private CounterAttachAttributes(Builder b) {
        compMask = b.compMask;
        samplePoint = b.samplePoint;
        index = b.index;
        port = b.port;
    }

    /**
     * A builder.
     *
     * @param samplePoint what is counted, see {@link SamplePoint}
     * @param index the slot that it is counted in, from 0; a slot may have several sample points, which add up
     */
    public static Builder builder(int samplePoint, int index) {
        return new Builder(samplePoint, index);
    }

    /** A sample point and a slot, and nothing else. */
    public static CounterAttachAttributes of(int samplePoint, int index) {
        return builder(samplePoint, index).build();
    }

    /** Which optional attributes were set, see {@link CompMask}. */
    public int compMask() {
        return compMask;
    }

    /** True if an attribute was set. */
    public boolean has(int bit) {
        return (compMask & bit) != 0;
    }

    /** What is counted, {@code counter_desc}, see {@link SamplePoint}. */
    public int samplePoint() {
        return samplePoint;
    }

    /** The slot. */
    public int index() {
        return index;
    }

    /** The port, from 1, for sample points of ports; 1 unless it was set. */
    public int port() {
        return port;
    }

    /** The names of attribute bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    @Override
    public String toString() {
        return SamplePoint.toString(samplePoint) + " at index " + index;
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int compMask;
        private final int samplePoint;
        private final int index;
        private int port = 1;

        private Builder(int samplePoint, int index) {
            this.samplePoint = samplePoint;
            this.index = index;
        }

        /** Which port of the context is meant; counts from 1. */
        public Builder port(int number) {
            port = number;
            compMask |= PORT;
            return this;
        }

        /** Makes the attributes. */
        public CounterAttachAttributes build() {
            return new CounterAttachAttributes(this);
        }
    }
}
