// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Unsigned;

import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** {@link FlightEvents#failed}, {@link FlightEvents#broken}. */
@Name("org.verbena.Error")
@Label("Error")
@Description("A request or a receive completed with an error, or a queue pair went to state ERR")
@Category("Verbena")
@StackTrace(false)
final class ErrorEvent extends Event {
    @Label("Device") String device = "";
    @Label("Queue Pair")
    @Unsigned int queuePair;
    @Label("Operation")
    @Description("What has failed; empty for the state of the queue pair") String operation = "";
    @Label("Work Request Id") long wrId;
    @Label("Status")
    @Description("That of the completion; empty for the state of the queue pair") String status = "";
    @Label("Reason")
    @Description("Why the queue pair went to ERR") String reason = "";

    static void commit(String device, int queuePair, int opcode, long wrId, int status) {
        ErrorEvent e = new ErrorEvent();
        if (e.isEnabled()) {
            e.device = device;
            e.queuePair = queuePair;
            e.operation = WcOpcode.toString(opcode);
            e.wrId = wrId;
            e.status = WcStatus.toString(status);
            e.commit();
        }
    }

    static void commit(String device, int queuePair, String reason) {
        ErrorEvent e = new ErrorEvent();
        if (e.isEnabled()) {
            e.device = device;
            e.queuePair = queuePair;
            e.reason = reason;
            e.commit();
        }
    }
}
