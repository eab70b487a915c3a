// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;

import org.junit.jupiter.api.Test;

class AsyncEventQueueTest {
    private static AsyncEvent event(VerbsObject element) {
        return AsyncEvent.builder(AsyncEventType.QP_FATAL, element).build();
    }

    @Test
    void closingAnObjectRemovesItsEventsOnly() throws Exception {
        try (FakeContext c = new FakeContext()) {
            ProtectionDomain gone = c.allocateProtectionDomain();
            ProtectionDomain stays = c.allocateProtectionDomain();
            c.adopt(gone);
            c.adopt(stays);
            for (VerbsObject o : new VerbsObject[] {gone, stays, gone, c}) {
                c.raise(event(o));
            }
            gone.close();
            assertThat(c.awaitAsyncEvent(Duration.ZERO)).isEqualTo(event(stays));
            assertThat(c.awaitAsyncEvent(Duration.ZERO)).isEqualTo(event(c));
            assertThat(c.awaitAsyncEvent(Duration.ZERO)).isNull();
        }
    }

    @Test
    void eventForAClosedObjectIsDropped() throws Exception {
        try (FakeContext c = new FakeContext()) {
            ProtectionDomain pd = c.allocateProtectionDomain();
            c.adopt(pd);
            pd.close();
            c.raise(event(pd));
            assertThat(c.awaitAsyncEvent(Duration.ZERO)).isNull();
        }
    }

    @Test
    void closedContextHasNoEvents() throws Exception {
        FakeContext c = new FakeContext();
        c.raise(event(c));
        c.close();
        c.raise(event(c));
        assertThatThrownBy(() -> c.awaitAsyncEvent(Duration.ZERO)).hasMessageContaining("closed");
    }
}
