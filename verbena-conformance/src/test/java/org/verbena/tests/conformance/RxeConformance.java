package org.verbena.tests.conformance;

import java.util.regex.Pattern;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * The suite on Linux's {@code rdma_rxe} by libibverbs. The lab starts it in a virtual machine, since the kernel of this one
 * rarely has it: {@code /share/conformance GROUPS}.
 */
@ExtendWith(RxeConformance.Chosen.class)
class RxeConformance extends VerbsConformance {
    /** The groups that {@code -Dverbena.conformance.groups=REGEX} names, or all. */
    static final class Chosen implements ExecutionCondition {
        private final Pattern groups = Pattern.compile(System.getProperty("verbena.conformance.groups", ".*"));

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            Class<?> group = context.getTestClass().orElse(RxeConformance.class);
            while (group.getEnclosingClass() != null && group.getEnclosingClass() != VerbsConformance.class && group
                    .getEnclosingClass() != ConformanceOverXrc.class) {
                group = group.getEnclosingClass();
            }
            return group == RxeConformance.class || groups.matcher(group.getSimpleName()).matches()
                    ? ConditionEvaluationResult.enabled("chosen")
                    : ConditionEvaluationResult.disabled("not chosen");
        }
    }

    static final class Fixture implements ConformanceFixture {
        @Override
        public Context open() throws VerbsException {
            return Verbs.open("rxe0");
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
