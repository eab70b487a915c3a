// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * The rate of a test whose messages are sent at fixed times.
 *
 * @param asked messages per second
 * @param reached answers per second, at most as many as asked; in hundredths
 */
public record PerfRate(long asked, double reached) {
    private static final double HUNDRED = 100;
    /** Less than this part of what was asked for is a rate that was not reached. */
    private static final double ENOUGH = 0.99;

    public static PerfRate of(long asked, double reached) {
        return new PerfRate(asked, Math.round(HUNDRED * Math.min((double) asked, reached)) / HUNDRED);
    }

    /** Whether the answers came as fast as messages were to be sent. */
    public boolean isKept() {
        return reached >= ENOUGH * asked;
    }

    /** Three fields, null where messages are sent as answers arrive. */
    public static void put(@Nullable PerfRate rate, ObjectNode row) {
        if (rate == null) {
            row.putNull("rate").putNull("rate_reached").putNull("rate_kept");
        } else {
            row.put("rate", rate.asked).put("rate_reached", rate.reached).put("rate_kept", rate.isKept());
        }
    }

    /** Reads the fields of {@link #put}. */
    public static @Nullable PerfRate of(JsonNode row) {
        return row.path("rate").isNumber()
                ? new PerfRate(row.path("rate").asLong(), row.path("rate_reached").asDouble())
                : null;
    }
}
