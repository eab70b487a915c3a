package org.verbena.tests.conformance;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.regex.Pattern;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * The suite on Linux's {@code rdma_rxe} by libibverbs. The lab starts it in a virtual machine, since the kernel of this one
 * rarely has it: {@code /share/conformance GROUPS}.
 */
@ExtendWith({RxeConformance.Chosen.class, RxeConformance.Rxe61.class})
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

    /** What rdma_rxe of Linux 6.1 does otherwise, or not at all. */
    static final class Rxe61 extends LeftOut {
        Rxe61() {
            super(Map.of(
                    "RegistrationErrors.descriptorsThatAreNoSharedBuffers",
                    "it has no dma-buf regions, whatever the library",
                    "StateMachine.aRareAttributeIsTakenOrSaidToBeUnknownWhereTheTableAllowsIt",
                    "EINVAL for an alternate path, which it says it has",
                    "Registration.addressesThatCountFromZero", "it takes ZERO_BASED and ignores it",
                    "Registration.allocatedMemoryMayCountFromZeroToo", "it takes ZERO_BASED and ignores it"));
        }
    }

    static final class Fixture implements ConformanceFixture {
        @Override
        public Context open() throws VerbsException {
            return Verbs.open("rxe0");
        }

        @Override
        public InetSocketAddress listenerAt(InetSocketAddress local) {
            return local;
        }

        @Override
        public boolean hasPackets() {
            return true;
        }

        @Override
        public boolean noticesDeathOfIdlePeers() {
            return false;
        }

        /** It has one port, looks at the state that a change begins with, and has no alternate paths. */
        @Override
        public long wrongCapabilityFlags() {
            return DeviceCapabilityFlags.CHANGE_PHY_PORT | DeviceCapabilityFlags.CURR_QP_STATE_MOD
                    | DeviceCapabilityFlags.AUTO_PATH_MIG;
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
