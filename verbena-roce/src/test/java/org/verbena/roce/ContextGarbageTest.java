// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.cm.CmCodec;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.PrivateData;
import org.verbena.roce.cm.RdmaCmHeader;
import org.verbena.roce.link.PortAddress;
import org.verbena.roce.link.UdpWire;
import org.verbena.roce.transport.GarbageMaker;
import org.verbena.roce.transport.Path;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/**
 * A host sends packets to a context that are whole and have the right ICRC, and are garbage otherwise: to queue pairs that
 * are connected to it, and to the connection manager. Memory that was not granted stays as it is, and the context goes on.
 */
class ContextGarbageTest {
    private static final Gid HOSTILE = Gid.parse("::ffff:127.66.6.6");
    private static final int PACKETS = 20_000;
    private static final int MEMORY = 1 << 16;
    private static final int GRANTED = 16384;
    private static final int GRANTED_BYTES = 8192;
    private static final int OWN = 40_000;
    private static final int OWN_BYTES = 4096;
    private static final int QKEY = 0x1234;
    private static final int MANAGEMENT_QKEY = 0x8001_0000;
    private static final int SERVICE = 7471;
    private static final int RQ_PSN = 0xffffff;
    private static final int SQ_PSN = 0xfffffe;
    private static final int[] TYPES = {QueuePairType.RC, QueuePairType.UC, QueuePairType.UD};
    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private final long seed = Seeds.FIRST;
    private final Random random = new Random(seed);

    private static void connect(QueuePair qp, int type, Gid peer, int number) throws Exception {
        QueuePairAttributes.Builder init = QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1);
        if (type == QueuePairType.UD) {
            qp.modify(init.qkey(QKEY).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(SQ_PSN).build());
            return;
        }
        qp.modify(init.accessFlags(type == QueuePairType.RC
                ? AccessFlags.ALL
                : AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE).build());
        QueuePairAttributes.Builder receive = QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(
                peer)).pathMtu(1024).destinationQueuePair(number).rqPsn(RQ_PSN);
        QueuePairAttributes.Builder send = QueuePairAttributes.to(QueuePairState.RTS).sqPsn(SQ_PSN);
        if (type == QueuePairType.RC) {
            receive.maxDestReadAtomic(16).minRnrTimer(1);
            send.timeout(14).retryCount(7).rnrRetry(7).maxReadAtomic(16);
        }
        qp.modify(receive.build());
        qp.modify(send.build());
    }

    /** A message of the connection manager's class; now and then a whole request for what is listened to. */
    private byte[] management(Gid own) throws Exception {
        byte[] mad = new byte[CmCodec.BYTES];
        if (random.nextInt(4) == 0) {
            PrivateData data = new RdmaCmHeader(7, InetAddress.ofLiteral("127.66.6.6"),
                    InetAddress.ofLiteral("127.0.0.1")).with(new byte[0]);
            mad = CmCodec.encode(new CmMessage.Req(random.nextLong(), random.nextInt(), RdmaCmHeader.service(
                    SERVICE),
                    1, 0, 1, 1, 1, 17, 17, 15, CmMessage.RC, 0, 1, 7, 7, false, 0xffff, 3, new CmMessage.Route(HOSTILE,
                            own,
                            0, 0, 0, 64, 14), data));
        } else {
            random.nextBytes(mad);
            ByteBuffer.wrap(mad).putInt(0, 0x01_07_02_03).putShort(16, (short) (0x10 + random.nextInt(9)));
        }
        for (int flips = random.nextInt(3); flips > 0; flips--) {
            mad[random.nextInt(mad.length)] ^= (byte) (1 << random.nextInt(8));
        }
        ByteBuffer b = ByteBuffer.allocate(12 + 8 + mad.length);
        b.putInt(0x6400_ffff).putInt(1).putInt(random.nextInt() & 0xffffff).putInt(MANAGEMENT_QKEY).putInt(1);
        return b.put(mad).array();
    }

    private static void poll(CompletionQueue cq) {
        if (cq.startPoll() == 0) {
            cq.endPoll();
        }
    }

    @Test
    void memoryStaysAndTheContextGoesOn() throws Exception {
        try (Context context = LoopbackDevice.open();
                UdpWire hostile = UdpWire.open(List.of(new PortAddress(HOSTILE, 1)), 65536, true)) {
            Gid own = context.queryGid(1, 0);
            Path path = hostile.path(HOSTILE, 0, own, 0, 0, 64);
            ProtectionDomain pd = context.allocateProtectionDomain();
            CompletionQueue cq = context.createCompletionQueue(4096);
            MemoryRegion all = pd.allocate(MEMORY, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
            MemorySegment memory = all.segment();
            MemoryRegion granted = pd.register(memory.asSlice(GRANTED, GRANTED_BYTES), AccessFlags.ALL);
            QueuePair[] queuePairs = new QueuePair[TYPES.length];
            GarbageMaker[] makers = new GarbageMaker[TYPES.length];
            for (int i = 0; i < TYPES.length; i++) {
                queuePairs[i] = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(TYPES[i]).maxSendWr(64)
                        .maxReceiveWr(64).build());
                makers[i] = new GarbageMaker(queuePairs[i].number(), granted.address(), GRANTED_BYTES, MEMORY, 0, QKEY,
                        RQ_PSN, SQ_PSN, granted.rkey(), all.rkey());
                connect(queuePairs[i], TYPES[i], HOSTILE, 0xabcdef);
            }
            ConnectionListener listener = context.connectionManager().listen(new InetSocketAddress(InetAddress
                    .ofLiteral(
                            "0.0.0.0"), SERVICE));
            int[] failures = new int[TYPES.length];
            int requests = 0;
            for (int n = 0; n < PACKETS; n++) {
                int i = random.nextInt(TYPES.length);
                QueuePair qp = queuePairs[i];
                if (random.nextInt(4) == 0) {
                    qp.receiveQueue().post(n, all, OWN, random.nextInt(OWN_BYTES));
                }
                if (TYPES[i] == QueuePairType.RC && random.nextInt(8) == 0) {
                    qp.sendQueue().postRead(n, SendFlags.SIGNALED, all, OWN, random.nextInt(OWN_BYTES), 1, 1);
                }
                send(hostile, path, random.nextInt(5) == 0 ? management(own) : makers[i].make(random, TYPES[i]));
                poll(cq);
                ConnectionRequest request = listener.awaitRequest(Duration.ZERO);
                if (request != null) {
                    requests++;
                    request.reject();
                }
                QueuePairState state = qp.query().state();
                if (state != QueuePairState.RTS || random.nextInt(300) == 0) { // its numbers have left those of the garbage
                    failures[i] += state == QueuePairState.RTS ? 0 : 1;
                    qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
                    connect(qp, TYPES[i], HOSTILE, 0xabcdef);
                }
            }
            assertThat(failures[0]).as("how often garbage got as far as an error").isGreaterThan(10);
            assertThat(requests).as("requests that reached the listener").isGreaterThan(10);
            assertUntouched(memory.toArray(ValueLayout.JAVA_BYTE));
            assertThatItGoesOn(context, pd, cq, all);
        } catch (AssertionError | Exception e) {
            throw new AssertionError("with -Dverbena.test.seed=" + seed, e);
        }
    }

    private static void send(UdpWire wire, Path path, byte[] bytes) {
        long at = wire.next();
        if (at == 0) {
            wire.flush();
            at = wire.next();
        }
        MemorySegment.copy(bytes, 0, RawMemory.segment(at, bytes.length), ValueLayout.JAVA_BYTE, 0, bytes.length);
        wire.send(path, UdpWire.ROCE_PORT, 0, bytes.length);
        wire.flush();
        wire.receive(64, p -> {}); // what is answered
    }

    private static void assertUntouched(byte[] all) {
        byte[] zeros = new byte[MEMORY];
        assertThat(Arrays.mismatch(all, 0, GRANTED, zeros, 0, GRANTED)).as("before what was granted").isEqualTo(-1);
        int end = GRANTED + GRANTED_BYTES;
        assertThat(Arrays.mismatch(all, end, OWN, zeros, 0, OWN - end)).as("behind it").isEqualTo(-1);
        end = OWN + OWN_BYTES;
        assertThat(Arrays.mismatch(all, end, MEMORY, zeros, 0, MEMORY - end)).as("behind the receives").isEqualTo(-1);
    }

    private static void assertThatItGoesOn(Context context, ProtectionDomain pd, CompletionQueue cq, MemoryRegion all)
            throws Exception {
        try (Context other = LoopbackDevice.open()) {
            ProtectionDomain otherPd = other.allocateProtectionDomain();
            CompletionQueue otherCq = other.createCompletionQueue(16);
            MemoryRegion bytes = otherPd.allocate(4096, AccessFlags.ALL);
            QueuePair there = otherPd.createQueuePair(QueuePairInitAttributes.builder(otherCq, otherCq).maxSendWr(4)
                    .maxReceiveWr(4).build());
            QueuePair here = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(4).maxReceiveWr(4)
                    .build());
            connect(here, QueuePairType.RC, other.queryGid(1, 0), there.number());
            there.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
            there.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(context.queryGid(1,
                    0))).pathMtu(1024).destinationQueuePair(here.number()).rqPsn(SQ_PSN).maxDestReadAtomic(16)
                    .minRnrTimer(1).build());
            there.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(RQ_PSN).timeout(14).retryCount(7).rnrRetry(7)
                    .maxReadAtomic(16).build());
            bytes.segment().fill((byte) 7);
            assertThat(here.sendQueue().postRead(-1, SendFlags.SIGNALED, all, OWN, 4096, bytes.rkey(), bytes
                    .address())).isZero();
            boolean done = false;
            for (long end = System.nanoTime() + PATIENCE_NANOS; !done;) {
                assertThat(System.nanoTime() - end).as("nanoseconds too late").isNegative();
                if (cq.startPoll() == 0) {
                    done = cq.wrId() == -1;
                    assertThat(done && cq.status() != WcStatus.SUCCESS).isFalse();
                    cq.endPoll();
                }
            }
            assertThat(all.segment().asSlice(OWN, 4096).mismatch(bytes.segment())).isEqualTo(-1);
        }
    }
}
