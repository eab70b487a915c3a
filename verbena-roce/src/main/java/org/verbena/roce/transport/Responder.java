// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.header.Aeth;
import org.verbena.roce.header.Bth;
import org.verbena.roce.header.Feth;
import org.verbena.roce.header.Opcode;
import org.verbena.roce.header.Psn;
import org.verbena.roce.header.Reth;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * The responder of a reliable queue pair (IBTA volume 1, 9.7.4 and 9.7.5.1): executes requests in order, each once, and
 * acknowledges them. ACKs are sent once a batch of packets, for all earlier packets.
 */
final class Responder {
    /** Response packets sent at a time, before it is other queue pairs' turn. */
    private static final int BUDGET = 64;
    /** No ACK or NAK is pending. */
    private static final int NOTHING = -1;

    /** The message that has begun and is not complete. */
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final ReliableQueuePair qp;
    private final QueuePairOwner owner;
    private final Incoming incoming;
    private final IncomingWrite write;
    private final Replies replies;
    private final OneSided oneSided;
    private final AckDelay delay = new AckDelay();

    /** The sequence number of the next packet; its lower 24 bits are the PSN. */
    private long expected;
    /**
     * The sequence number of the last packet of a SEND or WRITE, which is the last that an ACK may name: READs and
     * atomics are acknowledged by their responses alone, and Linux takes an ACK with a READ's PSN for the READ's end,
     * without the data.
     */
    private long acknowledgeable;
    private int msn;
    private Message message = Message.NONE;
    /** XRC: the shared receive queue of the message. */
    private int messageQueue;
    /** A NAK was sent for a missing packet: packets before it arrives are dropped silently. */
    private boolean nakSent;
    private int rnrTimer;

    private int syndrome = NOTHING;
    private long syndromePlace;

    Responder(ReliableQueuePair qp) {
        this.qp = qp;
        owner = qp.owner;
        incoming = new Incoming(owner);
        write = new IncomingWrite(qp);
        replies = new Replies(qp);
        oneSided = new OneSided(qp, replies);
    }

    void begin(int psn) {
        clear();
        expected = psn;
        acknowledgeable = expected - 1;
        msn = 0;
    }

    void setRnrTimer(int code) {
        rnrTimer = code;
    }

    void setDepth(int n) {
        replies.setDepth(n);
    }

    void clear() {
        incoming.giveBack();
        message = Message.NONE;
        nakSent = false;
        syndrome = NOTHING;
        replies.clear();
        delay.clear();
    }

    /** A request of our own has been posted. */
    void spoken() {
        delay.spoken();
    }

    void forgetAnswers() {
        syndrome = NOTHING;
        replies.forgetQueue();
    }

    void flushReceive() {
        message = Message.NONE;
        incoming.fail();
    }

    // ---- requests

    void received(Packet p) {
        int ahead = Psn.diff(p.psn, (int) expected & Psn.MASK);
        if (ahead > 0) {
            outOfSequence();
        } else if (ahead < 0) {
            duplicate(p, expected + ahead);
        } else {
            nakSent = false;
            delay.arrived();
            execute(p);
        }
    }

    private void outOfSequence() {
        owner.count(SamplePoint.QP_OUT_OF_SEQUENCE, 1);
        if (nakSent) {
            qp.transport.drop(Drop.SEQUENCE);
        } else {
            nakSent = true;
            answer(Aeth.NAK_SEQUENCE, expected);
        }
    }

    private void duplicate(Packet p, long place) {
        owner.count(SamplePoint.QP_DUPLICATE_REQUESTS, 1);
        boolean known = true;
        if (p.operation() == Opcode.READ_REQUEST) {
            known = replies.repeatRead(place, Reth.address(p.extended), Reth.rkey(p.extended), Reth.length(
                    p.extended));
        } else if (p.has(Opcode.IS_ANSWERED)) {
            long eth = p.extended + (p.operation() == Opcode.FLUSH ? Feth.BYTES : 0);
            known = replies.repeat(place, Reth.address(eth), Reth.rkey(eth)); // an AtomicETH begins like a RETH
        } else if (place > acknowledgeable) {
            known = false;
        } else if (syndrome == NOTHING) {
            delay.repeated();
            answer(Aeth.ACK, acknowledgeable);
        }
        if (!known) {
            qp.transport.drop(Drop.SEQUENCE);
        }
        qp.transport.schedule(qp);
    }

    private void execute(Packet p) {
        if (!isInSequence(p)) {
            invalid("the peer's packets do not form a message");
            return;
        }
        ReceiveSource queue = owner.receives();
        if (qp.type() == QueuePairType.XRC_RECV) {
            int number = p.sharedReceiveQueue();
            queue = message == Message.NONE || number == messageQueue ? owner.sharedReceiveQueue(number) : null;
            if (queue == null) {
                invalid("the peer names a shared receive queue that its domain does not have");
                return;
            }
            messageQueue = number;
        }
        if (p.has(Opcode.IS_SEND)) {
            send(p, queue);
        } else if (p.has(Opcode.IS_WRITE)) {
            write(p, queue);
        } else {
            oneSided(p, memory(queue));
        }
    }

    /** First and only packets begin a message, middle and last ones continue it (9.7.4.1.2). */
    private boolean isInSequence(Packet p) {
        if (p.has(Opcode.IS_FIRST)) {
            return message == Message.NONE;
        }
        return message == (p.has(Opcode.IS_SEND) ? Message.SEND : Message.WRITE);
    }

    /** The memory that the peer's keys refer to. */
    private Memory memory(@Nullable ReceiveSource queue) {
        return qp.type() == QueuePairType.XRC_RECV && queue != null ? queue.memory() : owner.memory();
    }

    // ---- SEND

    private void send(Packet p, @Nullable ReceiveSource queue) {
        if (!hasRightLength(p, qp.mtu)) {
            invalid("a packet of a SEND has a wrong length");
            return;
        }
        if (p.has(Opcode.IS_FIRST) && (queue == null || !incoming.take(queue))) {
            notReady();
            return;
        }
        if (p.has(Opcode.HAS_INVALIDATE)
                && memory(queue).invalidate(qp.number(), p.immediate(), true) != 0) {
            incoming.blame(WcStatus.REM_INV_REQ_ERR);
            refuse(Aeth.NAK_REMOTE_ACCESS, "the peer invalidates a key that it may not invalidate",
                    AsyncEventType.QP_ACCESS_ERR);
            return;
        }
        int status = incoming.put(p.payload, p.length);
        if (status != WcStatus.SUCCESS) {
            incoming.blame(status);
            if (status == WcStatus.LOC_LEN_ERR) {
                refuse(Aeth.NAK_INVALID_REQUEST, "a message did not fit into its receive", -1);
            } else {
                refuse(Aeth.NAK_REMOTE_OPERATION, "a receive names memory that it may not use", -1);
            }
            return;
        }
        message = p.has(Opcode.IS_LAST) ? Message.NONE : Message.SEND;
        if (message == Message.NONE) {
            int flags = p.has(Opcode.HAS_IMMEDIATE)
                    ? WcFlags.WITH_IMM
                    : p.has(Opcode.HAS_INVALIDATE) ? WcFlags.WITH_INV : 0;
            incoming.complete(WcOpcode.RECV, incoming.offset(), flags == 0 ? 0 : p.immediate(), flags,
                    qp.destination, p.solicited);
        }
        done(p);
    }

    /** First and middle packets have MTU length, a last one is not empty (9.7.4.1.6). */
    static boolean hasRightLength(Packet p, int mtu) {
        if (!p.has(Opcode.IS_LAST)) {
            return p.length == mtu;
        }
        return p.length <= mtu && (p.length > 0 || p.has(Opcode.IS_FIRST));
    }

    // ---- WRITE

    private void write(Packet p, @Nullable ReceiveSource queue) {
        if ((qp.accessFlags & AccessFlags.REMOTE_WRITE) == 0) {
            invalid("the peer writes, and the queue pair does not allow it");
            return;
        }
        if (!hasRightLength(p, qp.mtu) || !write.hasRightLength(p)) {
            invalid("a packet of a WRITE has a wrong length");
            return;
        }
        if (p.has(Opcode.HAS_IMMEDIATE) && (queue == null || !incoming.take(queue))) {
            notReady();
            return;
        }
        if (!write.put(memory(queue), p)) {
            incoming.giveBack();
            refuse(Aeth.NAK_REMOTE_ACCESS, "the peer writes where it may not", AsyncEventType.QP_ACCESS_ERR);
            return;
        }
        message = p.has(Opcode.IS_LAST) ? Message.NONE : Message.WRITE;
        if (message == Message.NONE) {
            owner.count(SamplePoint.QP_RX_WRITES, 1);
            owner.count(SamplePoint.QP_RX_WRITE_BYTES, write.length());
            if (p.has(Opcode.HAS_IMMEDIATE)) {
                incoming.complete(WcOpcode.RECV_RDMA_WITH_IMM, write.length(), p.immediate(), WcFlags.WITH_IMM,
                        qp.destination, p.solicited);
            }
        }
        done(p);
    }

    // ---- READ, atomics and the like

    private void oneSided(Packet p, Memory memory) {
        switch (oneSided.execute(p, memory, expected, msn + 1)) {
            case OneSided.DONE -> {
                msn++;
                expected += oneSided.packets();
                qp.transport.schedule(qp);
            }
            case Aeth.NAK_REMOTE_ACCESS -> refuse(Aeth.NAK_REMOTE_ACCESS,
                    "the peer accesses memory that it may not access",
                    AsyncEventType.QP_ACCESS_ERR);
            default -> invalid(
                    "the peer's request is malformed, not allowed, or exceeds the negotiated number of outstanding ones");
        }
    }

    // ---- responses

    private void done(Packet p) {
        acknowledgeable = expected++;
        if (message == Message.NONE) {
            msn++;
        }
        if (p.acknowledge) {
            answer(Aeth.ACK, acknowledgeable);
        }
    }

    private void notReady() {
        owner.count(SamplePoint.QP_RX_OUT_OF_BUFFER, 1);
        nakSent = true; // the requester retransmits what follows by itself
        answer(Aeth.RNR_NAK | rnrTimer, expected);
    }

    private void invalid(String reason) {
        refuse(Aeth.NAK_INVALID_REQUEST, reason, AsyncEventType.QP_REQ_ERR);
    }

    private void refuse(int nak, String reason, int event) {
        owner.count(nak == Aeth.NAK_REMOTE_ACCESS
                ? SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS
                : SamplePoint.QP_RESP_REMOTE_INVALID_REQUESTS, 1);
        answer(nak, expected);
        qp.refuse(reason, event);
    }

    private void answer(int with, long place) {
        syndrome = with;
        syndromePlace = place;
        qp.transport.schedule(qp);
    }

    /**
     * Sends responses, and after them the ACK or NAK.
     *
     * @return false if the wire or the budget leaves something for later
     */
    boolean answer() {
        switch (replies.send(BUDGET)) {
            case MORE -> {
                return false;
            }
            case REFUSED -> {
                refuse(Aeth.NAK_REMOTE_ACCESS, "the peer reads memory that is no longer registered",
                        AsyncEventType.QP_ACCESS_ERR);
                syndromePlace = replies.refused();
                replies.forgetQueue();
            }
            case DONE -> {
                // the ACK
            }
        }
        if (syndrome == NOTHING) {
            return true;
        }
        boolean patient = delay.isPatient();
        if (syndrome == Aeth.ACK && qp.transport.delaysAck(patient)) {
            return false;
        }
        long a = qp.wire.next();
        if (a == 0) {
            return false;
        }
        Bth.put(a, qp.wireTransport | Opcode.ACKNOWLEDGE, false, 0, qp.destination, false, (int) syndromePlace);
        Aeth.put(a + Bth.BYTES, syndrome, msn);
        syndrome = NOTHING;
        delay.sent(patient);
        qp.sendToPeer(Bth.BYTES + Aeth.BYTES);
        return true;
    }
}
