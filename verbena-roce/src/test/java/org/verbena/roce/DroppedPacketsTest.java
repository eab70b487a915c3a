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
import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.Path;
import org.verbena.roce.wire.PortAddress;
import org.verbena.roce.wire.UdpWire;
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

/** Each packet that a context does not want is counted where it belongs, and so are marks and notices of congestion. */
class DroppedPacketsTest {
    private static final Gid PEER = Gid.parse("::ffff:127.66.6.8");
    private static final Gid STRANGER = Gid.parse("::ffff:127.66.6.9");
    private static final int QKEY = 0x1234;
    private static final int PEERS_NUMBER = 0xabcdef;
    private static final int PSN = 100;
    private static final int RC_SEND_ONLY = 0x04;
    private static final int UD_SEND_ONLY = 0x64;
    private static final int CNP = 0x81;
    private static final int DEFAULT_PKEY = 0xffff;
    private static final int CONGESTION_EXPERIENCED = 3;
    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private Context context;
    private CompletionQueue cq;
    private QueuePair rc;
    private QueuePair ud;
    private UdpWire peer;
    private UdpWire stranger;

    @BeforeEach
    void open() throws Exception {
        context = RoceNetDevice.all().stream().filter(d -> d.name().equals("roce_lo")).findFirst().orElseThrow().open();
        peer = UdpWire.open(List.of(new PortAddress(PEER, 1)), 65536, true);
        stranger = UdpWire.open(List.of(new PortAddress(STRANGER, 1)), 65536, true);
        ProtectionDomain pd = context.allocateProtectionDomain();
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
    void close() throws Exception {
        peer.close();
        stranger.close();
        context.close();
    }

    /** A packet: the base transport header, and words behind it. */
    private static byte[] packet(int opcode, int pkey, int destination, int... words) {
        ByteBuffer b = ByteBuffer.allocate(12 + Integer.BYTES * words.length).put((byte) opcode).put((byte) 0x40)
                .putShort((short) pkey).putInt(destination).putInt(PSN);
        for (int word : words) {
            b.putInt(word);
        }
        return b.array();
    }

    private void send(UdpWire from, byte[] bytes, int ecn) throws Exception {
        Path path = from.path(from == peer ? PEER : STRANGER, 0, context.queryGid(1, 0), 0, 0, 64);
        MemorySegment.copy(bytes, 0, RawMemory.segment(from.next(), bytes.length), ValueLayout.JAVA_BYTE, 0,
                bytes.length);
        from.send(path, UdpWire.ROCE_PORT, ecn, bytes.length);
        from.flush();
    }

    /** Something that is no packet with a right ICRC, by a socket like any other. */
    private void sendRaw(byte[] bytes) throws Exception {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress("127.66.6.7", 0))) {
            byte[] to = new byte[4];
            ByteBuffer.wrap(to).putInt((int) context.queryGid(1, 0).low());
            socket.send(new DatagramPacket(bytes, bytes.length, InetAddress.getByAddress(to),
                    UdpWire.ROCE_PORT));
        }
    }

    private interface Sending {
        void send() throws Exception;
    }

    /** What is sent adds one, and one only, to a point that was 0. */
    private void assertCounted(int point, CounterTarget target, Sending what) throws Exception {
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

    private static long read(Counters counters) throws Exception {
        long[] value = new long[1];
        counters.read(value, 0);
        return value[0];
    }

    @Test
    void packetsOfNobody() throws Exception {
        assertCounted(SamplePoint.DEVICE_BAD_ICRC, context, () -> sendRaw(packet(RC_SEND_ONLY, DEFAULT_PKEY, rc
                .number(),
                1, 2)));
        assertCounted(SamplePoint.DEVICE_MALFORMED, context, () -> sendRaw(new byte[5]));
        assertCounted(SamplePoint.DEVICE_BAD_PKEYS, context, () -> send(peer, packet(RC_SEND_ONLY, 0x8123, rc.number()),
                0));
        assertCounted(SamplePoint.DEVICE_BAD_QUEUE_PAIRS, context, () -> send(peer, packet(RC_SEND_ONLY, DEFAULT_PKEY,
                0xfffff0), 0));
        assertCounted(SamplePoint.DEVICE_BAD_ADDRESSES, context, () -> send(stranger, packet(RC_SEND_ONLY, DEFAULT_PKEY,
                rc.number()), 0));
    }

    @Test
    void datagramsWithAWrongKey() throws Exception {
        assertCounted(SamplePoint.QP_BAD_QKEYS, ud, () -> send(peer, packet(UD_SEND_ONLY, DEFAULT_PKEY, ud.number(),
                QKEY + 1, 7), 0));
    }

    @Test
    void congestion() throws Exception {
        try (Counters sent = context.createCounters()) {
            sent.attach(CounterAttachAttributes.of(SamplePoint.QP_CNP_SENT, 0), rc);
            assertCounted(SamplePoint.QP_ECN_MARKED, rc, () -> send(peer, packet(RC_SEND_ONLY, DEFAULT_PKEY, rc
                    .number()), CONGESTION_EXPERIENCED));
            assertThat(read(sent)).isEqualTo(1);
            sent.detach(rc);
        }
        assertCounted(SamplePoint.QP_CNP_HANDLED, rc, () -> send(peer, packet(CNP, DEFAULT_PKEY, rc.number(), 0, 0, 0,
                0), 0));
        // of the same congestion: not within 50 microseconds, on a machine that is as slow as it likes to be
        try (Counters counters = context.createCounters()) {
            counters.attach(CounterAttachAttributes.of(SamplePoint.QP_CNP_IGNORED, 0), rc);
            for (long end = System.nanoTime() + PATIENCE_NANOS; read(counters) == 0;) {
                assertThat(System.nanoTime() - end).as("ignored notices").isNegative();
                for (int i = 0; i < 8; i++) {
                    send(peer, packet(CNP, DEFAULT_PKEY, rc.number(), 0, 0, 0, 0), 0);
                }
                cq.startPoll();
            }
            counters.detach(rc);
        }
    }

    @Test
    void bytesOnTheWire() throws Exception {
        try (Counters counters = context.createCounters()) {
            counters.attach(CounterAttachAttributes.of(SamplePoint.DEVICE_RX_WIRE_BYTES, 0), context);
            counters.attach(CounterAttachAttributes.of(SamplePoint.DEVICE_TX_WIRE_BYTES, 1), context);
            send(peer, packet(RC_SEND_ONLY, DEFAULT_PKEY, rc.number()), 0); // no receive: it is refused
            long[] values = new long[2];
            for (long end = System.nanoTime() + PATIENCE_NANOS; values[1] == 0;) {
                assertThat(System.nanoTime() - end).as("no answer").isNegative();
                cq.startPoll();
                counters.read(values, 0);
            }
            assertThat(values[0]).as("header and checksum").isEqualTo(12 + 4);
            assertThat(values[1]).as("with an acknowledgement's header").isEqualTo(12 + 4 + 4);
            counters.detach(context);
        }
    }
}
