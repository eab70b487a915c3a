// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.XskConfig;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.VerbsException;

/** An AF_XDP socket on a queue of the interface, and a packet socket for sends that are cut into segments. */
final class XskWire implements Wire {
    /** The socket. */
    final QueueSocket socket;
    private final @Nullable SegmentedSends segments;
    private final XskSender sender;
    private final XskReceiver receiver;

    private XskWire(QueueSocket socket, @Nullable SegmentedSends segments, XskSender sender, XskReceiver receiver) {
        this.socket = socket;
        this.segments = segments;
        this.sender = sender;
        this.receiver = receiver;
    }

    static XskWire open(String verb, XdpQueuePair qp, XdpDevice device, WireMemory memory) throws VerbsException {
        QueuePairInitAttributes init = qp.initAttributes();
        TransmitDescriptors descriptors = new TransmitDescriptors(memory.chunks());
        descriptors.start(memory.firstChunk());
        int receives = SendSide.ringSize(init.maxReceiveWr());
        QueueSocket socket = QueueSocket.open(verb, qp.describe(), qp.xdpContext(), memory.umem().upTo(memory
                .firstChunk() + memory.chunks()), XskConfig.of(XdpLimits.CHUNK, 1).withRings(receives, descriptors
                        .capacity(), receives, descriptors.capacity()));
        try {
            SegmentedSends segments = init.maxTsoHeader() > 0 ? SegmentedSends.open(verb, device) : null;
            return new XskWire(socket, segments, new XskSender(qp, socket, segments, descriptors, memory),
                    new XskReceiver(qp.receives(), socket));
        } catch (VerbsException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public FrameSender sender() {
        return sender;
    }

    @Override
    public FrameReceiver receiver() {
        return receiver;
    }

    @Override
    public Fd fd() {
        return socket.fd();
    }

    @Override
    public void close() {
        socket.close();
        if (segments != null) {
            segments.close();
        }
    }
}
