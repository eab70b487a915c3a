// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import org.verbena.linux.UdpDestination;
import org.verbena.linux.UdpSocket;
import org.verbena.roce.transport.Path;
import org.verbena.verbs.Gid;

/** A path from one of the wire's sockets. It holds no resource. */
final class UdpPath extends Path {
    final UdpSocket socket;
    final UdpDestination to;
    final boolean ip4;
    boolean closed;

    UdpPath(UdpSocket socket, UdpDestination to, Gid source, int sourceGidIndex, Gid destination, int trafficClass,
            int flowLabel) {
        super(source, sourceGidIndex, destination, trafficClass, flowLabel);
        this.socket = socket;
        this.to = to;
        ip4 = Gids.isIp4(source);
    }

    @Override
    public void close() {
        closed = true;
    }
}
