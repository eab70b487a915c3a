// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.verbena.roce.transport.Packets.ACK;
import static org.verbena.roce.transport.Packets.SEND_ONLY;
import static org.verbena.roce.transport.Packets.bytes;
import static org.verbena.roce.transport.Packets.packet;
import static org.verbena.roce.transport.Script.in;
import static org.verbena.roce.transport.Script.own;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.spi.SendOpcode;

/** How long an ACK is delayed when both sides alternate, with continuous polling. */
class AckDelayScriptTest {
    /** Calls after which the ACK of one-way traffic was sent. */
    private static final int USUAL = 20;
    /** Calls after which any ACK was sent. */
    private static final int LONGEST = 130;

    private Script s;
    private int heard;
    private int said;

    @BeforeEach
    void connect() throws Exception {
        s = Script.connected(QueuePairType.RC);
        for (int i = 0; i < 100; i++) {
            s.end.receives.post(i, TestEnd.KEY, s.end.at(0), 100);
        }
    }

    private void poll(int times) {
        for (int i = 0; i < times; i++) {
            s.end.transport.progress(64, true);
        }
    }

    private void hear() {
        s.network.inject(Script.PEER, Script.OWN, packet(SEND_ONLY, Script.NUMBER, in(heard++), true, bytes(4)));
        poll(1);
    }

    private void say() {
        s.end.post(s.end.wqe(said, SendOpcode.SEND));
        s.leaves(SEND_ONLY, own(said++));
    }

    /** The peer's message, its ACK after the usual calls, and a message of our own, {@code turns} times. */
    private void talk(int turns) {
        for (int i = 0; i < turns; i++) {
            hear();
            poll(USUAL);
            s.leaves(ACK, in(heard - 1)).nothingLeaves();
            say();
        }
    }

    /** Otherwise its peer would see a message flushed that has arrived. */
    @Test
    void endOfConnectionSendsPendingAck() {
        hear();
        s.nothingLeaves();
        s.end.qp.modify(QueuePairState.ERR, QueuePairAttributes.to(QueuePairState.ERR).build(), null);
        s.leaves(ACK, in(0)).nothingLeaves();
        s.end.qp.close();
        s.nothingLeaves();
    }

    @Test
    void alternatingTrafficSendsOneAckForEight() {
        talk(8);
        for (int i = 0; i < 7; i++) {
            hear();
            poll(3);
            s.nothingLeaves();
            say();
        }
        hear();
        poll(USUAL);
        s.leaves(ACK, in(heard - 1)).nothingLeaves();
    }

    @Test
    void silentPeerGetsAckAndShorterDelay() {
        talk(8);
        hear();
        poll(USUAL);
        s.nothingLeaves();
        say();
        poll(LONGEST);
        s.leaves(ACK, in(heard - 1)).nothingLeaves();
        talk(15); // twice as many as before
        hear();
        poll(USUAL);
        s.nothingLeaves();
    }

    /** A conversation whose last two messages had one ACK. */
    private void converse() {
        talk(8);
        hear();
        say();
        hear();
        poll(USUAL);
        s.nothingLeaves();
        poll(LONGEST);
        s.leaves(ACK, in(heard - 1)).nothingLeaves();
    }

    @Test
    void oneWayTrafficSendsAckAfterShortDelay() {
        converse();
        hear(); // no request of our own in between
        poll(USUAL);
        s.leaves(ACK, in(heard - 1)).nothingLeaves();
    }

    @Test
    void duplicateIsAcknowledgedAfterShortDelay() {
        converse();
        say();
        heard--;
        hear();
        poll(USUAL);
        s.leaves(ACK, in(heard - 1)).nothingLeaves();
    }

    @Test
    void stoppedPollerFlushesAcks() {
        talk(8);
        hear();
        s.end.transport.flushAcks();
        s.leaves(ACK, in(heard - 1)).nothingLeaves();
    }
}
