// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.link.PortAddress;
import org.verbena.roce.link.UdpWire;
import org.verbena.roce.transport.Path;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.CounterTarget;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Gid;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;

/** A context on loopback with a connection to a peer whose packets the test writes, byte by byte. */
abstract class HandMadePackets {
    static final Gid PEER = Gid.parse("::ffff:127.66.6.8");
    static final Gid STRANGER = Gid.parse("::ffff:127.66.6.9");
    static final int QKEY = 0x1234;
    static final int PEERS_NUMBER = 0xabcdef;
    static final int PSN = 100;
    static final int RC_SEND_ONLY = 0x04;
    static final int UD_SEND_ONLY = 0x64;
    static final int CNP = 0x81;
    static final int DEFAULT_PKEY = 0xffff;
    static final int CONGESTION_EXPERIENCED = 3;
    static final long PATIENCE_NANOS = 20_000_000_000L;

    Context context;
    ProtectionDomain pd;
    CompletionQueue cq;
    QueuePair rc;
    QueuePair ud;
    UdpWire peer;
    UdpWire stranger;

    @BeforeEach
    final void open() throws Exception {
        context = LoopbackDevice.open();
        peer = UdpWire.open(List.of(new PortAddress(PEER, 1)), 65536, true);
        stranger = UdpWire.open(List.of(new PortAddress(STRANGER, 1)), 65536, true);
        pd = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(16);
        rc = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(4).maxReceiveWr(4).build());
        rc.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
        rc.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(PEER)).pathMtu(1024)
                .destinationQueuePair(PEERS_NUMBER).rqPsn(PSN).maxDestReadAtomic(1).minRnrTimer(1).build());
        ud = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.UD).maxSendWr(4)
                .maxReceiveWr(4).build());
        ud.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY).build());
        ud.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
    }

    @AfterEach
    final void close() throws Exception {
        peer.close();
        stranger.close();
        context.close();
    }

    /** A packet with the expected PSN: the base transport header, and words after it. */
    static byte[] packet(int opcode, int pkey, int destination, int... words) {
        return numbered(PSN, opcode, pkey, destination, words);
    }

    /** The same with any PSN. */
    static byte[] numbered(int psn, int opcode, int pkey, int destination, int... words) {
        ByteBuffer b = ByteBuffer.allocate(12 + Integer.BYTES * words.length).put((byte) opcode).put((byte) 0x40)
                .putShort((short) pkey).putInt(destination).putInt(psn);
        for (int word : words) {
            b.putInt(word);
        }
        return b.array();
    }

    final void send(UdpWire from, byte[] bytes, int ecn) throws Exception {
        Path path = from.path(from == peer ? PEER : STRANGER, 0, context.queryGid(1, 0), 0, 0, 64);
        MemorySegment.copy(bytes, 0, RawMemory.segment(from.next(), bytes.length), ValueLayout.JAVA_BYTE, 0,
                bytes.length);
        from.send(path, UdpWire.ROCE_PORT, ecn, bytes.length);
        from.flush();
    }

    /** The test's action. */
    @FunctionalInterface
    interface Sending {
        void send() throws Exception;
    }

    /** Sends bytes that are no packet with a right ICRC, on an ordinary socket. */
    final void sendRaw(byte[] bytes) throws Exception {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress("127.66.6.7", 0))) {
            byte[] to = new byte[4];
            ByteBuffer.wrap(to).putInt((int) context.queryGid(1, 0).low());
            socket.send(new DatagramPacket(bytes, bytes.length, InetAddress.getByAddress(to),
                    UdpWire.ROCE_PORT));
        }
    }

    /** The packets that are sent add exactly one to a sample point that was 0. */
    final void assertCounted(int point, CounterTarget target, Sending what) throws Exception {
        try (Counters counters = context.createCounters()) {
            counters.attach(CounterAttachAttributes.of(point, 0), target);
            assertThat(read(counters)).isZero();
            what.send();
            for (long end = System.nanoTime() + PATIENCE_NANOS; read(counters) == 0;) {
                assertThat(System.nanoTime() - end).as(SamplePoint.toString(point)).isNegative();
                assertThat(cq.startPoll()).isNotZero();
            }
            assertThat(read(counters)).as(SamplePoint.toString(point)).isEqualTo(1);
            counters.detach(target);
        }
    }

    /**
     * Polls until a value is reached or exceeded. The sample points of one packet may be raised at different moments:
     * seeing one implies nothing about another.
     */
    final long await(Counters counters, long least) throws Exception {
        long value = read(counters);
        for (long end = System.nanoTime() + PATIENCE_NANOS; value < least; value = read(counters)) {
            assertThat(System.nanoTime() - end).as("%d of %d", value, least).isNegative();
            assertThat(cq.startPoll()).as("a poll that finds nothing").isNotZero();
        }
        return value;
    }

    static long read(Counters counters) throws Exception {
        long[] value = new long[1];
        counters.read(value, 0);
        return value[0];
    }
}
