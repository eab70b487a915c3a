// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void numbersAreRoundedAndHaveNoExponent() {
        assertThat(Json.text(JsonNodeFactory.instance.objectNode().put("a", Json.rate(4.818121217389607E7))
                .put("b", Json.seconds(1.4087417009999998)).put("c", Json.rate(5e9)).put("d", Json.seconds(2e-9))
                .put("e", Json.rate(Double.NaN)).put("f", Json.seconds(0)))).containsSubsequence("48181212.174",
                        "1.408741701", "5000000000", "0.000000002", ": 0", ": 0").doesNotContain("E");
    }
}
