// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Excludes tests of the suite that cannot pass on a provider; each is reported as skipped, with the reason. */
abstract class LeftOut implements ExecutionCondition {
    private final Map<String, String> reasons;

    /** Names of nested classes of the suite, {@code Group.test} for a single test, and why they are left out. */
    LeftOut(Map<String, String> reasons) {
        this.reasons = reasons;
    }

    Set<String> names() {
        return reasons.keySet();
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        String group = context.getTestClass().map(Class::getSimpleName).orElse("");
        String name = context.getTestMethod().map(m -> group + "." + m.getName()).orElse(group);
        String reason = reasons.get(name);
        return reason == null
                ? ConditionEvaluationResult.enabled("not left out")
                : ConditionEvaluationResult.disabled(name + ": " + reason);
    }
}
