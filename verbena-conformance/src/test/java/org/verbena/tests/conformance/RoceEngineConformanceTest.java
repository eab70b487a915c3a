// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/** Groups of the suite on {@code roce_lo} where polls leave all packets to the threads of the contexts. */
class RoceEngineConformanceTest extends ConformanceSelection {
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
