// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.roce.transport.Packets.ACK;
import static org.verbena.roce.transport.Packets.ATOMIC_ACK;
import static org.verbena.roce.transport.Packets.ATOMIC_WRITE;
import static org.verbena.roce.transport.Packets.COMPARE_AND_SWAP;
import static org.verbena.roce.transport.Packets.FETCH_AND_ADD;
import static org.verbena.roce.transport.Packets.FLUSH;
import static org.verbena.roce.transport.Packets.READ;
import static org.verbena.roce.transport.Packets.READ_FIRST;
import static org.verbena.roce.transport.Packets.READ_LAST;
import static org.verbena.roce.transport.Packets.READ_MIDDLE;
import static org.verbena.roce.transport.Packets.READ_ONLY;
import static org.verbena.roce.transport.Packets.WRITE_ONLY;
import static org.verbena.roce.transport.Packets.atomicEth;
import static org.verbena.roce.transport.Packets.bytes;
import static org.verbena.roce.transport.Packets.packet;
import static org.verbena.roce.transport.Packets.reth;
import static org.verbena.roce.transport.Packets.word;
import static org.verbena.roce.transport.Script.in;

import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;

/**
 * What a responder of type RC answers to READs, atomics, FLUSH and ATOMIC WRITE, which keep their answers until no duplicate can come
 * (IBTA volume 1, 9.7.5.1).
 */
class ResponderReadScriptTest {
    private Script s;

    @BeforeEach
    void connect() throws Exception {
        s = Script.connected(QueuePairType.RC);
    }

    private long at(long offset) {
        return s.end.at(offset);
    }

    // ---- READ

    @Test
    void readResponseIsSplit() {
        s.end.memory.segment().asSlice(100, 600).copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes(600)));
        s.arrives(READ, in(0), true, reth(at(100), TestEnd.KEY, 515));
        String hex = HexFormat.of().formatHex(bytes(600));
        s.leaves(READ_FIRST, in(0), "1f000001" + hex.substring(0, 512))
                .leaves(READ_MIDDLE, in(1), hex.substring(512, 1024))
                .leaves(READ_LAST, in(2), "1f000001" + hex.substring(1024, 1030) + "00")
                .nothingLeaves();
        s.arrives(WRITE_ONLY, in(3), true, reth(0, 0, 0)); // the response used three PSNs
        s.leaves(ACK, in(3), "1f000002").nothingLeaves();
        assertThat(s.end.count(SamplePoint.QP_RX_READ_BYTES)).isEqualTo(515);
    }

    @Test
    void emptyReadHasEmptyResponse() {
        s.arrives(READ, in(0), true, reth(-1, 0, 0));
        s.leaves(READ_ONLY, in(0), "1f000001").nothingLeaves();
    }

    @Test
    void ackFollowsEarlierResponses() {
        s.arriveTogether(packet(READ, Script.NUMBER, in(0), true, reth(at(0), TestEnd.KEY, 4)),
                packet(WRITE_ONLY, Script.NUMBER, in(1), true, reth(0, 0, 0)));
        s.leaves(READ_ONLY, in(0), "1f00000100000000").leaves(ACK, in(1), "1f000002").nothingLeaves();
    }

    @Test
    void duplicateReadIsReplayedFromItsPsn() {
        s.arrives(READ, in(0), true, reth(at(0), TestEnd.KEY, 600));
        s.leaves(READ_FIRST, in(0)).leaves(READ_MIDDLE, in(1)).leaves(READ_LAST, in(2)).nothingLeaves();
        s.arrives(READ, in(1), true, reth(at(256), TestEnd.KEY, 344));
        s.leaves(READ_FIRST, in(1)).leaves(READ_LAST, in(2)).nothingLeaves();
        s.arrives(READ, in(2), true, reth(at(512), TestEnd.KEY, 88));
        s.leaves(READ_ONLY, in(2)).nothingLeaves();
        s.arrives(READ, in(0), true, reth(at(0), TestEnd.KEY, 256)); // a part of it is requested
        s.leaves(READ_ONLY, in(0)).nothingLeaves();
    }

    @Test
    void differingDuplicateReadIsDropped() {
        s.end.memory.add(5, 0, 4096, AccessFlags.ALL);
        s.arrives(READ, in(0), true, reth(at(0), TestEnd.KEY, 600));
        s.leaves(READ_FIRST, in(0)).leaves(READ_MIDDLE, in(1)).leaves(READ_LAST, in(2)).nothingLeaves();
        s.arrives(READ, in(1), true, reth(at(0), TestEnd.KEY, 300)); // not the address of that packet
        s.arrives(READ, in(0), true, reth(at(0), TestEnd.KEY, 601)); // longer
        s.arrives(READ, in(0), true, reth(at(0), 5, 600)); // with another key
        s.arrives(READ, in(-1), true, reth(at(0), TestEnd.KEY, 600)); // no such request is kept
        s.nothingLeaves();
        assertThat(s.drops(DropReason.SEQUENCE)).isEqualTo(4);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void memoryDeregisteredDuringReadIsAccessError() {
        s.arrives(READ, in(0), true, reth(at(0), TestEnd.KEY, 600));
        s.leaves(READ_FIRST, in(0)).leaves(READ_MIDDLE, in(1)).leaves(READ_LAST, in(2)).nothingLeaves();
        s.end.memory.remove(TestEnd.KEY);
        s.arrives(READ, in(1), true, reth(at(256), TestEnd.KEY, 344));
        s.assertRefused(0x62, in(1), 1);
    }

    // ---- atomics

    @Test
    void atomicReturnsPreviousValueAndExecutesOnce() {
        s.end.memory.segment().set(ValueLayout.JAVA_LONG, 8, 40);
        s.arrives(FETCH_AND_ADD, in(0), true, atomicEth(at(8), TestEnd.KEY, 2, 0));
        s.leaves(ATOMIC_ACK, in(0), "1f0000010000000000000028").nothingLeaves();
        s.arrives(COMPARE_AND_SWAP, in(1), true, atomicEth(at(8), TestEnd.KEY, 7, 42));
        s.leaves(ATOMIC_ACK, in(1), "1f000002000000000000002a").nothingLeaves();
        s.arrives(COMPARE_AND_SWAP, in(2), true, atomicEth(at(8), TestEnd.KEY, 9, 42));
        s.leaves(ATOMIC_ACK, in(2), "1f0000030000000000000007").nothingLeaves();
        s.arrives(FETCH_AND_ADD, in(0), true, atomicEth(at(8), TestEnd.KEY, 2, 0));
        s.leaves(ATOMIC_ACK, in(0), "1f0000010000000000000028").nothingLeaves();
        assertThat(s.end.memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(7);
    }

    @Test
    void responsesBeyondDepthAreForgotten() {
        for (int i = 0; i < 5; i++) { // four are kept
            s.arrives(FETCH_AND_ADD, in(i), true, atomicEth(at(8), TestEnd.KEY, 1, 0));
            s.leaves(ATOMIC_ACK, in(i));
        }
        s.arrives(FETCH_AND_ADD, in(0), true, atomicEth(at(8), TestEnd.KEY, 1, 0));
        s.nothingLeaves();
        s.arrives(FETCH_AND_ADD, in(1), true, atomicEth(at(8), TestEnd.KEY, 1, 0));
        s.leaves(ATOMIC_ACK, in(1), "1f0000020000000000000001").nothingLeaves();
        assertThat(s.end.memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(5);
    }

    @Test
    void flushAndAtomicWriteHaveEmptyReadResponse() {
        byte[] value = new byte[] {1, 2, 3, 4, 5, 6, 7, 8};
        s.arrives(ATOMIC_WRITE, in(0), true, reth(at(8), TestEnd.KEY, 8), value);
        s.leaves(READ_ONLY, in(0), "1f000001").nothingLeaves();
        assertThat(s.memory(8, 8)).isEqualTo(value);
        s.arrives(FLUSH, in(1), true, word(0x01), reth(at(0), TestEnd.KEY, 100));
        s.leaves(READ_ONLY, in(1), "1f000002").nothingLeaves();
        s.arrives(FLUSH, in(2), true, word(0x11), reth(0, TestEnd.KEY, 100)); // level region: the range is ignored
        s.leaves(READ_ONLY, in(2), "1f000003").nothingLeaves();
        s.end.memory.segment().set(ValueLayout.JAVA_LONG, 8, 0);
        s.arrives(ATOMIC_WRITE, in(0), true, reth(at(8), TestEnd.KEY, 8), value);
        s.leaves(READ_ONLY, in(0), "1f000001").nothingLeaves();
        assertThat(s.memory(8, 8)).containsOnly(0);
    }
}
