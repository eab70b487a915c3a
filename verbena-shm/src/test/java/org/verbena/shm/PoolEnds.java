// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.pool.Commons;
import org.verbena.shm.pool.PoolClaims;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEvent;
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

/** An owner with a shared receive queue, and a peer with a queue pair. */
final class PoolEnds implements AutoCloseable {
    static final int RECEIVES = 8;
    static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration MOMENT = Duration.ofMillis(50);

    /** Two queue pairs that are connected. */
    record Pair(ShmQueuePair receiver, ShmQueuePair sender) {}

    final ShmContext owner = open();
    final ShmContext peer = open();
    final CompletionQueue received = owner.createCompletionQueue(64);
    final CompletionQueue sent = peer.createCompletionQueue(64);
    final MemoryRegion to;
    final MemoryRegion from;
    final ShmSharedReceiveQueue srq;
    final ShmQueuePair receiver;
    final ShmQueuePair sender;

    PoolEnds() throws VerbsException {
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
        return ready(q);
    }

    /** Brings a queue pair of type UD to RTS. */
    static QueuePair ready(QueuePair q) throws VerbsException {
        q.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(1).build());
        q.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        q.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
        return q;
    }

    /** One more pair of queue pairs like the first. */
    Pair pair() throws VerbsException {
        ShmQueuePair r = (ShmQueuePair) srq.protectionDomain().createQueuePair(receiver.initAttributes());
        ShmQueuePair s = (ShmQueuePair) sender.protectionDomain().createQueuePair(sender.initAttributes());
        connect(r, peer, s);
        connect(s, owner, r);
        return new Pair(r, s);
    }

    /** The pool's entry in the owner's directory. */
    long entry() {
        return owner.adapter().base() + AdapterLayout.poolEntry(Commons.index(srq.pool().number()));
    }

    /** An initiator that claims receives and is no user of the pool. */
    PoolClaims claims() {
        return new PoolClaims(entry(), line(), owner.adapter().base() + RawMemory.getLong(entry()
                + AdapterLayout.POOL_RING), RawMemory.getInt(entry() + AdapterLayout.POOL_ENTRIES));
    }

    /** Changes the claim of an entry that a sender has committed. */
    void setClaim(ShmQueuePair from, int index, long claim) throws VerbsException {
        RawMemory.putLong(arena() + lane(from) + ((long) index << LaneLayout.ENTRY_SHIFT) + LaneLayout.CLAIM, claim);
    }

    /** The offset of a sender's lane in the arena; 0 if it has none. */
    long lane(ShmQueuePair from) throws VerbsException {
        long pages = RawMemory.getLong(arena() + LaneLayout.HEADER_LANE_PAGES);
        return (pages & 1L << LaneLayout.lanePage(from.peerNumber())) == 0
                ? 0
                : RawMemory.getLong(arena() + LaneLayout.lane(from.peerNumber()) + LaneLayout.LANE_OFFSET);
    }

    /** The arena that the peer writes and the owner reads. */
    private long arena() throws VerbsException {
        return peer.control().session("test", owner.instance()).mapping().hint(0) - LaneLayout.HINTS;
    }

    int send(QueuePair from) {
        return from.sendQueue().postSend(1, SendFlags.SIGNALED, this.from, 0, 16);
    }

    /** Waits for a successful completion of the owner; returns its id. */
    long poll() {
        await(() -> received.startPoll() == 0);
        assertThat(received.status()).isEqualTo(WcStatus.SUCCESS);
        long id = received.wrId();
        received.endPoll();
        return id;
    }

    void await(BooleanSupplier condition) {
        Await.until(LIMIT, condition::getAsBoolean, () -> "it does not happen");
    }

    void post(int n) {
        for (int i = 0; i < n; i++) {
            assertThat(srq.receiveQueue().post(i, to, 64L * i, 64)).isZero();
        }
    }

    int send() {
        return send(sender);
    }

    long line() {
        return owner.commons().line(srq.pool().number());
    }

    /** The raised events: one at least, one of each expected type, and later ones within a moment. */
    List<Integer> events(Integer... expected) throws VerbsException {
        List<Integer> types = new ArrayList<>();
        while (true) {
            boolean all = !types.isEmpty() && types.containsAll(List.of(expected));
            AsyncEvent e = owner.awaitAsyncEvent(all ? MOMENT : LIMIT);
            if (e == null) {
                return types;
            }
            types.add(e.type());
        }
    }

    /** The engine fails queue pairs one after the other. */
    void awaitError(QueuePair... queuePairs) {
        for (QueuePair q : queuePairs) {
            await(() -> q.state() == QueuePairState.ERR);
        }
    }

    @Override
    public void close() throws VerbsException {
        peer.close();
        owner.close();
    }
}
