// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.reflect.Method;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;

/**
 * The groups of the suite that {@code -Dverbena.test.groups=REGEX} names, or all. With {@code -Dverbena.test.every=N}
 * only each N-th test of a group, in the order of their names, and only each N-th parameter set of a parameterized
 * test.
 */
final class ChosenGroups implements ExecutionCondition {
    private static final Pattern INVOCATION = Pattern.compile("\\[test-template-invocation:#(\\d+)]$");

    private final Pattern groups = Pattern.compile(System.getProperty("verbena.test.groups", ".*"));
    private final int every = Integer.getInteger("verbena.test.every", 1);

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Class<?> group = context.getRequiredTestClass();
        if (group.getEnclosingClass() == null) {
            return ConditionEvaluationResult.enabled("the suite");
        }
        if (every > 1 && context.getTestMethod().isPresent() && number(context, group) % every != 0) {
            return ConditionEvaluationResult.disabled("not each " + every + "th");
        }
        while (group.getEnclosingClass().getEnclosingClass() != null) {
            group = group.getEnclosingClass();
        }
        return groups.matcher(group.getSimpleName()).matches()
                ? ConditionEvaluationResult.enabled("chosen")
                : ConditionEvaluationResult.disabled("not chosen");
    }

    /** The index of a test in its group, or among those with other parameters. */
    private static int number(ExtensionContext context, Class<?> group) {
        Method test = context.getRequiredTestMethod();
        if (AnnotationSupport.isAnnotated(test, TestTemplate.class)) {
            Matcher invocation = INVOCATION.matcher(context.getUniqueId());
            return invocation.find() ? Integer.parseInt(invocation.group(1)) - 1 : 0;
        }
        return AnnotationSupport.findAnnotatedMethods(group, Testable.class, HierarchyTraversalMode.TOP_DOWN).stream()
                .filter(m -> !AnnotationSupport.isAnnotated(m, TestTemplate.class)).map(Method::getName).distinct()
                .sorted().toList().indexOf(test.getName());
    }
}
