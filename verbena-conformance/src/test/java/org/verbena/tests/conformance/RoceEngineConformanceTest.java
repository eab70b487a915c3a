// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.junit.jupiter.api.extension.ExtendWith;

import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/** Groups of the suite on {@code roce_lo} where polls leave all packets to the threads of the contexts. */
@ExtendWith(RoceEngineConformanceTest.InFull.class)
class RoceEngineConformanceTest extends ConformanceSelection {
    /** Which thread takes a packet makes no difference to its buffers. */
    static final class InFull extends ThoroughGroups {
        InFull() {
            super("ScatterGather");
        }
    }

    static final class Fixture extends RoceConformanceTest.Fixture {
        private static final String PROGRESS = "verbena.roce.progress";

        /** A context reads the property only when it is opened. */
        @Override
        public Context open() throws VerbsException {
            synchronized (OPENING) {
                String before = System.setProperty(PROGRESS, "engine");
                try {
                    return super.open();
                } finally {
                    if (before == null) {
                        System.clearProperty(PROGRESS);
                    } else {
                        System.setProperty(PROGRESS, before);
                    }
                }
            }
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
