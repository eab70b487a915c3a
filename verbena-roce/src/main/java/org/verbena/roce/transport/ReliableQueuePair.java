// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.header.PacketOpcode;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;

/** A queue pair of type RC, XRC_SEND or XRC_RECV: a requester and a responder; XRC types use one of the two. */
final class ReliableQueuePair extends TransportQueuePair {
    /** Payload bytes of each packet except a message's last. */
    int mtu = 256;
    /** The peer's queue pair number. */
    int destination;
    final int wireTransport;
    private final Requester requester;
    private final Completer completer;
    private final Responder responder;
    private final CongestionNotice notice;
    private boolean established;
    /** A request of the peer is being refused: responses that are queued, and the NAK, are still sent. */
    private boolean refusing;

    ReliableQueuePair(Transport transport, int number, int type, QueuePairOwner owner, SendRing sends) {
        super(transport, number, type, owner, sends);
        wireTransport = type == QueuePairType.RC ? PacketOpcode.RC : PacketOpcode.XRC;
        requester = new Requester(this, wireTransport);
        completer = new Completer(this, requester);
        responder = new Responder(this);
        notice = new CongestionNotice(this);
    }

    @Override
    void set(QueuePairState from, QueuePairAttributes a) {
        if (a.has(QueuePairAttributes.PATH_MTU)) {
            mtu = a.pathMtu();
        }
        if (a.has(QueuePairAttributes.DEST_QPN)) {
            destination = a.destinationQueuePair();
        }
        if (a.has(QueuePairAttributes.TIMEOUT)) {
            requester.setTimeout(a.timeout());
        }
        if (a.has(QueuePairAttributes.RETRY_CNT)) {
            requester.setRetryCount(a.retryCount());
        }
        if (a.has(QueuePairAttributes.RNR_RETRY)) {
            requester.setRnrRetry(a.rnrRetry());
        }
        if (a.has(QueuePairAttributes.MAX_QP_RD_ATOMIC)) {
            requester.setMaxReadAtomic(a.maxReadAtomic());
        }
        if (a.has(QueuePairAttributes.MIN_RNR_TIMER)) {
            responder.setRnrTimer(a.minRnrTimer());
        }
        if (a.has(QueuePairAttributes.MAX_DEST_RD_ATOMIC)) {
            responder.setDepth(a.maxDestReadAtomic());
        }
        if (a.has(QueuePairAttributes.RQ_PSN)) {
            responder.begin(a.rqPsn());
            established = false;
        }
        if (a.has(QueuePairAttributes.SQ_PSN)) {
            requester.begin(a.sqPsn());
        }
    }

    /** True while requests may be in flight. */
    boolean isSending() {
        return state == QueuePairState.RTS || state == QueuePairState.SQD;
    }

    @Override
    void send() {
        responder.requestPosted();
        if (!requester.send()) {
            transport.schedule(this);
        }
    }

    @Override
    void received(Packet p) {
        Path from = path;
        if (from == null || !from.matches(p.raw)) {
            transport.drop(DropReason.ADDRESS);
            return;
        }
        notice.packetReceived(p);
        if (p.opcode == PacketOpcode.CNP) {
            if (notice.notificationReceived()) {
                requester.window.shrink();
            }
            return;
        }
        if (p.has(PacketOpcode.IS_RESPONSE)) {
            if (type() == QueuePairType.XRC_RECV) {
                transport.drop(DropReason.OPCODE);
                return;
            }
            completer.received(p);
            transport.schedule(this); // the window may have opened
            return;
        }
        if (type() == QueuePairType.XRC_SEND) {
            transport.drop(DropReason.OPCODE);
            return;
        }
        if (!established) {
            established = true;
            reportEstablished();
        }
        responder.received(p);
    }

    /** A request of the peer violated the protocol: the NAK is sent, the queue pair fails. */
    void refuse(String reason, int event) {
        refusing = true;
        fail(reason, event);
        refusing = false;
        transport.schedule(this);
    }

    @Override
    void acknowledge() {
        if (state.receives()) {
            responder.sendResponses();
            transport.flush();
        }
    }

    @Override
    boolean work() {
        boolean more = !responder.sendResponses();
        if (isSending() && !requester.send()) {
            more = true;
        }
        return more;
    }

    /** Sends to the peer, by the path of the queue pair. */
    void sendToPeer(int length) {
        Path to = path;
        if (to != null) {
            sendPacket(to, Wire.ECN_CAPABLE, length);
        }
    }

    @Override
    long deadline() {
        return requester.deadline();
    }

    @Override
    void expired(long now) {
        requester.expired(now);
        if (isSending()) {
            transport.schedule(this);
        }
    }

    @Override
    void stop() {
        requester.clear();
        if (!refusing) {
            responder.discardResponses();
        }
    }

    @Override
    void flushReceiveInUse() {
        responder.flushReceive();
    }

    @Override
    void clear() {
        requester.clear();
        responder.clear();
    }

    @Override
    boolean isIdle() {
        return requester.isIdle();
    }

    @Override
    public boolean hasExhaustedRetries() {
        return requester.hasExhaustedRetries();
    }
}
