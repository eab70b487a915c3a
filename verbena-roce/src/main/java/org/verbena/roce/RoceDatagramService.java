// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.net.InetSocketAddress;

import org.verbena.verbs.DatagramService;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** A queue pair of type UD that is the reply to service id resolution requests for a port. */
final class RoceDatagramService extends DatagramService {
    private final RoceConnectionManager manager;
    private final String device;
    private final InetSocketAddress address;

    RoceDatagramService(RoceConnectionManager manager, String device, InetSocketAddress address, QueuePair qp)
            throws VerbsException {
        super(qp);
        this.manager = manager;
        this.device = device;
        this.address = address;
    }

    void provided() {
        opened();
    }

    void abandonService() {
        abandon();
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public String describe() {
        return "datagram service on port " + address.getPort() + " of " + device;
    }

    @Override
    protected void implClose() {
        manager.forget(this);
    }
}
