// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.util.List;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** {@link StreamEvents#recordRings}: there may be thousands of connections, but most of them are idle. */
@Name("org.verbena.SocketRings")
@Label("Socket Rings")
@Description("How much waits in the rings of a connection, from time to time; not of one in whose rings nothing waits")
@Category("Verbena")
@StackTrace(false)
@Period("5 s")
final class SocketRingsEvent extends Event {
    @Label("Local Address") String local = "";
    @Label("Remote Address") String remote = "";
    @Label("Outgoing Ring")
    @Description("Its size")
    @DataAmount long outRing;
    @Label("Outgoing Ring Occupied")
    @Description("By bytes that the peer has not read, as far as it has reported")
    @DataAmount long outOccupied;
    @Label("Incoming Ring")
    @Description("Its size")
    @DataAmount long inRing;
    @Label("Incoming Ring Occupied")
    @Description("By bytes that the program has not read")
    @DataAmount long inOccupied;

    static void commitAll(List<StreamEvents.Rings> waiting) {
        waiting.forEach(SocketRingsEvent::commit);
    }

    private static void commit(StreamEvents.Rings rings) {
        SocketRingsEvent e = new SocketRingsEvent();
        e.local = StreamEvents.local(rings.tcp());
        e.remote = StreamEvents.remote(rings.tcp());
        e.outRing = rings.outRing();
        e.outOccupied = rings.outOccupied();
        e.inRing = rings.inRing();
        e.inOccupied = rings.inOccupied();
        e.commit();
    }
}
