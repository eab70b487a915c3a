// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** {@link StreamEvents#closed}. */
@Name("org.verbena.SocketClosed")
@Label("Socket Closed")
@Description("The program has closed a connection")
@Category("Verbena")
@StackTrace(false)
final class SocketClosedEvent extends Event {
    @Label("Local Address") String local = "";
    @Label("Remote Address") String remote = "";
    @Label("Lifetime")
    @Description("Since it was connected")
    @Timespan(Timespan.MILLISECONDS) long lifetime;
    @Label("Sent by Ring")
    @DataAmount long sentByRing;
    @Label("Sent by TCP")
    @DataAmount long sentByTcp;
    @Label("Received by Ring")
    @DataAmount long receivedByRing;
    @Label("Received by TCP")
    @DataAmount long receivedByTcp;
    @Label("Doorbells")
    @Description("Times the peer was woken") long doorbells;
    @Label("Wake-Ups")
    @Description("Times a doorbell of the peer's was taken") long wakeUps;
    @Label("Stalls")
    @Description("Writes that found the ring full") long stalls;

    static void commit(String local, String remote, long lifetime, StreamEvents.Carried carried) {
        SocketClosedEvent e = new SocketClosedEvent();
        if (e.isEnabled()) {
            e.local = local;
            e.remote = remote;
            e.lifetime = lifetime;
            e.sentByRing = carried.sentByRing();
            e.sentByTcp = carried.sentByTcp();
            e.receivedByRing = carried.receivedByRing();
            e.receivedByTcp = carried.receivedByTcp();
            e.doorbells = carried.doorbells();
            e.wakeUps = carried.wakeUps();
            e.stalls = carried.stalls();
            e.commit();
        }
    }
}
