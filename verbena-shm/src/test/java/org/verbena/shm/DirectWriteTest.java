// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** The posting thread writes the peer's memory itself. */
@Timeout(60)
class DirectWriteTest {
    private static final int BYTES = 4096;

    private final ShmContext near = open();
    private final ShmContext far = open();
    private final CompletionQueue sent = near.createCompletionQueue(16);
    private final ProtectionDomain farPd = far.allocateProtectionDomain();
    private final ShmQueuePair qp;
    private final QueuePair peer;
    private MemoryRegion to;

    DirectWriteTest() throws VerbsException {
        qp = (ShmQueuePair) queuePair(near.allocateProtectionDomain(), sent);
        peer = queuePair(farPd, far.createCompletionQueue(16));
        connect(peer, near, qp);
        connect(qp, far, peer);
        to = farPd.allocate(BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    }

    private static ShmContext open() throws VerbsException {
        return (ShmContext) ShmDevice.INSTANCE.open();
    }

    private static QueuePair queuePair(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(16).maxInlineData(8).build());
    }

    private static void connect(QueuePair one, ShmContext peer, QueuePair other) throws VerbsException {
        one.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(
                AccessFlags.REMOTE_WRITE).build());
        one.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(peer.queryGid(1, 0)))
                .destinationQueuePair(other.number()).pathMtu(4096).rqPsn(0).maxDestReadAtomic(1).minRnrTimer(1)
                .build());
        one.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).timeout(14).retryCount(7).rnrRetry(7)
                .maxReadAtomic(1).build());
    }

    private boolean write(ByteBuffer from, int position, int length, long at) {
        return qp.writeNow(from, position, length, to.rkey(), to.address() + at);
    }

    /** The first request finds the peer. */
    @BeforeEach
    void write() throws VerbsException {
        map(to);
    }

    /** A request maps what it writes. */
    private void map(MemoryRegion region) throws VerbsException {
        MemoryRegion from = qp.protectionDomain().allocate(8, AccessFlags.LOCAL_WRITE);
        assertThat(qp.sendQueue().start().write(1, SendFlags.SIGNALED, region.rkey(), region.address()).sge(from, 0, 8)
                .complete()).isZero();
        assertThat(status()).isEqualTo(WcStatus.SUCCESS);
        awaitWritten(0, region);
        from.close();
    }

    /** A completion is seen a moment before its request counts as executed, if the engine thread executed it. */
    private void awaitWritten(long value, MemoryRegion region) {
        Await.until("a write with no request before it", () -> qp.writeWordNow(value, region.rkey(), region.address()));
    }

    @AfterEach
    void close() throws VerbsException {
        near.close();
        far.close();
    }

    private int status() {
        Await.until("a completion", () -> sent.startPoll() == 0);
        int s = sent.status();
        sent.endPoll();
        return s;
    }

    @Test
    void bytesOfEachKindOfBufferArrive() {
        byte[] bytes = {9, 1, 2, 3, 9};
        ByteBuffer direct = ByteBuffer.allocateDirect(5).put(bytes).clear();
        ByteBuffer[] all = {ByteBuffer.wrap(bytes), ByteBuffer.wrap(bytes).asReadOnlyBuffer(), direct, direct
                .asReadOnlyBuffer(), ByteBuffer.wrap(new byte[] {0, 9, 1, 2, 3, 9}, 1, 5).slice()};
        for (int i = 0; i < all.length; i++) {
            assertThat(write(all[i], 1, 3, 8L * i + 1)).isTrue();
            assertThat(all[i].position()).isZero();
            assertThat(to.segment().asSlice(8L * i, 5).toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 1, 2, 3, 0);
        }
        assertThat(qp.writeWordNow(-2, to.rkey(), to.address() + BYTES - 8)).isTrue();
        assertThat(to.segment().get(ValueLayout.JAVA_LONG, BYTES - 8)).isEqualTo(-2);
    }

    @Test
    void requestsGoOnBesideIt() throws VerbsException {
        MemoryRegion from = qp.protectionDomain().allocate(8, AccessFlags.LOCAL_WRITE);
        for (int i = 1; i < 100; i++) {
            from.segment().set(ValueLayout.JAVA_LONG, 0, i);
            assertThat(qp.sendQueue().start().write(1, SendFlags.SIGNALED, to.rkey(), to.address()).sge(from, 0, 8)
                    .complete()).isZero();
            assertThat(to.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
            assertThat(qp.writeWordNow(-i, to.rkey(), to.address())).isTrue();
            assertThat(to.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(-i);
            assertThat(status()).isEqualTo(WcStatus.SUCCESS);
        }
    }

    /** A request that waits is not overtaken. */
    @Test
    void nothingIsWrittenWhileARequestWaits() throws VerbsException {
        MemoryRegion from = qp.protectionDomain().allocate(8, AccessFlags.LOCAL_WRITE);
        assertThat(qp.sendQueue().start().send(1, SendFlags.SIGNALED).sge(from, 0, 8).complete()).isZero();
        assertThat(qp.writeWordNow(1, to.rkey(), to.address())).as("the peer has no receive").isFalse();
        assertThat(write(ByteBuffer.allocate(8), 0, 8, 0)).isFalse();
        MemoryRegion in = farPd.allocate(8, AccessFlags.LOCAL_WRITE);
        assertThat(peer.receiveQueue().post(1, in, 0, 8)).isZero();
        assertThat(status()).isEqualTo(WcStatus.SUCCESS);
        awaitWritten(1, to);
        assertThat(to.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1);
    }

    @Test
    void whatAWriteMayNotDoIsNotDone() throws VerbsException {
        ByteBuffer from = ByteBuffer.allocate(BYTES + 1);
        assertThat(write(from, 0, BYTES, 0)).isTrue();
        assertThat(write(from, 0, BYTES + 1, 0)).as("longer than the region").isFalse();
        assertThat(write(from, 0, 8, BYTES - 7)).as("across its end").isFalse();
        assertThat(write(from, 0, 8, -1)).as("before its begin").isFalse();
        assertThat(qp.writeNow(from, 0, 8, to.rkey() + 1, to.address())).as("another key").isFalse();
        MemoryRegion readable = farPd.allocate(BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
        assertThat(qp.writeNow(from, 0, 8, readable.rkey(), readable.address())).as("read-only").isFalse();
        assertThatThrownBy(() -> write(from, BYTES, 8, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(qp.writeWordNow(1, to.rkey(), to.address())).as("after the exception").isTrue();
        to.close();
        assertThat(qp.writeWordNow(2, to.rkey(), to.address())).as("deregistered").isFalse();
    }

    /** A thread that is inside would keep the peer from closing. */
    @Test
    void peerClosesAfterAnExceptionOfTheBuffer() {
        assertThatThrownBy(() -> write(ByteBuffer.allocate(1), 0, 2, 0)).isInstanceOf(
                IndexOutOfBoundsException.class);
        assertTimeoutPreemptively(Duration.ofSeconds(60), far::close);
        assertThat(write(ByteBuffer.allocate(1), 0, 1, 0)).isFalse();
    }

    @Test
    void nothingIsWrittenOutsideRts() throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        assertThat(qp.writeWordNow(1, to.rkey(), to.address())).isFalse();
        qp.close();
        assertThat(qp.writeWordNow(1, to.rkey(), to.address())).isFalse();
    }

    private int read(Fd file, long position, int length, long at) {
        return qp.readFileNow(file.value(), position, length, to.rkey(), to.address() + at);
    }

    private static Fd file(byte... bytes) throws Exception {
        Fd file = Memfd.create("verbena-test", bytes.length);
        Mapping.map(file, 0, bytes.length, true).segment().copyFrom(MemorySegment.ofArray(bytes));
        return file;
    }

    @Test
    void bytesOfAFileArrive() throws Exception {
        try (Fd file = file((byte) 1, (byte) 2, (byte) 3, (byte) 4)) {
            assertThat(read(file, 1, 2, 1)).isEqualTo(2);
            assertThat(to.segment().asSlice(0, 4).toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 2, 3, 0);
            assertThat(read(file, 1, 100, BYTES - 100)).as("up to its end").isEqualTo(3);
            assertThat(to.segment().asSlice(BYTES - 100, 4).toArray(ValueLayout.JAVA_BYTE)).containsExactly(2, 3, 4, 0);
            assertThat(read(file, 4, 100, 0)).as("at its end").isZero();
            assertThat(read(file, 1, 0x7fff_ffff, 0)).as("longer than the region").isEqualTo(-Errno.EOPNOTSUPP);
            assertThat(read(file, 0, 2, BYTES - 1)).as("across its end").isEqualTo(-Errno.EOPNOTSUPP);
            assertThat(qp.readFileNow(file.value(), 0, 2, to.rkey() + 1, to.address())).as("another key").isEqualTo(
                    -Errno.EOPNOTSUPP);
            MemoryRegion readable = farPd.allocate(BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
            assertThat(qp.readFileNow(file.value(), 0, 2, readable.rkey(), readable.address())).as("read-only")
                    .isEqualTo(-Errno.EOPNOTSUPP);
            assertThat(qp.readFileNow(-1, 0, 2, to.rkey(), to.address())).as("no file").isEqualTo(-Errno.EBADF);
            assertThat(qp.writeWordNow(1, to.rkey(), to.address())).as("after all that").isTrue();
            assertThat(AllocatedBytes.leastOf(() -> {
                for (int i = 0; i < 2000; i++) {
                    if (read(file, 0, 4, 64) != 4) {
                        throw new AssertionError("read " + i);
                    }
                }
            })).as("bytes in 2,000 reads").isZero();
            qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
            assertThat(read(file, 0, 4, 0)).as("outside RTS").isEqualTo(-Errno.EOPNOTSUPP);
        }
        assertTimeoutPreemptively(Duration.ofSeconds(60), far::close);
    }

    /** Nor by one that goes to and fro between two regions, as a writer does that also rings a doorbell. */
    @Test
    void nothingIsAllocated() throws Exception {
        MemoryRegion second = farPd.allocate(BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        map(second);
        ByteBuffer heap = ByteBuffer.allocate(64);
        ByteBuffer direct = ByteBuffer.allocateDirect(64);
        assertThat(AllocatedBytes.leastOf(() -> {
            for (int i = 0; i < 2000; i++) {
                boolean done = write(heap, 0, 64, 64) && write(direct, 0, 64, 128) && qp.writeWordNow(i, to.rkey(), to
                        .address()) && qp.writeNow(heap, 0, 64, second.rkey(), second.address());
                if (!done) {
                    throw new AssertionError("write " + i);
                }
            }
        })).as("bytes in 8,000 writes").isZero();
    }
}
