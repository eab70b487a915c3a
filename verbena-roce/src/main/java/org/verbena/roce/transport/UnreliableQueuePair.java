// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.Psn;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * A queue pair of type UC (IBTA volume 1, 9.8.2): a message that lost a packet is lost without notification. A
 * request is complete when its last packet is sent.
 */
final class UnreliableQueuePair extends TransportQueuePair {
    private final RequestWriter writer;
    private final CurrentReceive incoming;
    private final IncomingWrite write;
    private int mtu = 256;
    private int destination;

    /** Next own PSN. */
    private int psn;
    /** The oldest request's next packet. */
    private int packet;

    private int expected;
    private boolean established;
    /** The message that has begun: {@link PacketOpcode#IS_SEND}, {@link PacketOpcode#IS_WRITE} or 0. */
    private int message;

    UnreliableQueuePair(Transport transport, int number, int type, QueuePairOwner owner, SendRing sends) {
        super(transport, number, type, owner, sends);
        writer = new RequestWriter(this, PacketOpcode.UC);
        incoming = new CurrentReceive(owner);
        write = new IncomingWrite(this);
    }

    @Override
    void set(QueuePairState from, QueuePairAttributes a) {
        if (a.has(QueuePairAttributes.PATH_MTU)) {
            mtu = a.pathMtu();
        }
        if (a.has(QueuePairAttributes.DEST_QPN)) {
            destination = a.destinationQueuePair();
        }
        if (a.has(QueuePairAttributes.RQ_PSN)) {
            expected = a.rqPsn();
            established = false;
        }
        if (a.has(QueuePairAttributes.SQ_PSN)) {
            psn = a.sqPsn();
        }
    }

    // ---- sending

    @Override
    void send() {
        if (!sendAll()) {
            transport.schedule(this);
        }
    }

    private boolean sendAll() {
        while (!sends.isEmpty() && (state == QueuePairState.RTS || state == QueuePairState.SQD && packet > 0)) {
            SendWqe w = sends.at(sends.head);
            if (packet == 0) {
                w.first = psn;
                int status = Preparation.prepare(this, w, mtu);
                if (status == WcStatus.SUCCESS && w.expectsResponse) {
                    status = WcStatus.LOC_QP_OP_ERR;
                }
                if (status != WcStatus.SUCCESS) {
                    failOldestToSqe(status, "a request names memory that it may not use, or cannot be executed");
                    return true;
                }
            }
            if (w.packets > 0 && !sendPacket(w)) {
                return state != QueuePairState.RTS && state != QueuePairState.SQD;
            }
            if (packet == w.packets) {
                packet = 0;
                complete(w, WcStatus.SUCCESS);
                checkDrained();
            }
        }
        return true;
    }

    private boolean sendPacket(SendWqe w) {
        Path to = path;
        long a = wire.next();
        if (a == 0 || to == null) {
            return false;
        }
        int length = writer.message(a, w, packet, mtu, destination, false);
        if (length < 0) {
            failOldestToSqe(WcStatus.LOC_PROT_ERR, "the memory that a request names is no longer registered");
            return false;
        }
        sendPacket(to, Wire.ECN_NOT_CAPABLE, length);
        psn = Psn.add(psn, 1);
        packet++;
        return true;
    }

    // ---- receiving

    @Override
    void received(Packet p) {
        Path from = path;
        if (from == null || !from.matches(p.raw)) {
            transport.drop(DropReason.ADDRESS);
            return;
        }
        if (p.opcode == PacketOpcode.CNP) {
            owner.count(SamplePoint.QP_CNP_IGNORED, 1); // nothing is in flight that could be reduced
            return;
        }
        if (!established) {
            established = true;
            reportEstablished();
        }
        int kind = p.flags & (PacketOpcode.IS_SEND | PacketOpcode.IS_WRITE);
        if (p.has(PacketOpcode.IS_FIRST)) {
            if (message != 0) {
                lost(); // the previous message has no end
            }
        } else if (kind != message || p.psn != expected) {
            if (message != 0) {
                owner.count(SamplePoint.QP_OUT_OF_SEQUENCE, 1);
            }
            lost();
            return;
        }
        expected = Psn.add(p.psn, 1);
        message = p.has(PacketOpcode.IS_LAST) ? 0 : kind;
        if (!Responder.hasValidLength(p, mtu) || !take(p)) {
            lost();
        }
    }

    private void lost() {
        message = 0;
        incoming.putBack(); // for the next message, on whichever queue pair
        owner.count(SamplePoint.QP_RX_LOST, 1);
        transport.drop(DropReason.UNRELIABLE);
    }

    private boolean take(Packet p) {
        boolean send = p.has(PacketOpcode.IS_SEND);
        if (send && p.has(PacketOpcode.IS_FIRST) || p.has(PacketOpcode.HAS_IMMEDIATE) && !send) {
            ReceiveSource source = owner.receives();
            if (source == null || !incoming.take(source)) {
                owner.count(SamplePoint.QP_RX_OUT_OF_BUFFER, 1);
                return false;
            }
        }
        return send ? takeSend(p) : takeWrite(p);
    }

    private boolean takeSend(Packet p) {
        int status = incoming.put(p.payload, p.length);
        if (status != WcStatus.SUCCESS) {
            incoming.setFailureStatus(status);
            fail(status == WcStatus.LOC_LEN_ERR
                    ? "a message did not fit into its receive"
                    : "a receive names memory that it may not use", -1);
            return true;
        }
        if (p.has(PacketOpcode.IS_LAST)) {
            boolean immediate = p.has(PacketOpcode.HAS_IMMEDIATE);
            incoming.complete(WcOpcode.RECV, incoming.offset(), immediate ? p.immediate() : 0,
                    immediate ? WcFlags.WITH_IMM : 0, destination, p.solicited);
        }
        return true;
    }

    private boolean takeWrite(Packet p) {
        if ((accessFlags & AccessFlags.REMOTE_WRITE) == 0 || !write.hasValidLength(p)
                || !write.put(owner.memory(), p)) {
            return false;
        }
        if (p.has(PacketOpcode.IS_LAST)) {
            owner.count(SamplePoint.QP_RX_WRITES, 1);
            owner.count(SamplePoint.QP_RX_WRITE_BYTES, write.length());
        }
        if (p.has(PacketOpcode.HAS_IMMEDIATE)) {
            incoming.complete(WcOpcode.RECV_RDMA_WITH_IMM, write.length(), p.immediate(), WcFlags.WITH_IMM,
                    destination, p.solicited);
        }
        return true;
    }

    // ---- the rest

    @Override
    boolean work() {
        return !sendAll();
    }

    @Override
    long deadline() {
        return Timers.NEVER;
    }

    @Override
    void expired(long now) {
        // a UC queue pair has no timer
    }

    @Override
    void stop() {
        packet = 0;
    }

    @Override
    void flushReceiveInUse() {
        message = 0;
        incoming.fail();
    }

    @Override
    void clear() {
        packet = 0;
        message = 0;
        incoming.putBack();
    }

    @Override
    boolean isIdle() {
        return packet == 0;
    }
}
