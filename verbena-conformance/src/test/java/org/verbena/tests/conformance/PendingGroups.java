package org.verbena.tests.conformance;

import java.util.Map;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Leaves out groups of the suite that a provider does not pass yet; each is reported as skipped, with the reason. */
abstract class PendingGroups implements ExecutionCondition {
    private final Map<String, String> reasons;

    /** Names of nested classes of the suite, and why they are left out. */
    PendingGroups(Map<String, String> reasons) {
        this.reasons = reasons;
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        String group = context.getTestMethod().isPresent()
                ? ""
                : context.getTestClass().map(Class::getSimpleName).orElse("");
        String reason = reasons.get(group);
        return reason == null
                ? ConditionEvaluationResult.enabled("not pending")
                : ConditionEvaluationResult.disabled(group + ": " + reason);
    }
}
