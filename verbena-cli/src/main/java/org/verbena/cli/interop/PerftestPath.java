// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;

import org.verbena.cli.support.PeerException;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;

/** The path of the queue pairs of a test: port, GID and MTU. */
final class PerftestPath {
    private static final int PSN_BITS = 24;
    private static final int MIN_RNR_TIMER = 12; // 0.64 ms
    private static final int RETRIES = 7;

    private final PerftestOptions options;
    private final int mtu;
    private final int lid;
    private final int gidIndex;
    private final Gid gid;

    PerftestPath(PerftestOptions options, Context context, PortAttributes port, int mtu) throws IOException {
        this.options = options;
        this.mtu = mtu;
        lid = port.lid().orElse(0);
        gidIndex = options.gidIndex() == PingPongOptions.ANY_GID
                ? PingPongEndpoint.chooseGid(context, options.ibPort(), port)
                : options.gidIndex();
        if (gidIndex != PingPongOptions.ANY_GID) {
            gid = context.queryGid(options.ibPort(), gidIndex);
        } else if (options.manager()) {
            gid = new Gid(0, 0); // not used
        } else {
            throw new PeerException("port " + options.ibPort() + " of " + options.device() + " goes by LID: give the"
                    + " index of a GID, to both ends (-x)");
        }
    }

    static void check(PerftestOptions options, PortAttributes port) throws PeerException {
        String name = "port " + options.ibPort() + " of " + options.device();
        if (port.state() != PortAttributes.STATE_ACTIVE) {
            throw new PeerException(name + " is not active: it is " + port.stateName());
        }
        if (options.size() > port.maxMessageSize()) {
            throw new PeerException("a message of " + options.size() + " bytes is too long: " + name + " carries "
                    + port.maxMessageSize() + " at most");
        }
        if (options.mtu() > port.activeMtu()) {
            throw new PeerException("an MTU of " + options.mtu() + " is too much: that of " + name + " is "
                    + port.activeMtu() + " bytes");
        }
    }

    int lid() {
        return lid;
    }

    Gid gid() {
        return gid;
    }

    int newPsn() {
        return ThreadLocalRandom.current().nextInt(1 << PSN_BITS);
    }

    void connect(QueuePair qp, PerftestAddress local, PerftestAddress remote, int reads) throws IOException {
        AddressVector path = AddressVector.builder(remote.gid()).port(options.ibPort()).sourceGidIndex(gidIndex)
                .build();
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(path).pathMtu(mtu)
                .destinationQueuePair(remote.qpn()).rqPsn(remote.psn()).maxDestReadAtomic(reads)
                .minRnrTimer(MIN_RNR_TIMER).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(local.psn()).timeout(options.retryTimeout())
                .retryCount(RETRIES)
                .rnrRetry(RETRIES).maxReadAtomic(Math.clamp(remote.reads(), 1, reads)).build());
    }
}
