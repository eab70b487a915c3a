// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/** One end of a test's connection: a context with one queue pair, and its recorded callbacks. */
final class TestEnd implements QueuePairOwner {
    /** A call of {@link QueuePairOwner#sent}. */
    record Sent(long wrId, int status, long bytes) {
        @Override
        public String toString() {
            return wrId + " " + WcStatus.toString(status) + " " + bytes;
        }
    }

    /** A call of {@link QueuePairOwner#received}. */
    record Received(long wrId, int status, int opcode, long bytes, int immediate, int flags, int source,
            boolean solicited) {
        @Override
        public String toString() {
            return wrId + " " + WcStatus.toString(status) + " " + bytes;
        }
    }

    static final int KEY = 0x1100;
    private static final int INLINE = 256;
    private static final int SENDS = 64;

    /** Keeps the send queue's inline data allocated, which it uses by address only. */
    private final Arena inlines = Arena.ofAuto();
    final Gid gid;
    final Wire wire;
    final Transport transport;
    final TestMemory memory;
    final TestReceives receives;
    final Map<Integer, ReceiveSource> queues = new HashMap<>();
    final int type;
    final TransportQueuePair qp;
    final List<Sent> sent = new ArrayList<>();
    final List<Received> received = new ArrayList<>();
    final List<String> reasons = new ArrayList<>();
    final List<Integer> events = new ArrayList<>();
    final Map<Integer, Long> counts = new HashMap<>();
    QueuePairState told = QueuePairState.RESET;

    TestEnd(VirtualNetwork network, Gid gid, int number, int type, long memoryBytes, boolean shared) {
        this.gid = gid;
        this.type = type;
        wire = network.wire(gid);
        transport = new Transport(wire);
        memory = new TestMemory(memoryBytes);
        memory.add(KEY, 0, memoryBytes, AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL);
        receives = new TestReceives(memory, shared);
        long inline = inlines.allocate((long) SendRing.slots(SENDS) * INLINE, 8).address();
        qp = transport.create(number, type, this, new SendRing(SENDS, 4, inline, INLINE));
    }

    long at(long offset) {
        return memory.address() + offset;
    }

    // ---- state

    /** Values that the tests change before {@link #connect}. */
    int mtu = 1024;
    int timeout = 8;
    int retries = 7;
    int rnrRetries = 7;
    int rnrTimer = 1;
    int depth = 4;
    int access = AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL;

    void connect(Gid peer, int peerNumber, int rqPsn, int sqPsn) throws Exception {
        toInit();
        toReceive(peer, peerNumber, rqPsn);
        toSend(sqPsn);
    }

    void toInit() {
        qp.modify(QueuePairState.INIT, QueuePairAttributes.to(QueuePairState.INIT).accessFlags(access).build(), null);
    }

    void toReceive(Gid peer, int peerNumber, int rqPsn) throws Exception {
        qp.modify(QueuePairState.RTR, QueuePairAttributes.to(QueuePairState.RTR).pathMtu(mtu)
                .destinationQueuePair(peerNumber).rqPsn(rqPsn).maxDestReadAtomic(depth).minRnrTimer(rnrTimer).build(),
                wire.path(gid, 0, peer, 0, 0, 64));
    }

    void toSend(int sqPsn) {
        qp.modify(QueuePairState.RTS, QueuePairAttributes.to(QueuePairState.RTS).sqPsn(sqPsn).timeout(timeout)
                .retryCount(retries).rnrRetry(rnrRetries).maxReadAtomic(depth).build(), null);
    }

    void to(QueuePairState state) {
        qp.modify(state, QueuePairAttributes.to(state).build(), null);
    }

    // ---- posting

    /** Fills the next entry; {@link #post} posts it. */
    SendWqe wqe(long id, int opcode) {
        return qp.sends().free(0).begin(id, opcode, SendFlags.SIGNALED);
    }

    void post(SendWqe w) {
        if (w != qp.sends().free(0)) {
            throw new AssertionError("not the next entry");
        }
        qp.post(1);
        transport.flush();
    }

    void send(long id, long offset, long length) {
        SendWqe w = wqe(id, SendOpcode.SEND);
        w.addSge(KEY, at(offset), length);
        post(w);
    }

    void write(long id, long offset, long length, TestEnd peer, long peerOffset) {
        SendWqe w = wqe(id, SendOpcode.WRITE);
        w.rkey = KEY;
        w.remoteAddress = peer.at(peerOffset);
        w.addSge(KEY, at(offset), length);
        post(w);
    }

    void read(long id, long offset, long length, TestEnd peer, long peerOffset) {
        SendWqe w = wqe(id, SendOpcode.READ);
        w.rkey = KEY;
        w.remoteAddress = peer.at(peerOffset);
        w.addSge(KEY, at(offset), length);
        post(w);
    }

    void fetchAndAdd(long id, long offset, TestEnd peer, long peerOffset, long add) {
        SendWqe w = wqe(id, SendOpcode.FETCH_ADD);
        w.rkey = KEY;
        w.remoteAddress = peer.at(peerOffset);
        w.compareOrAdd = add;
        w.addSge(KEY, at(offset), 8);
        post(w);
    }

    long count(int point) {
        return counts.getOrDefault(point, 0L);
    }

    // ---- the owner

    @Override
    public Memory memory() {
        return memory;
    }

    @Override
    public @Nullable ReceiveSource receives() {
        return type == QueuePairType.XRC_SEND || type == QueuePairType.XRC_RECV ? null : receives;
    }

    @Override
    public @Nullable ReceiveSource sharedReceiveQueue(int number) {
        return queues.get(number);
    }

    @Override
    public void sent(SendWqe wqe) {
        sent.add(new Sent(wqe.wrId, wqe.status, wqe.byteLength));
    }

    @Override
    public void received(ReceiveSource source, ReceiveWqe w) {
        received.add(new Received(w.wrId, w.status, w.opcode, w.byteLength, w.immediate, w.wcFlags,
                w.sourceQueuePair, w.solicited));
    }

    @Override
    public void stateChanged(QueuePairState state, String reason, int event) {
        told = state;
        reasons.add(reason);
        if (event >= 0) {
            events.add(event);
        }
    }

    @Override
    public void event(int event) {
        events.add(event);
    }

    @Override
    public void count(int samplePoint, long n) {
        counts.merge(samplePoint, n, Long::sum);
    }
}
