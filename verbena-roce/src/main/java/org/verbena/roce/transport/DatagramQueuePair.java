// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.header.Deth;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.Psn;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * A queue pair of type UD (IBTA volume 1, 9.8.3): single packets, to and from every queue pair that knows the queue
 * key.
 */
final class DatagramQueuePair extends TransportQueuePair {
    private final RequestWriter writer;
    private final CurrentReceive incoming;
    private int qkey;
    private int psn;

    DatagramQueuePair(Transport transport, int number, int type, QueuePairOwner owner, SendRing sends) {
        super(transport, number, type, owner, sends);
        writer = new RequestWriter(this, PacketOpcode.UD);
        incoming = new CurrentReceive(owner);
    }

    @Override
    void set(QueuePairState from, QueuePairAttributes a) {
        if (a.has(QueuePairAttributes.QKEY)) {
            qkey = a.qkey();
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
        while (!sends.isEmpty() && state == QueuePairState.RTS) {
            SendWqe w = sends.at(sends.head);
            w.first = psn;
            Path to = w.path;
            int status = Preparation.prepare(this, w, wire.mtu());
            if (status == WcStatus.SUCCESS) {
                status = to == null || w.expectsResponse || w.packets == 0
                        ? WcStatus.LOC_QP_OP_ERR
                        : w.packets > 1 ? WcStatus.LOC_LEN_ERR : WcStatus.SUCCESS;
            }
            if (status != WcStatus.SUCCESS || to == null) {
                failOldestToSqe(status, "a datagram is too long, or names memory that it may not use");
                return true;
            }
            long a = wire.next();
            if (a == 0) {
                return false;
            }
            // with the top bit set, the sender's own Q_Key is used (10.2.5)
            int length = writer.datagram(a, w, w.remoteQkey < 0 ? qkey : w.remoteQkey);
            if (length < 0) {
                failOldestToSqe(WcStatus.LOC_PROT_ERR, "the memory that a datagram names is no longer registered");
                return true;
            }
            sendPacket(to, Wire.ECN_NOT_CAPABLE, length);
            psn = Psn.add(psn, 1);
            complete(w, WcStatus.SUCCESS);
        }
        return true;
    }

    // ---- receiving

    @Override
    void received(Packet p) {
        if (p.opcode == PacketOpcode.CNP) {
            return;
        }
        if (Deth.qkey(p.extended) != qkey) {
            owner.count(SamplePoint.QP_BAD_QKEYS, 1);
            lost(DropReason.QKEY);
            return;
        }
        ReceiveSource source = owner.receives();
        if (source == null || p.length > wire.mtu() || !incoming.take(source)) {
            owner.count(SamplePoint.QP_RX_OUT_OF_BUFFER, 1);
            lost(DropReason.UNRELIABLE);
            return;
        }
        if (!incoming.hasRoom(GlobalRoutingHeader.BYTES + p.length)) {
            incoming.putBack(); // for a message that fits
            lost(DropReason.UNRELIABLE);
            return;
        }
        int status = incoming.put(transport.routingHeader(p), GlobalRoutingHeader.BYTES);
        if (status == WcStatus.SUCCESS) {
            status = incoming.put(p.payload, p.length);
        }
        if (status != WcStatus.SUCCESS) {
            incoming.setFailureStatus(status);
            fail("a receive names memory that it may not use", -1);
            return;
        }
        boolean immediate = p.has(PacketOpcode.HAS_IMMEDIATE);
        incoming.complete(WcOpcode.RECV, incoming.offset(), immediate ? p.immediate() : 0,
                immediate ? WcFlags.GRH | WcFlags.WITH_IMM : WcFlags.GRH, Deth.source(p.extended), p.solicited);
    }

    private void lost(DropReason reason) {
        owner.count(SamplePoint.QP_RX_LOST, 1);
        transport.drop(reason);
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
        // a UD queue pair has no timer
    }

    @Override
    void stop() {
        // each datagram is complete when it is sent
    }

    @Override
    void flushReceiveInUse() {
        incoming.fail();
    }

    @Override
    void clear() {
        // as above
    }

    @Override
    boolean isIdle() {
        return true;
    }
}
