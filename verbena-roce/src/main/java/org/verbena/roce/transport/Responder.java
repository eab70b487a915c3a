// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.header.Aeth;
import org.verbena.roce.header.Bth;
import org.verbena.roce.header.Feth;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.Psn;
import org.verbena.roce.header.Reth;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.QueuePairPoints;

/**
 * The responder of a reliable queue pair (IBTA volume 1, 9.7.4 and 9.7.5.1): executes requests in order, each once, and
 * acknowledges them. ACKs are sent once a batch of packets, for all earlier packets.
 */
final class Responder {
    /** Response packets sent at a time, before it is other queue pairs' turn. */
    private static final int RESPONSE_BUDGET = 64;
    /** No ACK or NAK is pending. */
    private static final int NO_SYNDROME = -1;

    /** The message that has begun and is not complete. */
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final ReliableQueuePair qp;
    private final QueuePairOwner owner;
    private final CurrentReceive incoming;
    private final IncomingWrite write;
    private final ResponderResources resources;
    private final OneSided oneSided;
    private final AckDelay delay = new AckDelay();

    /** The sequence number of the next packet; its lower 24 bits are the PSN. */
    private long expected;
    /**
     * The sequence number of the last packet of a SEND or WRITE, which is the last that an ACK may name: READs and
     * atomics are acknowledged by their responses alone, and Linux takes an ACK with a READ's PSN for the READ's end,
     * without the data.
     */
    private long lastAckable;
    private int msn;
    private Message message = Message.NONE;
    /** XRC: the shared receive queue of the message. */
    private int messageQueue;
    /** A NAK was sent for a missing packet: packets before it arrives are dropped silently. */
    private boolean nakSent;
    private int rnrTimer;

    private int syndrome = NO_SYNDROME;
    private long syndromeSequence;

    Responder(ReliableQueuePair qp) {
        this.qp = qp;
        owner = qp.owner;
        incoming = new CurrentReceive(owner);
        write = new IncomingWrite(qp);
        resources = new ResponderResources(qp);
        oneSided = new OneSided(qp, resources);
    }

    void begin(int psn) {
        clear();
        expected = psn;
        lastAckable = expected - 1;
        msn = 0;
    }

    void setRnrTimer(int code) {
        rnrTimer = code;
    }

    void setDepth(int n) {
        resources.setDepth(n);
    }

    void clear() {
        incoming.putBack();
        message = Message.NONE;
        nakSent = false;
        syndrome = NO_SYNDROME;
        resources.clear();
        delay.clear();
    }

    /** A request of our own has been posted. */
    void requestPosted() {
        delay.requestPosted();
    }

    void discardResponses() {
        syndrome = NO_SYNDROME;
        resources.clearQueue();
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
            qp.transport.drop(DropReason.SEQUENCE);
        } else {
            nakSent = true;
            answer(Aeth.NAK_SEQUENCE, expected);
        }
    }

    private void duplicate(Packet p, long sequence) {
        owner.count(SamplePoint.QP_DUPLICATE_REQUESTS, 1);
        boolean known = true;
        if (p.operation() == PacketOpcode.READ_REQUEST) {
            known = resources.replayRead(sequence, Reth.address(p.extended), Reth.rkey(p.extended), Reth.length(
                    p.extended));
        } else if (p.has(PacketOpcode.EXPECTS_RESPONSE)) {
            long eth = p.extended + (p.operation() == PacketOpcode.FLUSH ? Feth.BYTES : 0);
            known = resources.replay(sequence, Reth.address(eth), Reth.rkey(eth)); // an AtomicETH begins like a RETH
        } else if (sequence > lastAckable) {
            known = false;
        } else if (syndrome == NO_SYNDROME) {
            delay.duplicateReceived();
            answer(Aeth.ACK, lastAckable);
        }
        if (!known) {
            qp.transport.drop(DropReason.SEQUENCE);
        }
        qp.transport.schedule(qp);
    }

    private void execute(Packet p) {
        if (!isInSequence(p)) {
            invalidRequest("the peer's packets do not form a message");
            return;
        }
        ReceiveSource queue = owner.receives();
        if (qp.type() == QueuePairType.XRC_RECV) {
            int number = p.sharedReceiveQueue();
            queue = message == Message.NONE || number == messageQueue ? owner.sharedReceiveQueue(number) : null;
            if (queue == null) {
                invalidRequest("the peer names a shared receive queue that its domain does not have");
                return;
            }
            messageQueue = number;
        }
        if (p.has(PacketOpcode.IS_SEND)) {
            send(p, queue);
        } else if (p.has(PacketOpcode.IS_WRITE)) {
            write(p, queue);
        } else {
            oneSided(p, memory(queue));
        }
    }

    /** First and only packets begin a message, middle and last ones continue it (9.7.4.1.2). */
    private boolean isInSequence(Packet p) {
        if (p.has(PacketOpcode.IS_FIRST)) {
            return message == Message.NONE;
        }
        return message == (p.has(PacketOpcode.IS_SEND) ? Message.SEND : Message.WRITE);
    }

    /** The memory that the peer's keys refer to. */
    private Memory memory(@Nullable ReceiveSource queue) {
        return qp.type() == QueuePairType.XRC_RECV && queue != null ? queue.memory() : owner.memory();
    }

    // ---- SEND

    private void send(Packet p, @Nullable ReceiveSource queue) {
        if (!hasValidLength(p, qp.mtu)) {
            invalidRequest("a packet of a SEND has a wrong length");
            return;
        }
        if (p.has(PacketOpcode.IS_FIRST) && (queue == null || !incoming.take(queue))) {
            receiverNotReady();
            return;
        }
        if (p.has(PacketOpcode.HAS_INVALIDATE)
                && memory(queue).invalidate(qp.number(), p.immediate(), true) != 0) {
            incoming.setFailureStatus(WcStatus.REM_INV_REQ_ERR);
            refuse(Aeth.NAK_REMOTE_ACCESS, "the peer invalidates a key that it may not invalidate",
                    AsyncEventType.QP_ACCESS_ERR);
            return;
        }
        int status = incoming.put(p.payload, p.length);
        if (status != WcStatus.SUCCESS) {
            incoming.setFailureStatus(status);
            if (status == WcStatus.LOC_LEN_ERR) {
                refuse(Aeth.NAK_INVALID_REQUEST, "a message did not fit into its receive", -1);
            } else {
                refuse(Aeth.NAK_REMOTE_OPERATION, "a receive names memory that it may not use", -1);
            }
            return;
        }
        message = p.has(PacketOpcode.IS_LAST) ? Message.NONE : Message.SEND;
        if (message == Message.NONE) {
            int flags = p.has(PacketOpcode.HAS_IMMEDIATE)
                    ? WcFlags.WITH_IMM
                    : p.has(PacketOpcode.HAS_INVALIDATE) ? WcFlags.WITH_INV : 0;
            incoming.complete(WcOpcode.RECV, incoming.offset(), flags == 0 ? 0 : p.immediate(), flags,
                    qp.destination, p.solicited);
        }
        done(p);
    }

    /** First and middle packets have MTU length, a last one is not empty (9.7.4.1.6). */
    static boolean hasValidLength(Packet p, int mtu) {
        if (!p.has(PacketOpcode.IS_LAST)) {
            return p.length == mtu;
        }
        return p.length <= mtu && (p.length > 0 || p.has(PacketOpcode.IS_FIRST));
    }

    // ---- WRITE

    private void write(Packet p, @Nullable ReceiveSource queue) {
        if ((qp.accessFlags & AccessFlags.REMOTE_WRITE) == 0) {
            invalidRequest("the peer writes, and the queue pair does not allow it");
            return;
        }
        if (!hasValidLength(p, qp.mtu) || !write.hasValidLength(p)) {
            invalidRequest("a packet of a WRITE has a wrong length");
            return;
        }
        if (p.has(PacketOpcode.HAS_IMMEDIATE) && (queue == null || !incoming.take(queue))) {
            receiverNotReady();
            return;
        }
        if (!write.put(memory(queue), p)) {
            incoming.putBack();
            refuse(Aeth.NAK_REMOTE_ACCESS, "the peer writes where it may not", AsyncEventType.QP_ACCESS_ERR);
            return;
        }
        message = p.has(PacketOpcode.IS_LAST) ? Message.NONE : Message.WRITE;
        if (message == Message.NONE) {
            owner.count(SamplePoint.QP_RX_WRITES, 1);
            owner.count(SamplePoint.QP_RX_WRITE_BYTES, write.length());
            if (p.has(PacketOpcode.HAS_IMMEDIATE)) {
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
            default -> invalidRequest(
                    "the peer's request is malformed, not allowed, or exceeds the negotiated number of outstanding ones");
        }
    }

    // ---- responses

    private void done(Packet p) {
        lastAckable = expected++;
        if (message == Message.NONE) {
            msn++;
        }
        if (p.acknowledge) {
            answer(Aeth.ACK, lastAckable);
        }
    }

    private void receiverNotReady() {
        owner.count(SamplePoint.QP_RX_OUT_OF_BUFFER, 1);
        nakSent = true; // the requester retransmits what follows by itself
        answer(Aeth.RNR_NAK | rnrTimer, expected);
    }

    private void invalidRequest(String reason) {
        refuse(Aeth.NAK_INVALID_REQUEST, reason, AsyncEventType.QP_REQ_ERR);
    }

    private void refuse(int nak, String reason, int event) {
        owner.count(QueuePairPoints.ofRefusal(event), 1);
        answer(nak, expected);
        qp.refuse(reason, event);
    }

    private void answer(int with, long sequence) {
        syndrome = with;
        syndromeSequence = sequence;
        qp.transport.schedule(qp);
    }

    /**
     * Sends responses, and after them the ACK or NAK.
     *
     * @return false if the wire or the budget leaves something for later
     */
    boolean sendResponses() {
        switch (resources.send(RESPONSE_BUDGET)) {
            case MORE -> {
                return false;
            }
            case REFUSED -> {
                refuse(Aeth.NAK_REMOTE_ACCESS, "the peer reads memory that is no longer registered",
                        AsyncEventType.QP_ACCESS_ERR);
                syndromeSequence = resources.failedSequence();
                resources.clearQueue();
            }
            case DONE -> {
                // the ACK
            }
        }
        if (syndrome == NO_SYNDROME) {
            return true;
        }
        boolean longDelay = delay.allowsLongDelay();
        if (syndrome == Aeth.ACK && qp.transport.delaysAck(longDelay)) {
            return false;
        }
        long a = qp.wire.next();
        if (a == 0) {
            return false;
        }
        Bth.put(a, qp.wireTransport | PacketOpcode.ACKNOWLEDGE, false, 0, qp.destination, false,
                (int) syndromeSequence);
        Aeth.put(a + Bth.BYTES, syndrome, msn);
        syndrome = NO_SYNDROME;
        delay.sent(longDelay);
        qp.sendToPeer(Bth.BYTES + Aeth.BYTES);
        return true;
    }
}
