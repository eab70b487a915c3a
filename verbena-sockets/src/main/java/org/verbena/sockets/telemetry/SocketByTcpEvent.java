// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** {@link StreamEvents#byTcp}. */
@Name("org.verbena.SocketByTcp")
@Label("Socket by TCP")
@Description("TCP carries a connection to its end")
@Category("Verbena")
@StackTrace(false)
final class SocketByTcpEvent extends Event {
    @Label("Local Address") String local = "";
    @Label("Remote Address") String remote = "";
    @Label("Reason") String reason = "";

    static void commit(String local, String remote, String reason) {
        SocketByTcpEvent e = new SocketByTcpEvent();
        if (e.isEnabled()) {
            e.local = local;
            e.remote = remote;
            e.reason = reason;
            e.commit();
        }
    }
}
