// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** RoCE on the loopback interface, where each program has its own address and none has {@code localhost}. */
public final class OwnAddresses {
    static final String DEVICE = "roce_lo";

    private OwnAddresses() {}

    /** Whether no program can have this address of a device, so that a request to it would only time out. */
    public static boolean isUnassigned(String device, InetSocketAddress at) {
        InetAddress a = at.getAddress();
        return device.equals(DEVICE) && a != null && a.isLoopbackAddress()
                && (a.equals(InetAddress.ofLiteral("127.0.0.1")) || a.equals(InetAddress.ofLiteral("::1")));
    }

    /** Refuses such a server address. */
    public static void check(String device, InetSocketAddress server) throws PeerException {
        if (isUnassigned(device, server)) {
            throw new PeerException("no program is at " + HostPort.text(server) + " of " + device
                    + ", where each program has"
                    + " an address of its own: give the one that the server prints behind 'listening on'");
        }
    }
}
