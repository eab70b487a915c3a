// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.math.BigDecimal;
import java.math.RoundingMode;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Trees as text, with numbers in the form that people write: no exponents, no meaningless digits. */
public final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder().enable(
            StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN).build();
    private static final int NANOS = 9;
    private static final int THOUSANDTHS = 3;

    private Json() {}

    /** A time in seconds, to the nanosecond. */
    public static BigDecimal seconds(double value) {
        return rounded(value, NANOS);
    }

    /** A rate, or a time in microseconds, to its thousandth. */
    public static BigDecimal rate(double value) {
        return rounded(value, THOUSANDTHS);
    }

    private static BigDecimal rounded(double value, int decimals) {
        return Double.isFinite(value)
                ? BigDecimal.valueOf(value).setScale(decimals, RoundingMode.HALF_UP)
                : BigDecimal.ZERO;
    }

    /** Several lines. */
    public static String text(JsonNode tree) {
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(tree);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a tree of nodes can be written", impossible);
        }
    }
}
