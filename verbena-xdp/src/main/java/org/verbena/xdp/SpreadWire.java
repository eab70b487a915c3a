// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.VerbsException;

/** The wire of a queue pair with an indirection table: it sends by one socket, if at all, and its work queues receive. */
final class SpreadWire {
    /** Where its flows' packets go. */
    final SpreadFlows flows;
    private final SpreadSockets sockets;
    private final SpreadSockets.@Nullable Port port;
    private final @Nullable SegmentedSends segments;
    private final @Nullable XskSender sender;

    private SpreadWire(SpreadFlows flows, SpreadSockets sockets, SpreadSockets.@Nullable Port port,
            @Nullable SegmentedSends segments, @Nullable XskSender sender) {
        this.flows = flows;
        this.sockets = sockets;
        this.port = port;
        this.segments = segments;
        this.sender = sender;
    }

    static SpreadWire open(String verb, XdpQueuePair qp, SpreadFlows flows, SpreadSockets sockets)
            throws VerbsException {
        int sends = qp.initAttributes().maxSendWr();
        if (sends == 0) {
            return new SpreadWire(flows, sockets, null, null, null);
        }
        XdpContext context = qp.xdpContext();
        SpreadSockets.Port port = sockets.takePort(verb, context.rawDevice().ownChunks(sends, context.mtu()));
        try {
            SegmentedSends segments = qp.initAttributes().maxTsoHeader() > 0
                    ? SegmentedSends.open(verb, context.xdpDevice())
                    : null;
            TransmitDescriptors descriptors = new TransmitDescriptors(port.memory().chunks());
            descriptors.start(port.memory().firstChunk());
            return new SpreadWire(flows, sockets, port, segments, new XskSender(qp, port.socket(), segments,
                    descriptors, port.memory()));
        } catch (VerbsException | RuntimeException e) {
            sockets.givePort(port, null);
            throw e;
        }
    }

    /** Null if the queue pair cannot send. */
    @Nullable
    FrameSender sender() {
        return sender;
    }

    /** Gives back what it sends by. */
    void close() {
        if (port != null) {
            sockets.givePort(port, sender);
        }
        if (segments != null) {
            segments.close();
        }
    }
}
