// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A test to which the options that some groups add to all ends make no difference, see {@link Conformance#adapted}: by
 * default it runs only in the group that adds none, and in all of them where every {@link Topologies topology} runs.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(PlainGroup.Wanted.class)
@interface PlainGroup {
    /** Whether a test runs in its group. */
    final class Wanted implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext test) {
            return Topologies.EVERY || !adapts(test.getRequiredTestClass())
                    ? ConditionEvaluationResult.enabled("wanted")
                    : ConditionEvaluationResult.disabled("with -Dthorough only");
        }

        private static boolean adapts(Class<?> group) {
            return Stream.of(group.getDeclaredMethods()).anyMatch(m -> m.getName().equals("adapted"));
        }
    }
}
