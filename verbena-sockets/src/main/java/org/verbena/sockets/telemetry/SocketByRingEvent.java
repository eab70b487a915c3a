// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** {@link StreamEvents#byRing}. */
@Name("org.verbena.SocketByRing")
@Label("Socket by Ring")
@Description("From here on a ring carries one direction of a connection")
@Category("Verbena")
@StackTrace(false)
final class SocketByRingEvent extends Event {
    @Label("Local Address") String local = "";
    @Label("Remote Address") String remote = "";
    @Label("Direction")
    @Description("in or out") String direction = "";
    @Label("Bytes Before")
    @Description("That TCP has carried in this direction")
    @DataAmount long bytesByTcp;

    static void commit(String local, String remote, String direction, long bytesByTcp) {
        SocketByRingEvent e = new SocketByRingEvent();
        if (e.isEnabled()) {
            e.local = local;
            e.remote = remote;
            e.direction = direction;
            e.bytesByTcp = bytesByTcp;
            e.commit();
        }
    }
}
