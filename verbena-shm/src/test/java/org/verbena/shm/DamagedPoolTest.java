package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A peer writes nonsense into the commons, or into a lane, of a shared receive queue. */
class DamagedPoolTest {
    private static final int RECEIVES = 8;
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /** An owner with a shared receive queue, and a peer with a queue pair. */
    private static final class Ends implements AutoCloseable {
        final ShmContext owner = open();
        final ShmContext peer = open();
        final CompletionQueue received = owner.createCompletionQueue(64);
        final CompletionQueue sent = peer.createCompletionQueue(64);
        final MemoryRegion to;
        final MemoryRegion from;
        final ShmSharedReceiveQueue srq;
        final ShmQueuePair receiver;
        final ShmQueuePair sender;

        Ends() throws VerbsException {
            ProtectionDomain pd = owner.allocateProtectionDomain();
            to = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            srq = (ShmSharedReceiveQueue) pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder()
                    .maxWr(RECEIVES).build());
            receiver = (ShmQueuePair) pd.createQueuePair(QueuePairInitAttributes.builder(received, received)
                    .sharedReceiveQueue(srq).build());
            ProtectionDomain peerPd = peer.allocateProtectionDomain();
            from = peerPd.allocate(4096, AccessFlags.LOCAL_WRITE);
            sender = (ShmQueuePair) peerPd.createQueuePair(QueuePairInitAttributes.builder(sent, sent).maxSendWr(64)
                    .build());
            connect(receiver, peer, sender);
            connect(sender, owner, receiver);
        }

        private static ShmContext open() throws VerbsException {
            return (ShmContext) ShmDevice.INSTANCE.open();
        }

        private static void connect(QueuePair qp, ShmContext peer, QueuePair other) throws VerbsException {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(peer.queryGid(1, 0)))
                    .destinationQueuePair(other.number()).pathMtu(4096).rqPsn(0).maxDestReadAtomic(1).minRnrTimer(1)
                    .build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(10).retryCount(3).rnrRetry(7).sqPsn(0)
                    .maxReadAtomic(1).build());
        }

        /** A queue pair of type UD on the shared queue, in use. */
        QueuePair datagramReceiver() throws VerbsException {
            QueuePair q = srq.protectionDomain().createQueuePair(QueuePairInitAttributes.builder(received, received)
                    .type(QueuePairType.UD).sharedReceiveQueue(srq).build());
            q.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(1).build());
            q.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
            q.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
            return q;
        }

        void post(int n) {
            for (int i = 0; i < n; i++) {
                assertThat(srq.receiveQueue().post(i, to, 64L * i, 64)).isZero();
            }
        }

        int send() {
            return sender.sendQueue().postSend(1, SendFlags.SIGNALED, from, 0, 16);
        }

        long line() {
            return owner.commons().line(srq.pool().number());
        }

        List<Integer> events() throws VerbsException {
            List<Integer> types = new ArrayList<>();
            for (AsyncEvent e = owner.awaitAsyncEvent(LIMIT); e != null; e = owner.awaitAsyncEvent(Duration.ofMillis(
                    50))) {
                types.add(e.type());
            }
            return types;
        }

        @Override
        public void close() throws VerbsException {
            peer.close();
            owner.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, RECEIVES + 1, 0})
    void aPositionThatMakesNoSenseFailsTheQueueAndItsQueuePairs(long nonsense) throws Exception {
        try (Ends e = new Ends()) {
            e.post(RECEIVES);
            assertThat(e.send()).isZero();
            assertThat(e.srq.pool().receives().check()).isTrue();
            QueuePair datagrams = e.datagramReceiver();
            RawMemory.putLong(e.line() + CommonsLayout.NEXT, nonsense);
            e.owner.engine().lookAgain();
            assertThat(e.events()).contains(AsyncEventType.SRQ_ERR, AsyncEventType.QP_FATAL);
            assertThat(e.receiver.state()).isEqualTo(QueuePairState.ERR);
            assertThat(datagrams.state()).isEqualTo(QueuePairState.ERR);
            datagrams.close();
            assertThat(e.srq.receiveQueue().post(1, e.to, 0, 8)).isEqualTo(Errno.EINVAL);
            assertThatThrownBy(() -> e.srq.modify(SharedReceiveQueueAttributes.builder().maxWr(9).build()))
                    .hasMessageContaining("failed");
            assertThatThrownBy(() -> e.srq.protectionDomain().createQueuePair(QueuePairInitAttributes.builder(
                    e.received,
                    e.received).sharedReceiveQueue(e.srq).build())).hasMessageContaining("failed");
            e.receiver.close();
            e.srq.close();
        }
    }

    /** A claim of nothing, of a receive that was not claimed, or of one that was completed: the liar's queue pair fails. */
    @Test
    void aCompletionOfWhatWasNotClaimedFailsTheQueuePairOnly() throws Exception {
        for (long claim : new long[] {0, -1, Long.MIN_VALUE, Claim.of(7, 64, 3), Claim.of(0, 64, 16000)}) {
            try (Ends e = new Ends()) {
                e.post(1);
                assertThat(e.send()).isZero();
                long entry = e.owner.session("test", e.peer.instance()).peerArenaBase() + LaneLayout.HEAP;
                RawMemory.putLong(ownAddress(e, entry) + LaneLayout.CLAIM, claim);
                assertThat(e.received.startPoll()).isEqualTo(Errno.ENOENT);
                assertThat(e.receiver.state()).as("claim %x", claim).isEqualTo(QueuePairState.ERR);
                assertThat(e.events()).contains(AsyncEventType.QP_FATAL).doesNotContain(AsyncEventType.SRQ_ERR);
            }
        }
    }

    /** Where the peer writes what the owner reads at {@code address}. */
    private static long ownAddress(Ends e, long address) throws VerbsException {
        Session theirs = e.peer.session("test", e.owner.instance());
        Session ours = e.owner.session("test", e.peer.instance());
        return theirs.hint(0) - LaneLayout.HINTS + (address - ours.peerArenaBase());
    }

    /** What a peer says of hunger, signals and lost claims costs a look. */
    @Test
    void otherWordsOfTheCommonsDoNoHarm() throws Exception {
        try (Ends e = new Ends()) {
            for (int i = 0; i < 300; i++) {
                e.post(1);
                RawMemory.putLong(e.line() + CommonsLayout.STARVING, i * 0x5555_5555_5555L);
                RawMemory.putLong(e.line() + CommonsLayout.LOST, i * 0x1111_1111_1111L);
                RawMemory.putLong(e.line() + CommonsLayout.NOTIFIED, i);
                assertThat(e.send()).isZero();
                while (e.received.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                assertThat(e.received.status()).isEqualTo(WcStatus.SUCCESS);
                e.received.endPoll();
                while (e.sent.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                e.sent.endPoll();
            }
            assertThat(e.receiver.state()).isEqualTo(QueuePairState.RTS);
        }
    }
}
