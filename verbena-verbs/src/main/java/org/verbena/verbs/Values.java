package org.verbena.verbs;

import java.util.OptionalLong;

/**
 * Values read from a device at run time, {@code struct ibv_values_ex}. What was not asked for, or is not known to the
 * provider, is absent.
 *
 * @param rawClock the device's clock in ticks of {@link DeviceAttributes#coreClockKilohertz()}
 */
public record Values(OptionalLong rawClock) {
    /** Asks {@link Context#queryValues} for {@link #rawClock()}, {@code IBV_VALUES_MASK_RAW_CLOCK}. */
    public static final int RAW_CLOCK = 1;
}
