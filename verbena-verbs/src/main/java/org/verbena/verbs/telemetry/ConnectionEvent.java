// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Unsigned;

/** {@link FlightEvents#connected}, {@link FlightEvents#disconnected}. */
@Name("org.verbena.Connection")
@Label("Connection")
@Description("A queue pair got a peer, or gave it up")
@Category("Verbena")
@StackTrace(false)
final class ConnectionEvent extends Event {
    @Label("Change")
    @Description("connected or disconnected") String change = "";
    @Label("Device") String device = "";
    @Label("Queue Pair")
    @Unsigned int queuePair;
    @Label("Peer's Queue Pair")
    @Unsigned int peerQueuePair;
    @Label("Peer's Process")
    @Description("0 if it is not known") long peerProcess;

    static void commit(String device, int queuePair, int peer, long process, String change) {
        ConnectionEvent e = new ConnectionEvent();
        if (e.isEnabled()) {
            e.change = change;
            e.device = device;
            e.queuePair = queuePair;
            e.peerQueuePair = peer;
            e.peerProcess = process;
            e.commit();
        }
    }
}
