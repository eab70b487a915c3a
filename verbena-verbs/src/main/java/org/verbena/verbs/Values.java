// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * Values read from a device at run time, {@code struct ibv_values_ex}. What was not asked for, or is not known to the
 * provider, is absent. Immutable.
 */
public final class Values {
    /** Asks {@link Context#queryValues} for {@link #rawClock()}, {@code IBV_VALUES_MASK_RAW_CLOCK}. */
    public static final int RAW_CLOCK = 1;

    private final OptionalLong rawClock;

    private Values(Builder b) {
        rawClock = b.rawClock;
    }

    /** For providers: a builder with nothing known. */
    public static Builder builder() {
        return new Builder();
    }

    /** The device's clock in ticks of {@link DeviceAttributes#coreClockKilohertz()}. */
    public OptionalLong rawClock() {
        return rawClock;
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof Values v && v.rawClock.equals(rawClock);
    }

    @Override
    public int hashCode() {
        return rawClock.hashCode();
    }

    @Override
    public String toString() {
        return "Values[rawClock=" + (rawClock.isPresent() ? rawClock.getAsLong() : "absent") + "]";
    }

    /** Collects what was read. Not safe for use by several threads. */
    public static final class Builder {
        private OptionalLong rawClock = OptionalLong.empty();

        private Builder() {}

        /** Sets {@link Values#rawClock()}. */
        public Builder rawClock(long ticks) {
            rawClock = OptionalLong.of(ticks);
            return this;
        }

        /** Makes the values. */
        public Values build() {
            return new Values(this);
        }
    }
}
