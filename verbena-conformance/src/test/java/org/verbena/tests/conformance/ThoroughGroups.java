// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.Set;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.verbena.testkit.Thorough;

/**
 * Groups of a {@link ConformanceSelection} to which its mode makes no difference that the others would not show: they run
 * with {@code -Dthorough} only.
 */
abstract class ThoroughGroups implements ExecutionCondition {
    private final Set<String> groups;

    ThoroughGroups(String... groups) {
        this.groups = Set.of(groups);
    }

    @Override
    public final ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return Thorough.ON || !groups.contains(context.getRequiredTestClass().getSimpleName())
                ? ConditionEvaluationResult.enabled("wanted")
                : ConditionEvaluationResult.disabled("with -Dthorough only");
    }
}
