// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcStatus;

/** One end, whose peer is the test: it writes packets by hand and checks those that are sent back. */
final class Script {
    static final Gid OWN = Gid.parse("::ffff:10.0.0.1");
    static final Gid PEER = Gid.parse("::ffff:10.0.0.2");
    static final int NUMBER = 0x11;
    static final int PEER_NUMBER = 0xabcdef;
    /** Both close to the end of the PSN space, so that each test wraps. */
    static final int OWN_PSN = 0xfffffe;
    static final int PEER_PSN = 0xffffff;
    /** Memory of the peer's, which requests name. */
    private static final int REMOTE_KEY = 0x4711;
    private static final long REMOTE = 0x1122334455667788L;
    private static final int TIMEOUT_CODE = 14;
    /** As the code says: 4.096 µs · 2^14. */
    static final long TIMEOUT = 67_108_864;

    final VirtualNetwork network = new VirtualNetwork(new Random(0));
    final TestEnd end;
    private final List<byte[]> out = new ArrayList<>();

    Script(int type) {
        this(type, OWN);
    }

    Script(int type, Gid own) {
        end = new TestEnd(network, own, NUMBER, type, 1 << 16, false);
        end.mtu = 256;
        end.timeout = TIMEOUT_CODE;
        network.faults = new VirtualNetwork.Faults(100, 0, 0, 0, 0); // sent packets are checked, and dropped
        network.tap = out::add;
    }

    static Script connected(int type) throws Exception {
        Script s = new Script(type);
        s.end.connect(PEER, PEER_NUMBER, PEER_PSN, OWN_PSN);
        return s;
    }

    /** The peer's n-th PSN. */
    static int in(int n) {
        return PEER_PSN + n & 0xffffff;
    }

    /** The own n-th PSN. */
    static int own(int n) {
        return OWN_PSN + n & 0xffffff;
    }

    /** A request of this end that is not posted yet: of one buffer, or of none if the length is negative. */
    SendWqe wqe(long id, int opcode, long length) {
        SendWqe w = end.wqe(id, opcode);
        w.rkey = REMOTE_KEY;
        w.remoteAddress = REMOTE;
        if (length >= 0) {
            w.addSge(TestEnd.KEY, end.at(0), length);
        }
        return w;
    }

    void post(long id, int opcode, long length) {
        end.post(wqe(id, opcode, length));
    }

    /** An ACK or NAK of the peer's arrives. */
    void acknowledge(int psn, int syndrome) {
        arrives(Packets.ACK, psn, false, Packets.aeth(syndrome, 0));
    }

    /** These requests have succeeded, and no others are done. */
    void assertDone(long... ids) {
        assertThat(end.sent).extracting(TestEnd.Sent::wrId).containsExactly(Arrays.stream(ids).boxed()
                .toArray(Long[]::new));
        assertThat(end.sent).extracting(TestEnd.Sent::status).containsOnly(WcStatus.SUCCESS);
    }

    /** A NAK leaves, and the connection has failed. */
    void assertRefused(int nak, int psn, int msn) {
        leaves(Packets.ACK, psn, String.format("%02x%06x", nak, msn)).nothingLeaves();
        assertThat(end.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    /** A packet of the peer arrives. */
    void arrives(int opcode, int psn, boolean acknowledge, byte[]... parts) {
        network.inject(PEER, OWN, Packets.packet(opcode, NUMBER, psn, acknowledge, parts));
        progress();
    }

    /** Several packets arrive before any response. */
    void arriveTogether(byte[]... packets) {
        for (byte[] p : packets) {
            network.inject(PEER, OWN, p);
        }
        progress();
    }

    void progress() {
        while (end.transport.progress(64) > 0 || end.transport.nextDeadline() <= network.now()) {
            // until it is idle
        }
    }

    /** Time passes, and expired timers run. */
    void pass(long nanos) {
        network.advanceTo(network.now() + nanos);
        progress();
    }

    /** The next packet that was sent; opcode, destination, PSN, then headers and payload as a hexadecimal number. */
    Script leaves(int opcode, int psn, String rest) {
        assertThat(out).as("packets that were sent").isNotEmpty();
        ByteBuffer b = ByteBuffer.wrap(out.removeFirst());
        assertThat(b.get() & 0xff).as("opcode").isEqualTo(opcode);
        int second = b.get();
        assertThat(second & 0x0f).as("version").isZero();
        assertThat(b.getShort()).as("partition key").isEqualTo((short) 0xffff);
        assertThat(b.getInt() & 0xffffff).as("destination").isEqualTo(PEER_NUMBER);
        assertThat(b.getInt() & 0xffffff).as("PSN").isEqualTo(psn);
        String got = HexFormat.of().formatHex(b.array(), b.position(), b.limit());
        assertThat(got).as("what follows the BTH").isEqualTo(rest);
        return this;
    }

    /** The next packet that was sent, whatever follows its BTH. */
    Script leaves(int opcode, int psn) {
        assertThat(out).as("packets that were sent").isNotEmpty();
        byte[] p = out.getFirst();
        return leaves(opcode, psn, HexFormat.of().formatHex(p, 12, p.length));
    }

    void nothingLeaves() {
        assertThat(out.stream().map(HexFormat.of()::formatHex)).as("packets that were sent").isEmpty();
    }

    /** Bytes of the own memory. */
    byte[] memory(long offset, int length) {
        return end.memory.segment().asSlice(offset, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    }

    long drops(DropReason reason) {
        return end.transport.dropped(reason);
    }
}
