// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;
import jdk.jfr.Unsigned;

/** {@link FlightEvents#retries}. Against a slow peer every request may have to wait, so there is a limit. */
@Name("org.verbena.Retry")
@Label("Retry")
@Description("A request has to wait and is tried again: the peer posted no receive, or does not answer")
@Category("Verbena")
@StackTrace(false)
@Throttle("1000/s")
final class RetryEvent extends Event {
    @Label("Device") String device = "";
    @Label("Queue Pair")
    @Unsigned int queuePair;
    @Label("Reason") String reason = "";

    static void commit(String device, int queuePair, String reason) {
        RetryEvent e = new RetryEvent();
        if (e.shouldCommit()) {
            e.device = device;
            e.queuePair = queuePair;
            e.reason = reason;
            e.commit();
        }
    }
}
