// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Membarrier;
import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.control.Session;
import org.verbena.shm.counts.SendCounts;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.memory.Target;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.DirectWrite;
import org.verbena.verbs.spi.RemoteView;

/** A queue pair: its queues, and what others read of it; its state and its connection are in {@link QueuePairLifecycle}. */
final class ShmQueuePair extends QueuePairLifecycle implements DirectWrite, RemoteView {
    private final SendCounts sendCounts;
    private final ShmSendQueue sendQueue;
    /** For type UD. */
    private final @Nullable DatagramReceiver datagramReceiver;
    private final ReceiveSide receiveQueue;
    private final SendProgress sendProgress;
    private final CompletionSource source;
    /** The poller's, if both kinds complete on one queue. */
    private boolean sendFirst;

    ShmQueuePair(ContextInternals internals, ProtectionDomain domain, int pd, QueuePairInitAttributes init)
            throws VerbsException {
        super(internals, domain, pd, init);
        sendCounts = new SendCounts(number, counters);
        datagramReceiver = parts.makeDatagramReceiver(this);
        sendQueue = parts.makeSendQueue(this);
        receiveQueue = parts.makeReceiveSide(this);
        source = new QueuePairSource(this, sendCq, receiveCq, sendQueue, receiveQueue);
        sendProgress = new SendProgress(this, internals.engine(), sendQueue, own.address + AdapterLayout.QP_STARVING);
        parts.describe();
        internals.queuePairs().add(this);
        showToPollers();
        opened();
    }

    // ---- the API

    @Override
    public SendQueue sendQueue() {
        return sendQueue;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    @Override
    public Memories memories() {
        return internals.memories();
    }

    @Override
    protected int implBindMemoryWindow(MemoryWindow window, long wrId, int flags, @Nullable MemoryRegion region,
            long address, long length, int access) {
        return sendQueue.bindWindow(wrId, flags, ((ShmMemoryWindow) window).window(), region, address, length, access);
    }

    @Override
    protected void implClose() {
        boolean left = withdraw();
        if (datagramReceiver != null) {
            internals.multicast().detachAll(this);
        }
        sendQueue.close();
        Session s = session();
        if (!left && s != null) {
            own.giveUp();
            internals.memories().keepStopped(Revocation.Inside.peerOf(this, s.peer()));
        }
        hideFromPollers();
        leave(left);
        if (srq == null) {
            internals.queuePairs().remove(this);
        } else {
            srq.leave(this);
        }
        own.free();
        if (left) {
            parts.giveBack();
        }
        // else a stopped peer may still read the ring when it resumes: it stays as it is until the context is closed
    }

    @Override
    public boolean writeNow(ByteBuffer from, int position, int length, int rkey, long remoteAddress) {
        return sendQueue.writeNow(from, position, length, rkey, remoteAddress);
    }

    @Override
    public boolean writeWordNow(long value, int rkey, long remoteAddress) {
        return sendQueue.writeWordNow(value, rkey, remoteAddress);
    }

    @Override
    public int readFileNow(int fd, long position, int length, int rkey, long remoteAddress) {
        return sendQueue.readFileNow(fd, position, length, rkey, remoteAddress);
    }

    // ---- the data path's view

    @Override
    void showToPollers() {
        sendCq.add(this);
        receiveCq.add(this);
    }

    @Override
    void wakePollers() {
        receiveCq.signal(this, true);
    }

    @Override
    void hideFromPollers() {
        sendCq.remove(this);
        receiveCq.remove(this);
        Membarrier.ownProcess(); // a poll from here on sees that it is gone, or is seen
        sendCq.awaitPoller();
        receiveCq.awaitPoller();
    }

    @Override
    boolean poll(CompletionCursor cq) {
        if (sendCq == receiveCq) {
            return pollBoth(cq);
        }
        return receiveCq == cq ? receiveQueue.poll(cq) : sendQueue.poll(cq);
    }

    /** In turn, so that neither kind hides the other. */
    private boolean pollBoth(CompletionCursor cq) {
        sendFirst = !sendFirst;
        return sendFirst
                ? sendQueue.poll(cq) || receiveQueue.poll(cq)
                : receiveQueue.poll(cq) || sendQueue.poll(cq);
    }

    @Override
    ShmSendQueue sends() {
        return sendQueue;
    }

    @Override
    SendCounts sendCounts() {
        return sendCounts;
    }

    /** With XRC the peer accesses no memory here. */
    @Override
    public int[] pds() {
        if (type() == QueuePairType.XRC_SEND) {
            return new int[0];
        }
        return srq == null ? new int[] {pdIndex()} : new int[] {pdIndex(), srq.pool().pd()};
    }

    @Override
    public boolean uses(int pdIndex) {
        return type() != QueuePairType.XRC_SEND && pdIndex() == pdIndex || srq != null && srq.pool().pd() == pdIndex;
    }

    @Override
    public long ownHazard() {
        return own.hazard();
    }

    @Override
    public long peerHazard() {
        return peer().hazard();
    }

    @Override
    ReceiveSide receiveSide() {
        return receiveQueue;
    }

    @Override
    CompletionSource source() {
        return source;
    }

    @Override
    boolean isPollInProgress() {
        return receiveQueue.isPollInProgress();
    }

    /** Nothing is accessed, so no {@link Hazard}: memory that is released meanwhile reads as before, or as zero. */
    @Override
    public @Nullable MemorySegment view(int rkey, long address, long bytes) {
        try {
            RemoteQueuePair r = peer().findRemote();
            Target t = r == null ? null : new Target(r.session.peerMemories(), r.pd, peerNumber());
            return t == null || t.resolve(rkey, address, bytes, AccessFlags.REMOTE_READ) != Target.OK
                    ? null
                    : t.view(address, bytes);
        } catch (ProtocolException e) {
            return null; // a request reports it
        }
    }

    // ---- progress

    @Override
    public void requestProgress() {
        sendProgress.requestProgress();
    }

    @Override
    void restartReceiveWait() {
        sendProgress.restartReceiveWait();
    }

    @Override
    void receiveWaitEnded() {
        sendProgress.receiveWaitEnded();
    }

    /** What the engine does for this queue pair. */
    SendProgress sendProgress() {
        return sendProgress;
    }

    // ---- datagrams

    @Override
    @Nullable
    DatagramReceiver datagramReceiver() {
        return datagramReceiver;
    }

    @Override
    public int qkey() {
        return attributes().qkey();
    }

    @Override
    public long instance() {
        return internals.own().instance();
    }

    @Override
    protected void implAttachMulticast(Gid group, int lid) throws VerbsException {
        internals.multicast().attach("attach " + describe() + " to " + group, this, group);
    }

    @Override
    protected void implDetachMulticast(Gid group, int lid) throws VerbsException {
        internals.multicast().detach("detach " + describe() + " from " + group, this, group);
    }

    @Override
    public void sendCompleted(boolean solicited) {
        sendCq.signal(this, solicited);
    }

    @Override
    public void ringAdded(boolean hasDatagrams) {
        receiveCq.connectionsChanged();
        if (hasDatagrams) {
            receiveCq.signal(this, true); // the poll that follows an arming may have been over before the ring was added
        }
    }

    @Override
    public void attachedTo(List<Gid> groups) {
        if (datagramReceiver != null) {
            datagramReceiver.attachedTo(groups);
        }
    }
}
