package org.verbena.tests.conformance;

import java.util.regex.Pattern;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The groups of the suite that {@code -Dverbena.conformance.groups=REGEX} names, or all. */
final class ChosenGroups implements ExecutionCondition {
    private final Pattern groups = Pattern.compile(System.getProperty("verbena.conformance.groups", ".*"));

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Class<?> group = context.getRequiredTestClass();
        if (group.getEnclosingClass() == null) {
            return ConditionEvaluationResult.enabled("the suite");
        }
        while (group.getEnclosingClass().getEnclosingClass() != null) {
            group = group.getEnclosingClass();
        }
        return groups.matcher(group.getSimpleName()).matches()
                ? ConditionEvaluationResult.enabled("chosen")
                : ConditionEvaluationResult.disabled("not chosen");
    }
}
