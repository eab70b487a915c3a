// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketState;
import org.verbena.sockets.stream.memory.Bell;
import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.telemetry.StreamEvents;

/** A connection that goes through a handshake, and mostly by rings after it. */
final class RingStream extends Stream {
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    private final SocketChannel tcp;
    private final Doorbells bells;
    private final Inbound in;
    private final Outbound out;
    private volatile @Nullable Link link;
    private volatile @Nullable Listener listener;
    private volatile @Nullable Handshake handshake;
    private final @Nullable String device;
    private final CarrierDecision carrier;
    private final FileGate files;
    private final Rendezvous rendezvous = new Rendezvous(this);
    /** Leaves {@code OPEN} under this object's monitor, once; the thread that does so decides what follows. */
    private volatile Closure closure = Closure.OPEN;
    /** The memory is released, or about to be. */
    private boolean taken;
    /** The handshake is complete, with offers of both ends. */
    private volatile boolean offered;
    /** The two halves end independently, as those of TCP. */
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    /** Written under the session's lock. */
    private long doorbells;

    /**
     * @param device by which the other end is sought if it is not on this host; null if TCP carries it then
     * @param earns whether the handshake begins when TCP has carried enough, rather than when the caller says so
     */
    RingStream(SocketChannel tcp, Role role, @Nullable String device, boolean earns) {
        super(role, ResponseTimes.ofNew());
        this.tcp = tcp;
        this.device = device;
        carrier = new CarrierDecision(tcp, earns);
        files = new FileGate(device == null); // a handshake with another host has no time to wait for a file
        bells = new Doorbells(tcp);
        out = new Outbound(tcp, bells, this::changed);
        in = new Inbound(tcp, this::changed, bells, out.ending());
    }

    void handshake(Handshake pending) {
        handshake = pending;
    }

    /** The handshake under way; null when it is complete, or has failed. */
    @Nullable
    Handshake handshake() {
        return handshake;
    }

    @Nullable
    String device() {
        return device;
    }

    @Override
    public void beginHandshake() {
        if (carrier.begin()) {
            StreamEngine.begin(this);
        }
    }

    private long bytesByTcp() {
        return in.bytesByTcp() + out.bytesByTcp();
    }

    /** What follows a read of {@code n} bytes. */
    private long received(long n) {
        if (n > 0) {
            ResponseTimes.answered(times);
            if (carrier.isEarning() && carrier.received(bytesByTcp())) {
                beginHandshake();
            }
        }
        return n;
    }

    /** What follows a write of {@code n} bytes. */
    private long sent(long n, boolean asked) {
        if (n > 0) {
            if (carrier.isEarning() && carrier.sent(bytesByTcp())) {
                beginHandshake();
            }
        } else if (asked) {
            ResponseTimes.hasNotAsked(times);
        }
        return n;
    }

    // what the handshake does

    /** Lets the kernel send no further file; whether it sends none. To be called before {@link #prepare} until that is so. */
    boolean stopsFiles() {
        return files.close();
    }

    /** The connection's part in the session; null if the stream was closed meanwhile, or TCP has ended. */
    synchronized boolean prepare(Link own) {
        if (closure != Closure.OPEN || !in.prepare(own)) {
            return false;
        }
        link = own;
        return true;
    }

    /** Both ends have made their offers. The stream may be closed: then the peer is informed. */
    void completeHandshake(Offer peer) {
        Link own = link;
        if (own == null) {
            throw new IllegalStateException("no offer was made");
        }
        Closure how;
        handshake = null;
        synchronized (this) {
            out.open(own, peer);
            carrier.succeed();
            offered = true; // after it: a writer that finds the handshake done writes into the ring
            if (out.isByRing()) {
                StreamEvents.byRing(tcp, "out", out.bytesByTcp());
            }
            how = closure;
        }
        if (how == Closure.OPEN) {
            in.onPeerOffer(out);
            changed();
            rendezvous.changed();
        } else if (how != Closure.CLOSING) { // while it is closing, the thread that closes it will find the ring, and knows how
            out.close(how.end());
        }
    }

    /** The handshake has failed: TCP carries what is to come. */
    void fallBack(FallbackReason why) {
        handshake = null;
        if (carrier.fail(why, device == null, bytesByTcp())) {
            in.stayWithTcp();
            out.stayWithTcp();
            changed();
        }
        rendezvous.changed();
    }

    @Override
    public boolean staysWithTcp() {
        return carrier.isFinallyTcp();
    }

    synchronized boolean isClosed() {
        return closure != Closure.OPEN;
    }

    FallbackReason reason() {
        return carrier.reason();
    }

    // what the session calls, with its lock held

    int index() {
        Link own = link;
        return own == null ? -1 : own.index;
    }

    void dataArrived() {
        out.arrived(this);
    }

    void spaceArrived() {
        PeerBlock peer = out.peer();
        if (peer != null) { // else it was for one that had the number before
            peer.find();
            in.arrived(this, peer);
        }
    }

    /** The peer has called: it may want a larger ring, or have sent its nonce. On the engine's thread. */
    void grow() {
        in.grow(out);
        rendezvous.poll();
    }

    /** Wakes the peer by a byte on TCP, which carries nothing else any more. */
    void ringDoorbell(ByteBuffer one) {
        if (out.isByRing() && bells.ring(one)) {
            doorbells++;
        }
    }

    void changed() {
        in.wake();
        Listener target = listener;
        if (target != null) {
            target.changed();
        }
    }

    // what channels and selectors call

    @Override
    public int read(ByteBuffer into) throws IOException {
        return (int) received(in.read(into, out));
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        return received(readAll(into, offset, length));
    }

    private long readAll(ByteBuffer[] into, int offset, int length) throws IOException {
        if (in.isByTcp()) {
            return in.readTcp(into, offset, length);
        }
        long total = 0;
        for (int i = offset; i < offset + length; i++) {
            if (into[i].hasRemaining()) {
                int n = in.read(into[i], out);
                if (n <= 0) {
                    return total > 0 ? total : n;
                }
                total += n;
                // the end, or an error that is reported once, is left to the next call
                if (into[i].hasRemaining() || !in.isUnread(false)) {
                    return total;
                }
            }
        }
        return total;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        boolean asked = ResponseTimes.asks(times, out);
        return (int) sent(out.write(from), asked);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        boolean asked = ResponseTimes.asks(times, out);
        return sent(out.write(from, offset, length), asked);
    }

    @Override
    public boolean makesRoom() {
        return out.makesRoom();
    }

    @Override
    public long sendFile(FileChannel file, long position, long count) throws IOException {
        long n = carrier.isFinallyTcp() ? -1 : sent(files.send(out, file, position, count), false);
        if (n >= 0) {
            return n;
        }
        boolean asked = ResponseTimes.asks(times, out);
        return sent(out.sendFile(file, position, count), asked);
    }

    @Override
    public @Nullable RingLoan loan() {
        return offered && FileHold.isPossible() ? in.loan(out) : null; // with an offer the memory stays until it is let go
    }

    @Override
    public int sendZeroCopy(ByteBuffer from) throws IOException {
        return out.sendZeroCopy(from);
    }

    @Override
    public void sendUrgent(int data) throws IOException {
        out.sendUrgent(data);
    }

    @Override
    public int readyOps(int ops) {
        int ready = 0;
        if ((ops & READ) != 0 && in.isReady()) {
            ready |= READ;
        }
        if ((ops & WRITE) != 0 && out.isReady()) {
            ready |= WRITE;
        }
        return ready;
    }

    @Override
    public int kernelOps(int ops) {
        int wanted = 0;
        if ((ops & WRITE) != 0 && !out.isByRing()) {
            wanted |= WRITE;
        }
        // which signals room to a writer
        boolean takesDoorbell = (ops & WRITE) != 0 && out.isByRing() && in.findsDoorbells();
        if (((ops & READ) != 0 || takesDoorbell) && in.needsKernel()) {
            wanted |= READ;
        }
        return wanted;
    }

    @Override
    public int kernelReady(int kernelReadyOps, int ops) {
        int ready = 0;
        if ((kernelReadyOps & READ) != 0 && in.kernelReady()) {
            ready |= READ;
        }
        if ((kernelReadyOps & WRITE) != 0 && !out.isByRing()) {
            ready |= WRITE;
        }
        return (ready | readyOps(ops)) & ops;
    }

    @Override
    public void leaveDoorbell() {
        in.leaveDoorbell();
        ExitHook.install();
    }

    @Override
    public boolean takeLeftDoorbell() {
        return in.takeLeftDoorbell();
    }

    @Override
    public @Nullable Bell bell() {
        return in.bell(out.peer());
    }

    @Override
    public void giveUpBell() {
        in.giveUpBell();
        changed();
    }

    @Override
    public int armBell(int ops) {
        return arm(ops, BlockLayout.BELL_QUEUE);
    }

    @Override
    public int arm(int ops, @Nullable ReadyQueue queue) {
        Link own = link;
        return arm(ops, queue != null && own != null ? queue.attach(own.session) : 0);
    }

    private int arm(int ops, int id) {
        int ready = 0;
        in.enterIfDue();
        if ((ops & READ) != 0 && in.arm(id, out)) {
            ready |= READ;
        }
        if ((ops & WRITE) != 0 && out.arm(id)) {
            ready |= WRITE;
        }
        return ready;
    }

    @Override
    public void listen(@Nullable Listener newListener) {
        listener = newListener;
    }

    @Override
    public boolean keepOutputByTcp() {
        out.stayWithTcp();
        return !out.isByRing();
    }

    @Override
    public boolean hasPeerUrgentOption() {
        return out.hasPeerUrgentOption();
    }

    @Override
    public boolean isBroken() {
        Link own = link;
        return closure == Closure.CUT_OFF || own != null && own.session.isFailed() && out.isByRing();
    }

    @Override
    public void stopWaitingForPeer() {
        out.stopWaitingForPeer();
    }

    @Override
    public boolean takesUrgentInline() {
        return out.takesUrgentInline();
    }

    @Override
    public void urgentInline(boolean on) {
        out.urgentInline(on);
    }

    @Override
    public void stayWithTcp(FallbackReason why) {
        if (carrier.prevent()) {
            fallBack(why);
            return;
        }
        Handshake pending = handshake;
        if (pending != null) {
            pending.refuse(why);
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        outputEnded = true;
        out.end(BlockLayout.END_ORDERLY);
    }

    @Override
    public void shutdownInput() throws IOException {
        inputEnded = true;
        in.shutdown();
    }

    @Override
    public void close(boolean reset) {
        synchronized (this) {
            if (closure != Closure.OPEN) {
                return;
            }
            closure = Closure.CLOSING;
        }
        listener = null;
        in.enterIfDue(); // a program that never read from the ring leaves unread what is there
        boolean unread = in.isUnread(out.isByRing());
        boolean cutOff = unread && !out.hasPeer();
        closure = cutOff ? Closure.CUT_OFF : reset || unread ? Closure.ABORTED : Closure.ORDERLY;
        out.close(closure.end());
        in.leave();
        carrier.close();
        StreamCounters.closed(this);
        StreamEngine.closed(this);
        rendezvous.changed();
    }

    @Override
    public int available(int inTcp) {
        return in.available(inTcp);
    }

    @Override
    public void pollTcp() {
        if (in.pollTcp()) {
            changed(); // it was for another thread
        }
    }

    @Override
    public boolean isHandshakeComplete() {
        return offered;
    }

    @Override
    public boolean isInputByRing() {
        return in.isByRing();
    }

    @Override
    public boolean isOutputByRing() {
        return out.isByRing();
    }

    @Override
    public String fallbackReason() {
        return carrier.sentence();
    }

    @Override
    void addTo(StreamTally tally) {
        tally.add(out.bytesByRing(), out.bytesByTcp(), in.bytesByRing(), in.bytesByTcp(), doorbells + out.rings(),
                in.wakeUps(), out.stalls(), in.growths() + out.growths());
    }

    @Override
    synchronized void state(StreamState.Reader to) {
        int state = handshake == null ? StreamState.state(inputEnded, outputEnded) : SocketState.HANDSHAKE;
        Link own = link;
        if (closure != Closure.OPEN || !offered || own == null) { // as long as it is open the rings stay
            to.readByTcp(state, carrier.reason());
            return;
        }
        synchronized (own.session) {
            long unread = in.unread();
            to.read(state, in.isByRing(), out.isByRing(), carrier.reason(), out.ringSize(), out.occupied(),
                    in.ringSize(unread), unread);
        }
    }

    @Override
    @Nullable
    String remoteDevice() {
        Link own = link;
        return own == null || !offered ? null : own.session.remoteDevice();
    }

    @Override
    public Rendezvous rendezvous() {
        return rendezvous;
    }

    @Override
    SocketChannel tcp() {
        return tcp;
    }

    /** The session failed, and TCP continues: ends waits for the ring. */
    void breakOff() {
        if (!isClosed()) {
            in.breakOff();
            changed();
        }
    }

    /** The kernel reports that TCP has ended, or half of it. On the engine's thread. */
    void tcpEnded() {
        if (isClosed()) {
            return;
        }
        if (!bells.areShut()) {
            in.tcpEnded();
            return;
        }
        synchronized (this) {
            if (closure == Closure.OPEN) { // so the descriptor is still this connection's
                bells.askKernel();
            }
        }
    }

    /**
     * Finds out what the end of TCP means, and wakes waiting threads; on the engine's thread.
     *
     * @return whether that is undecided
     */
    boolean isUndecided() {
        Link own = link;
        if (own == null || isClosed()) {
            return false;
        }
        int how = out.ending().state(own);
        if (how == Ending.UNDECIDED) {
            out.ending().ask(own);
            return true;
        }
        if (how == Ending.RESET || how == Ending.FAILED) {
            out.breakOff(own);
        }
        changed();
        return false;
    }

    /** Whether it was closed with bytes unread, or by a reset: what the peer has not read yet may be lost. */
    boolean isAborted() {
        Closure how = closure;
        return how == Closure.ABORTED || how == Closure.CUT_OFF;
    }

    /** For the one release of the memory; null if there is none, or it is taken. */
    synchronized @Nullable Link takeLink() {
        Link own = link;
        boolean first = !taken;
        taken = true;
        return first ? own : null;
    }

    /** Its part in the session; null before there is one. */
    @Nullable
    Link link() {
        return link;
    }

    @Override
    Inbound in() {
        return in;
    }

    @Override
    Outbound out() {
        return out;
    }
}
