// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.roce.transport.Packets.ACK;
import static org.verbena.roce.transport.Packets.ATOMIC_ACK;
import static org.verbena.roce.transport.Packets.FETCH_AND_ADD;
import static org.verbena.roce.transport.Packets.READ;
import static org.verbena.roce.transport.Packets.READ_ONLY;
import static org.verbena.roce.transport.Packets.atomicEth;
import static org.verbena.roce.transport.Packets.packet;
import static org.verbena.roce.transport.Packets.reth;
import static org.verbena.roce.transport.Script.in;

import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;

/** READs and atomics up to the negotiated depth, and one more (IBTA volume 1, 9.7.4.1.3). */
class DepthScriptTest {
    private static final int DEPTH = 4;

    private Script s;

    @BeforeEach
    void connect() throws Exception {
        s = new Script(QueuePairType.RC);
        s.end.depth = DEPTH;
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
    }

    private byte[] add(int n) {
        return packet(FETCH_AND_ADD, Script.NUMBER, in(n), true, atomicEth(s.end.at(8), TestEnd.KEY, 1, 0));
    }

    private byte[] read(int n) {
        return packet(READ, Script.NUMBER, in(n), true, reth(s.end.at(0), TestEnd.KEY, 4));
    }

    private long value() {
        return s.end.memory.segment().get(ValueLayout.JAVA_LONG, 8);
    }

    @ParameterizedTest
    @ValueSource(ints = {READ, FETCH_AND_ADD})
    void requestBeyondDepthIsInvalidAndNotExecuted(int more) {
        s.arriveTogether(add(0), add(1), add(2), add(3), more == READ ? read(4) : add(4));
        for (int i = 0; i < DEPTH; i++) {
            s.leaves(ATOMIC_ACK, in(i));
        }
        s.leaves(ACK, in(4), "61000004").nothingLeaves();
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
        assertThat(value()).isEqualTo(DEPTH);
    }

    @Test
    void duplicatesUpToDepthAreReplayed() {
        for (int round = 0; round < 5; round++) {
            int n = DEPTH * round;
            s.arriveTogether(add(n), read(n + 1), add(n + 2), read(n + 3));
            s.leaves(ATOMIC_ACK, in(n)).leaves(READ_ONLY, in(n + 1)).leaves(ATOMIC_ACK, in(n + 2)).leaves(READ_ONLY, in(
                    n
                            + 3)).nothingLeaves();
        }
        assertThat(value()).isEqualTo(10);
    }

    /** It was late: a requester that sends one more request has received the response. */
    @Test
    void replayedResponseDoesNotCount() {
        s.arriveTogether(add(0), add(1), add(2), add(3));
        for (int i = 0; i < DEPTH; i++) {
            s.leaves(ATOMIC_ACK, in(i));
        }
        s.arriveTogether(add(0), add(4));
        s.leaves(ATOMIC_ACK, in(4)).nothingLeaves();
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.RTS);
        assertThat(value()).isEqualTo(5);
    }
}
