// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.header.Aeth;
import org.verbena.roce.header.BigEndian;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.Psn;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The requester's handling of responses: ACK, NAK, READ and atomic responses (IBTA volume 1, 9.7.5). Responses that are
 * stale or were never requested are dropped.
 */
final class Completer {
    private final ReliableQueuePair qp;
    private final QueuePairOwner owner;
    private final Requester requester;

    Completer(ReliableQueuePair qp, Requester requester) {
        this.qp = qp;
        owner = qp.owner;
        this.requester = requester;
    }

    void received(Packet p) {
        long sequence = requester.unacked + Psn.diff(p.psn, (int) requester.unacked & Psn.MASK);
        if (sequence < requester.unacked || sequence >= requester.high) {
            qp.transport.drop(DropReason.SEQUENCE);
            return;
        }
        switch (p.operation()) {
            case PacketOpcode.ACKNOWLEDGE -> acknowledge(sequence, Aeth.syndrome(p.extended));
            case PacketOpcode.ATOMIC_ACKNOWLEDGE -> response(p, sequence, true);
            default -> response(p, sequence, false);
        }
    }

    private void acknowledge(long sequence, int syndrome) {
        if (Aeth.isAck(syndrome)) {
            if (!requester.acknowledged(sequence + 1) && qp.isSending()) {
                impliedNak();
            }
            return;
        }
        boolean rnr = Aeth.isRnr(syndrome);
        if (!rnr && (syndrome < Aeth.NAK_SEQUENCE || syndrome > Aeth.NAK_REMOTE_OPERATION)) {
            qp.transport.drop(DropReason.SEQUENCE); // reserved
            return;
        }
        boolean complete = requester.acknowledged(sequence); // a NAK acknowledges all packets before it
        if (!qp.isSending()) {
            return; // an earlier request has failed
        }
        if (!complete) {
            impliedNak();
        } else if (rnr) {
            requester.receiverNotReady(Aeth.rnrNanos(syndrome));
        } else if (syndrome == Aeth.NAK_SEQUENCE) {
            owner.count(SamplePoint.QP_PACKET_SEQUENCE_ERRORS, 1);
            requester.packetLost();
        } else {
            remoteError(syndrome);
        }
    }

    private void remoteError(int syndrome) {
        switch (syndrome) {
            case Aeth.NAK_INVALID_REQUEST -> qp.failOldest(WcStatus.REM_INV_REQ_ERR,
                    "the peer rejected the request as invalid" + qp.oldest().knownFault());
            case Aeth.NAK_REMOTE_ACCESS -> qp.failOldest(WcStatus.REM_ACCESS_ERR,
                    "the peer's memory does not allow this access");
            default -> qp.failOldest(WcStatus.REM_OP_ERR, "the peer could not complete the request");
        }
    }

    /** A later response has arrived, an earlier one is missing. */
    private void impliedNak() {
        owner.count(SamplePoint.QP_IMPLIED_NAKS, 1);
        requester.packetLost();
    }

    private void response(Packet p, long sequence, boolean atomic) {
        if (p.operation() != PacketOpcode.READ_MIDDLE && !Aeth.isAck(Aeth.syndrome(p.extended))) {
            qp.transport.drop(DropReason.SEQUENCE);
            return;
        }
        boolean complete = requester.acknowledged(sequence);
        if (!qp.isSending()) {
            return;
        }
        if (!complete) {
            impliedNak();
            return;
        }
        SendWqe w = requester.oldestExpectingResponse();
        if (w == null || w.first + w.received != sequence || atomic != isAtomic(w)) {
            qp.transport.drop(DropReason.SEQUENCE); // not requested
        } else if (atomic) {
            // in native byte order from here on; the packet buffer is ours
            RawMemory.putLongUnaligned(p.extended + Aeth.BYTES, BigEndian.getLong(p.extended + Aeth.BYTES));
            put(w, 0, p.extended + Aeth.BYTES, Long.BYTES);
        } else {
            read(p, w);
        }
    }

    private static boolean isAtomic(SendWqe w) {
        return w.opcode == SendOpcode.CMP_SWP || w.opcode == SendOpcode.FETCH_ADD;
    }

    private void read(Packet p, SendWqe w) {
        long left = w.opcode == SendOpcode.READ ? w.length - (long) w.received * qp.mtu : 0;
        if (p.length != Math.min(left, qp.mtu)) {
            qp.failOldest(WcStatus.BAD_RESP_ERR, "a READ response has a wrong length");
            return;
        }
        put(w, (long) w.received * qp.mtu, p.payload, p.length);
    }

    private void put(SendWqe w, long offset, long from, int bytes) {
        if (bytes > 0 && !ScatterGather.scatter(owner.memory(), w.sgeCount, w.lkeys, w.addresses, w.lengths, offset,
                bytes,
                from)) {
            qp.failOldest(WcStatus.LOC_PROT_ERR, "the memory that a response is written to is no longer registered");
            return;
        }
        requester.received(w, w.received + 1);
    }
}
