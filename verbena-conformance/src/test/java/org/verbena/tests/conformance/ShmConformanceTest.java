// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** The suite on {@code shm0}. */
class ShmConformanceTest extends VerbsConformance {
    static final class Fixture implements ConformanceFixture {
        @Override
        public Context open() throws VerbsException {
            return Verbs.open("shm0");
        }

        @Override
        public boolean atomicsOnRegisteredMemory() {
            return false;
        }

        @Override
        public boolean startsBehindWhatWaits() {
            return false;
        }

        @Override
        public boolean completionQueuesOverrun() {
            return false;
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
