package org.verbena.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCapabilities;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;

/** A queue pair: its state, its directory entry, and the life of its connection. */
final class ShmQueuePair extends QueuePair {
    private static final int SCRATCH = 128;
    /** How long a request of type UC waits for memory that is on its way, as a time-out's code: 0.27 s. */
    private static final int MEMORY_TIMEOUT = 16;

    private final ShmContext context;
    private final ShmProtectionDomain pd;
    private final int number;
    private final OwnEntry own;
    private final long ring;
    private final long ringBytes;
    private final int receiveEntries;
    private final ShmCompletionQueue sendCq;
    private final ShmCompletionQueue receiveCq;
    private final MemorySegment memory;
    private final ShmSendQueue sendQueue;
    /** For type UD. */
    private final @Nullable DatagramReceiver datagramReceiver;
    private final ReceiveSide receiveQueue;
    /** Null if the receives are this queue pair's own. */
    private final @Nullable ShmSharedReceiveQueue srq;
    /** It has been said that no more of the shared queue is taken. */
    private final AtomicBoolean lastReceiveSaid = new AtomicBoolean();

    /** Guards changes of the state against each other; reading needs no lock. */
    private final Object stateLock = new Object();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile String errorReason = "";
    private QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
    private volatile @Nullable Session session;
    private volatile int peerNumber;
    private volatile long link;
    /** From the move to SQD until all that was started is done; written under the lock. */
    private volatile boolean draining;
    private boolean notifyDrained;
    private int epoch;
    /** The poller's, if both kinds complete on one queue. */
    private boolean sendFirst;
    private final AtomicBoolean unanswered = new AtomicBoolean();
    private final PeerDeparture departure = new PeerDeparture(this);
    private final Attendance attendance;

    ShmQueuePair(ShmContext context, ShmProtectionDomain pd, QueuePairInitAttributes init) throws VerbsException {
        super(pd, init);
        this.context = context;
        this.pd = pd;
        sendCq = (ShmCompletionQueue) init.sendCq();
        receiveCq = (ShmCompletionQueue) init.receiveCq();
        srq = (ShmSharedReceiveQueue) init.sharedReceiveQueue();
        receiveEntries = powerOfTwo(srq == null ? init.maxReceiveWr() : srq.pool().receives().capacity());
        ringBytes = srq == null ? receiveEntries * AdapterLayout.wqeStride(init.maxReceiveSge()) : 0;
        int n = -1;
        try {
            n = context.takeQueuePairNumber();
            own = new OwnEntry(context.adapter().qpEntry(n));
            ring = srq == null ? context.adapter().takeRing(ringBytes) : 0;
        } catch (VerbsException e) {
            if (n >= 0) {
                context.giveQueuePairNumber(n);
            }
            abandon();
            throw e;
        }
        number = n;
        long entry = own.address;
        int sendEntries = powerOfTwo(init.maxSendWr());
        memory = Arena.ofAuto().allocate(2 * SCRATCH + (long) sendEntries * init.maxInlineData(), 64);
        long base = memory.address();
        WorkRequest[] slots = new WorkRequest[sendEntries];
        for (int i = 0; i < sendEntries; i++) {
            slots[i] = new WorkRequest(init.maxSendSge(), init.maxInlineData(),
                    base + 2 * SCRATCH + (long) i * init.maxInlineData());
        }
        SendCompletions completions = new SendCompletions(sendEntries, sendCq.hasTimestamps());
        LocalBuffers buffers = new LocalBuffers(context.keys(), pd.index(), base);
        SendExecutor executor = new SendExecutor(this, completions, context.keys(), pd.index(), init.sqSigAll(),
                buffers, entry + AdapterLayout.QP_HAZARD);
        boolean datagrams = init.type() == QueuePairType.UD;
        datagramReceiver = datagrams ? new DatagramReceiver(this, entry + AdapterLayout.QP_LOST_RECEIVES) : null;
        DatagramExecutor datagramExecutor = datagrams
                ? new DatagramExecutor(this, context, completions, buffers, init.sqSigAll(),
                        (init.createFlags() & QueuePairCreateFlags.BLOCK_SELF_MCAST_LB) != 0,
                        entry + AdapterLayout.QP_HAZARD, entry + AdapterLayout.QP_LOST_SENDS)
                : null;
        sendQueue = new ShmSendQueue(this, context.keys(), pd.index(), slots, executor, datagramExecutor, completions,
                init.maxSendWr(), Opcode.allowed(init));
        receiveQueue = srq == null
                ? new ShmReceiveQueue(this, context.keys(), pd.index(), init.maxReceiveWr(), receiveEntries,
                        init.maxReceiveSge(), context.adapter().base() + ring, entry + AdapterLayout.QP_POSTED)
                : new AttachedReceives(this, srq.pool(), context.keys(), receiveEntries,
                        entry + AdapterLayout.QP_POSTED);
        attendance = new Attendance(this, context.engine(), sendQueue, entry + AdapterLayout.QP_STARVING);
        own.describe(number, init, ring, receiveEntries, pd.index());
        context.add(this);
        sendCq.add(this);
        receiveCq.add(this);
        opened();
    }

    private static int powerOfTwo(int n) {
        return n <= 1 ? 1 : Integer.highestOneBit(n - 1) << 1;
    }

    // ---- the API

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public String errorReason() {
        return errorReason;
    }

    @Override
    public SendQueue sendQueue() {
        return sendQueue;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    @Override
    public QueuePairAttributes query() throws VerbsException {
        checkOpen("query " + describe());
        synchronized (stateLock) {
            QueuePairInitAttributes i = initAttributes();
            return attributes.toBuilder().state(state)
                    .capabilities(QueuePairCapabilities.builder().maxSendWr(i.maxSendWr())
                            .maxReceiveWr(i.maxReceiveWr()).maxSendSge(i.maxSendSge())
                            .maxReceiveSge(i.maxReceiveSge()).maxInlineData(i.maxInlineData()).build())
                    .build();
        }
    }

    @Override
    public String describe() {
        return "QP 0x" + Integer.toHexString(number) + " of shm0";
    }

    // ---- state

    @Override
    protected void implModify(QueuePairAttributes a) throws VerbsException {
        QueuePairState wanted = a.state();
        QueuePairState from = state;
        QueuePairState to = wanted == null ? from : wanted;
        QueuePairValues.check(describe(), a);
        if (from == QueuePairState.SQD && draining && to.acceptsSends() && to != QueuePairState.ERR) {
            throw new VerbsException("modify " + describe(), Errno.EINVAL,
                    "a request that was started before SQD is not done yet: wait for SQ_DRAINED");
        }
        if (to == QueuePairState.RESET) {
            reset();
            return;
        }
        if (to == QueuePairState.ERR) {
            enterError("moved to ERR by the application", -1);
            return;
        }
        if (from == QueuePairState.INIT && to == QueuePairState.RTR) {
            if (datagramReceiver == null) {
                connect(a);
            } else {
                epoch++;
                errorReason = "";
            }
        }
        synchronized (stateLock) {
            if (state != from) {
                throw new VerbsException("modify " + describe(), Errno.EINVAL, "it has failed meanwhile: "
                        + errorReason);
            }
            attributes = attributes.with(a);
            own.setRnrTimer(attributes.minRnrTimer());
            if (to == QueuePairState.SQD && from != QueuePairState.SQD) {
                draining = true;
                notifyDrained = a.sqdAsyncNotify();
            }
            state = to;
            if (to.receives()) {
                link = Link.of(number, peerNumber, attributes.accessFlags(), epoch);
                if (datagramReceiver != null) {
                    datagramReceiver.open(link);
                }
                own.setLink(link);
            }
        }
        if (to == QueuePairState.SQD) {
            drained();
        } else if (from == QueuePairState.SQD && to == QueuePairState.RTS) {
            sendQueue.progress();
            if (sendQueue.isPending()) {
                lookAfter();
            }
        }
        Session s = session;
        if (s != null && s.isDead()) {
            peerDied("the peer has ended");
        }
    }

    /** In SQD and something that was started before is not done. */
    boolean isDraining() {
        return draining;
    }

    /** In SQD: nothing that was started is left, unless the oldest request still waits. */
    void drained() {
        synchronized (stateLock) {
            if (!draining || state == QueuePairState.SQD && sendQueue.hasBegun()) {
                return;
            }
            draining = false;
            if (state != QueuePairState.SQD || !notifyDrained) {
                return;
            }
        }
        context.raise(AsyncEvent.builder(AsyncEventType.SQ_DRAINED, this).build());
    }

    private void connect(QueuePairAttributes a) throws VerbsException {
        AddressVector av = a.addressVector();
        if (av == null || av.port() != 1 || av.sourceGidIndex() != 0) {
            throw new VerbsException("modify " + describe(), Errno.EINVAL, "AV must be from port 1, GID index 0");
        }
        Session s = context.session("connect " + describe(), av.destination().low());
        s.reach("connect " + describe(), 0);
        session = s;
        peerNumber = a.destinationQueuePair();
        epoch++;
        errorReason = "";
        departure.nobodyLeft();
        own.setPeer(s.peerInstance());
        s.add(this);
        s.share(pd.index()); // after add, see Session.unshare
        if (srq != null) {
            s.share(srq.pool().pd());
        }
        lastReceiveSaid.set(false);
        receiveQueue.connect(peerEntry(s));
        receiveCq.connectionsChanged();
    }

    Memories memories() {
        return context.memories();
    }

    @Override
    protected int implBindMemoryWindow(MemoryWindow window, long wrId, int flags, @Nullable MemoryRegion region,
            long address, long length, int access) {
        return sendQueue.bindWindow(wrId, flags, ((ShmMemoryWindow) window).window(), region, address, length, access);
    }

    /** Address of the peer's directory entry. */
    long peerEntry(Session s) {
        return s.peerBase() + AdapterLayout.qpEntry(peerNumber);
    }

    /**
     * Moves to ERR, whatever the cause; any thread may call. Does nothing unless the queue pair is in use.
     *
     * @param event the asynchronous event to raise, or -1
     */
    void enterError(String reason, int event) {
        synchronized (stateLock) {
            if (state == QueuePairState.ERR || state == QueuePairState.RESET) {
                return;
            }
            departure.begins();
            errorReason = reason; // first: who sees the state finds the reason
            state = QueuePairState.ERR;
            own.setLink(0);
        }
        departure.settle();
        if (event >= 0) {
            context.raise(AsyncEvent.builder(event, this).detail(reason).build());
        }
        receiveCq.signal(this, true);
        lookAfter();
    }

    /** A send of a queue pair that is not reliable failed here: what follows is flushed, receiving goes on. */
    void sendFailed(String reason) {
        synchronized (stateLock) {
            if (state == QueuePairState.RTS || state == QueuePairState.SQD) {
                state = QueuePairState.SQE;
                errorReason = reason;
            }
        }
    }

    /** The peer wrote or sent something that makes no sense. */
    void fatal(ProtocolException e) {
        enterError(peerName() + " broke the protocol: " + e.getMessage(), AsyncEventType.QP_FATAL);
    }

    /** A receive completed with an error; the initiator has been told already. */
    void receiveFailed(int status) {
        enterError("a receive completed with " + org.verbena.verbs.WcStatus.toString(status), -1);
    }

    void peerDied(String reason) {
        departure.peerDied();
        receiveQueue.peerDied();
        if (type() == QueuePairType.UC) {
            return; // nobody notices
        }
        unanswered.set(sendQueue.isPending());
        enterError(reason, AsyncEventType.QP_FATAL);
        lookAfter();
    }

    /** True once after the peer died: then the oldest send is the one that got no answer. */
    boolean takeUnanswered() {
        return unanswered.getAndSet(false);
    }

    private void reset() throws VerbsException {
        synchronized (stateLock) {
            if (state == QueuePairState.RESET) {
                return;
            }
            departure.begins();
            own.setLink(0);
            state = QueuePairState.ERR;
        }
        if (!departure.await()) {
            throw new VerbsException("modify " + describe(), Errno.EBUSY,
                    peerName() + " is stopped in the middle of a transfer: continue or end it first");
        }
        leave(true);
        synchronized (stateLock) {
            state = QueuePairState.RESET;
            attributes = QueuePairAttributes.to(QueuePairState.RESET).build();
            unanswered.set(false);
            errorReason = "";
        }
        // not under the lock, for it waits for whoever executes a request, and that one may need the lock
        sendQueue.reset();
        receiveQueue.reset();
    }

    /** Gives up the connection; {@code left} if no peer is inside any more. */
    private void leave(boolean left) {
        if (datagramReceiver != null) {
            datagramReceiver.close();
            receiveCq.connectionsChanged();
        }
        Session s = session;
        if (s == null) {
            return;
        }
        receiveQueue.disconnect(left);
        s.remove(this);
        own.dropLane(s);
        s.tellLaneDone(link & Link.IDENTITY);
        session = null;
        link = 0;
        peerNumber = 0;
        receiveCq.connectionsChanged();
    }

    @Override
    protected void implClose() {
        synchronized (stateLock) {
            departure.begins();
            state = QueuePairState.ERR;
            own.setLink(0);
        }
        boolean left = departure.await();
        if (datagramReceiver != null) {
            context.multicast().detachAll(this);
            sendQueue.close();
        }
        Session s = session;
        if (!left && s != null) {
            context.memories().linger(Revocation.Inside.peerOf(this, s));
        }
        sendCq.remove(this);
        receiveCq.remove(this);
        context.remove(this);
        sendQueue.giveBack();
        leave(left);
        own.free();
        if (left) {
            if (ringBytes > 0) {
                context.adapter().giveRing(ring, ringBytes);
            }
            context.giveQueuePairNumber(number);
        }
        // else a stopped peer may still look at the ring when it goes on: it stays as it is until the context is closed
    }

    // ---- the data path's view

    boolean poll(ShmCompletionQueue cq) {
        if (sendCq == receiveCq) {
            return pollBoth(cq);
        }
        return receiveCq == cq ? receiveQueue.poll(cq) : sendQueue.poll(cq);
    }

    /** In turn, so that neither kind hides the other. */
    private boolean pollBoth(ShmCompletionQueue cq) {
        sendFirst = !sendFirst;
        return sendFirst
                ? sendQueue.poll(cq) || receiveQueue.poll(cq)
                : receiveQueue.poll(cq) || sendQueue.poll(cq);
    }

    /** In state ERR, when the peer has left: says once that no more of the shared receive queue is taken. */
    void sayLastReceive() {
        if (srq != null && lastReceiveSaid.compareAndSet(false, true)) {
            context.raise(AsyncEvent.builder(AsyncEventType.QP_LAST_WQE_REACHED, this)
                    .detail("it takes no more receives of " + srq.describe()).build());
        }
    }

    /** Where in tables that the number does not fit. */
    int index() {
        return ReadySet.index(number);
    }

    int pdIndex() {
        return pd.index();
    }

    /** The protection domains whose memory the peer may have to reach. */
    int[] pds() {
        return srq == null ? new int[] {pd.index()} : new int[] {pd.index(), srq.pool().pd()};
    }

    /** True if memory of that protection domain is sent, received or reached here. */
    boolean uses(int pdIndex) {
        return pd.index() == pdIndex || srq != null && srq.pool().pd() == pdIndex;
    }

    ShmCompletionQueue sendCompletionQueue() {
        return sendCq;
    }

    ShmCompletionQueue receiveCompletionQueue() {
        return receiveCq;
    }

    @Nullable
    Session session() {
        return session;
    }

    /** True if {@code peerView} is the connection that this queue pair is in. */
    boolean isLinkedAs(long peerView) {
        return link != 0 && (link & Link.IDENTITY) == peerView;
    }

    int peerNumber() {
        return peerNumber;
    }

    // ---- datagrams

    /** The receive side if the type is UD, else null. */
    @Nullable
    DatagramReceiver datagramReceiver() {
        return datagramReceiver;
    }

    int qkey() {
        return attributes.qkey();
    }

    long instance() {
        return context.instance();
    }

    @Override
    protected void implAttachMulticast(Gid group, int lid) throws VerbsException {
        context.multicast().attach("attach " + describe() + " to " + group, this, group);
    }

    @Override
    protected void implDetachMulticast(Gid group, int lid) throws VerbsException {
        context.multicast().detach("detach " + describe() + " from " + group, this, group);
    }

    /** The multicast groups that it is in have changed. */
    void attachedTo(List<Gid> groups) {
        if (datagramReceiver != null) {
            datagramReceiver.attachedTo(groups);
        }
    }

    /** The sessions that messages come by. */
    List<Session> sessions() {
        Session s = session;
        return datagramReceiver != null ? datagramReceiver.sessions() : s == null ? List.of() : List.of(s);
    }

    /** Counts a message that could not be delivered. */
    void countLost() {
        own.countLost();
    }

    String peerName() {
        Session s = session;
        return s == null ? "the peer" : s.peerName();
    }

    long receiveScratch() {
        return memory.address() + SCRATCH;
    }

    int rnrRetry() {
        return attributes.rnrRetry();
    }

    int retryCount() {
        return attributes.retryCount();
    }

    /** 4.096 µs · 2^timeout; 0 means for ever. */
    long ackTimeoutNanos() {
        int t = type() == QueuePairType.UC ? MEMORY_TIMEOUT : attributes.timeout();
        return t == 0 ? 0 : 4096L << t;
    }

    /** The far end, if it is connected to this one by now. */
    @Nullable
    Remote findRemote() throws ProtocolException {
        Session s = session;
        return s == null || s.isDead() ? null : Remote.find(s, number, peerNumber, type());
    }

    /** Makes the lane to the far end and tells it where. */
    LaneWriter makeLane(Remote r) throws VerbsException {
        return own.makeLane(r);
    }

    /** The lane that the peer made for this connection; null if there is none yet. */
    @Nullable
    LaneReader findLane(int entries) throws ProtocolException {
        Session s = session;
        if (s == null) {
            return null;
        }
        return LaneReader.find(s, peerEntry(s), link & Link.IDENTITY, entries);
    }

    /** The lane for others than the poller, who alone keeps it and finds out if what the peer says makes no sense. */
    @Nullable
    LaneReader peekLane(int entries) {
        try {
            return findLane(entries);
        } catch (ProtocolException e) {
            return null;
        }
    }

    /** How many completions this queue pair has made for {@code cq}, polled or not. */
    long completions(ShmCompletionQueue cq) {
        return (receiveCq == cq ? receiveQueue.completions() : 0) + (sendCq == cq ? sendQueue.completions() : 0)
                + completionsWaiting(cq);
    }

    /** How many completions for {@code cq} wait to be polled. */
    long completionsWaiting(ShmCompletionQueue cq) {
        Session s = session;
        long n = (receiveCq == cq ? receiveQueue.completionsWaiting() : 0)
                + (sendCq == cq ? sendQueue.completionsWaiting() : 0);
        KeepAlive.until(s);
        return n;
    }

    long ownHazard() {
        return own.hazard();
    }

    /** What the peer touches now; 0 if it is dead or not connected. */
    long peerHazard() {
        Session s = session;
        return s == null || s.isDead() ? 0 : RawMemory.getLongAcquire(peerEntry(s) + AdapterLayout.QP_HAZARD);
    }

    /** True if a peer has signalled this arm word last. */
    boolean isNotified(long armWord) {
        if (datagramReceiver != null) {
            return datagramReceiver.isNotified(armWord);
        }
        Session s = session;
        return s != null && ArmWord.isSame(RawMemory.getLongAcquire(peerEntry(s) + AdapterLayout.QP_NOTIFIED), armWord);
    }

    void notifyPeer(Remote r, long armWord) {
        own.setNotified(armWord);
        r.session.ring(ArmWord.bell(armWord, r.channel));
    }

    void wakeStarvingPeer() {
        Session s = session;
        if (s != null) {
            s.ring(0);
        }
    }

    /** Something waits, or has failed: the engine goes on with it if the application does not. */
    void lookAfter() {
        attendance.lookAfter();
    }

    /** A send that waited for a receive waits no more. */
    void fed() {
        attendance.fed();
    }

    /** What the engine does for this queue pair. */
    Attendance attendance() {
        return attendance;
    }

    /**
     * In state ERR: true if the peer touches no posted receive any more, or had time enough to leave.
     */
    boolean peerHasLeft() {
        return departure.isOver();
    }
}
