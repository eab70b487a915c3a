// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.spi.SendOpcode;

/**
 * Packets that are almost valid, from the peer's own address and now and then from another. Whatever they are, nothing
 * throws, and no memory changes except what was granted; packets of a stranger change nothing and get no response.
 */
final class GarbagePackets {
    private static final int MEMORY = 1 << 16;
    private static final byte[] ZEROS = new byte[MEMORY];
    /** Bytes that the peer may write; those before and after must not change. */
    private static final int GRANTED = 16384;
    private static final int GRANTED_BYTES = 8192;
    private static final int READABLE = 0x2200;
    private static final int WRITABLE = 0x3300;
    /** Buffers of receives and of the data of own reads. */
    private static final int OWN = 40_000;
    private static final int OWN_BYTES = 8192;
    private static final int SRQ = 5;
    private static final int QKEY = 0x1234;
    private static final int[] TYPES = {QueuePairType.RC, QueuePairType.UC, QueuePairType.UD, QueuePairType.XRC_RECV,
        QueuePairType.XRC_SEND};

    private static final Gid OWN_6 = Gid.parse("fd00::1");
    private static final Gid PEER_6 = Gid.parse("fd00::2");
    private static final Gid STRANGER_4 = Gid.parse("::ffff:10.0.0.3");
    /** Differs from the peer in the upper word only. */
    private static final Gid STRANGER_6 = Gid.parse("fd01::2");

    /** Number of failures of a queue pair. */
    int errors;
    /** Number of completed receives. */
    int receives;
    /** Number of dropped packets of strangers. */
    int strangers;

    private static byte[] garbage(Random random, GarbageMaker maker, int type, List<byte[]> seen) {
        byte[] p;
        if (!seen.isEmpty() && random.nextInt(4) == 0) {
            p = seen.get(random.nextInt(seen.size())).clone(); // one of its own packets returns
            ByteBuffer.wrap(p).putInt(4, Script.NUMBER);
        } else {
            p = maker.make(random, type);
        }
        for (int n = random.nextInt(3); n > 0 && p.length > 0; n--) {
            p[random.nextInt(p.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return random.nextInt(10) == 0 ? Arrays.copyOf(p, random.nextInt(p.length + 1)) : p;
    }

    private static Gid peer(Script s) {
        return s.end.gid.equals(OWN_6) ? PEER_6 : Script.PEER;
    }

    private static void connect(Script s, int type) throws Exception {
        if (type == QueuePairType.UD) {
            s.end.qp.modify(QueuePairState.INIT, QueuePairAttributes.to(QueuePairState.INIT).qkey(QKEY).build(), null);
            s.end.to(QueuePairState.RTR);
            s.end.toSend(Script.OWN_PSN);
        } else {
            s.end.connect(peer(s), Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        }
    }

    private static void ownWork(Random random, Script s, int type) throws Exception {
        if (s.end.qp.sends().room() < 40 || type == QueuePairType.XRC_RECV) {
            return;
        }
        int op = type == QueuePairType.RC || type == QueuePairType.XRC_SEND
                ? new int[] {SendOpcode.SEND, SendOpcode.READ, SendOpcode.WRITE, SendOpcode.FETCH_ADD}[random
                        .nextInt(4)]
                : SendOpcode.SEND;
        SendWqe w = s.end.wqe(1, op);
        w.path = s.end.wire.path(s.end.gid, 0, peer(s), 0, 0, 1);
        w.addSge(TestEnd.KEY, s.end.at(OWN + 8L * random.nextInt(100)), op == SendOpcode.FETCH_ADD
                ? 8
                : random.nextInt(1500));
        s.end.post(w);
    }

    private static void assertOnlyGrantedChanged(Script s) {
        byte[] all = s.memory(0, MEMORY);
        assertZeros(all, 0, GRANTED);
        assertZeros(all, GRANTED + GRANTED_BYTES, OWN);
        assertZeros(all, OWN + OWN_BYTES, MEMORY);
    }

    private static void assertZeros(byte[] all, int from, int to) {
        int at = Arrays.mismatch(all, from, to, ZEROS, 0, to - from);
        if (at >= 0) {
            throw new AssertionError("byte " + (from + at) + " has changed");
        }
    }

    /** Number of callbacks of the owner. */
    private static int told(Script s) {
        return s.end.sent.size() + s.end.received.size() + s.end.events.size() + s.end.reasons.size();
    }

    /** A packet of a stranger that names the queue pair, and may have all its numbers and keys right. */
    private void stranger(Script s, byte[] packet) {
        s.progress(); // completes all work for the peer's packets
        byte[] before = s.memory(0, MEMORY);
        QueuePairState state = s.end.qp.state();
        int told = told(s);
        long dropped = s.end.transport.dropped();
        int[] left = {0};
        Consumer<byte[]> tap = s.network.tap;
        s.network.tap = p -> left[0]++;
        s.network.inject(s.end.gid.equals(OWN_6) ? STRANGER_6 : STRANGER_4, s.end.gid, packet);
        s.progress();
        s.network.tap = tap;
        int at = Arrays.mismatch(s.memory(0, MEMORY), before);
        if (at >= 0 || left[0] != 0 || s.end.qp.state() != state || told(s) != told
                || s.end.transport.dropped() != dropped + 1) {
            throw new AssertionError("a stranger's packet: byte " + at + " has changed (-1: none), " + left[0]
                    + " answers, from " + state + " to " + s.end.qp.state() + ", the owner was told "
                    + (told(s) - told) + " times, dropped " + (s.end.transport.dropped() - dropped));
        }
        strangers++;
    }

    /** Makes one end, lets packets arrive there, and checks its memory. */
    void run(Random random, BooleanSupplier over) throws Exception {
        int kind = random.nextInt(2 * TYPES.length);
        int type = TYPES[kind % TYPES.length];
        Script s = new Script(type, kind < TYPES.length ? Script.OWN : OWN_6);
        List<byte[]> seen = new ArrayList<>();
        s.network.tap = p -> {
            if (seen.size() < 50) {
                seen.add(p);
            }
        };
        s.end.memory.add(TestEnd.KEY, OWN, OWN_BYTES, AccessFlags.LOCAL_WRITE);
        s.end.memory.add(READABLE, 0, MEMORY, AccessFlags.REMOTE_READ);
        s.end.memory.add(WRITABLE, GRANTED, GRANTED_BYTES, AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL);
        TestReceives shared = new TestReceives(s.end.memory, true);
        s.end.queues.put(SRQ, shared);
        connect(s, type);
        GarbageMaker maker = new GarbageMaker(Script.NUMBER, s.end.at(GRANTED), GRANTED_BYTES, MEMORY, SRQ, QKEY,
                Script.PEER_PSN, Script.OWN_PSN, WRITABLE, READABLE, TestEnd.KEY);
        TestReceives queue = type == QueuePairType.XRC_RECV ? shared : s.end.receives;
        for (int i = 0; !over.getAsBoolean(); i++) {
            if (queue.size() < 3 && random.nextBoolean()) {
                queue.post(i, TestEnd.KEY, s.end.at(OWN), random.nextInt(OWN_BYTES));
            }
            if (random.nextInt(5) == 0) {
                ownWork(random, s, type);
            }
            s.network.inject(peer(s), s.end.gid, garbage(random, maker, type, seen));
            s.progress();
            switch (random.nextInt(20)) {
                case 0 -> s.pass(random.nextLong(200_000_000));
                case 1 -> {
                    if (type != QueuePairType.UD) { // which accepts datagrams from any sender
                        stranger(s, garbage(random, maker, type, seen));
                    }
                }
                default -> {
                    // the next one
                }
            }
            if (!s.end.qp.state().receives() || !s.end.qp.state().acceptsSends()) {
                errors++;
                s.end.to(QueuePairState.RESET);
                connect(s, type);
            } else if (s.end.qp.state() == QueuePairState.SQE) {
                s.end.to(QueuePairState.RTS);
            }
        }
        receives += s.end.received.size();
        assertOnlyGrantedChanged(s);
    }
}
