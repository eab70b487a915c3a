// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import org.verbena.verbs.Context;

/** What the tests of raw packets need to know about a provider. */
public interface RawPacketFixture {
    /** A test. */
    interface Action {
        /** Runs it with new contexts, which the fixture closes. */
        void run(Context near, Context far) throws Exception;
    }

    /** Runs a test with two devices, each of which receives what the other one sends and nothing else. */
    void run(Action action) throws Exception;
}
