// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A reliable connected queue pair of a {@link Fabric}: SEND, WRITE with and without immediate value, and READ of one buffer, in order. */
final class FabricQueuePair extends QueuePair {
    private static int nextNumber = 1;

    private enum Operation {
        SEND, WRITE, WRITE_IMM, READ;

        boolean takesReceive() {
            return this == SEND || this == WRITE_IMM;
        }
    }

    private static final class Request {
        final Operation operation;
        final long wrId;
        final boolean signalled;
        final int rkey;
        final long remote;
        int immediate;
        int lkey;
        long address;
        long length;
        byte @Nullable [] inline;

        Request(Operation operation, long wrId, int flags, int rkey, long remote) {
            this.operation = operation;
            this.wrId = wrId;
            signalled = (flags & SendFlags.SIGNALED) != 0;
            this.rkey = rkey;
            this.remote = remote;
        }
    }

    private record Receive(long wrId, int lkey, long address, long length) {}

    private final Fabric fabric;
    private final ProtectionDomain domain;
    private final Fabric.Completions sent;
    private final Fabric.Completions received;
    private final int number = nextNumber++;
    private final ArrayDeque<Request> requests = new ArrayDeque<>();
    private final ArrayDeque<Receive> receives = new ArrayDeque<>();
    private final SendQueue sends = new Sends();
    private final ReceiveQueue receiveQueue = new Receives();
    private QueuePairState state = QueuePairState.RESET;
    private @Nullable FabricQueuePair peer;
    /** Requests that occupy a slot of the queue: until their completion, or that of a later one, was polled. */
    private int taken;
    private int unsignalled;
    /** The next copies are refused for lack of slots, unless they are the only ones. */
    private boolean refuses;

    FabricQueuePair(Fabric fabric, ProtectionDomain domain, QueuePairInitAttributes init) throws VerbsException {
        super(domain, init);
        this.fabric = fabric;
        this.domain = domain;
        sent = (Fabric.Completions) init.sendCq();
        received = (Fabric.Completions) init.receiveCq();
    }

    static void connect(FabricQueuePair a, FabricQueuePair b) {
        a.peer = b;
        b.peer = a;
        a.state = QueuePairState.RTS;
        b.state = QueuePairState.RTS;
    }

    void refuseOnce() {
        refuses = true;
    }

    void freed(int places) {
        taken -= places;
    }

    /** Requests that have not been carried out. */
    int waiting() {
        return requests.size();
    }

    int receives() {
        return receives.size();
    }

    /** The peer has failed, or is closed, and this end has not been notified. */
    boolean hasNews() {
        FabricQueuePair other = peer;
        return state == QueuePairState.RTS && other != null && other.state != QueuePairState.RTS;
    }

    void receive() {
        fail();
    }

    /** Whether {@link #carryOut} would do something. */
    boolean canGoOn() {
        FabricQueuePair other = peer;
        if (state != QueuePairState.RTS || other == null || other.state != QueuePairState.RTS || requests.isEmpty()) {
            return false;
        }
        return !requests.element().operation.takesReceive() || !other.receives.isEmpty();
    }

    /** Whether the next request is a message for which the peer has no receive. */
    boolean lacksReceive() {
        FabricQueuePair other = peer;
        return state == QueuePairState.RTS && other != null && other.state == QueuePairState.RTS && !requests.isEmpty()
                && requests.element().operation.takesReceive() && other.receives.isEmpty();
    }

    /** Carries out the next request. */
    void carryOut() {
        FabricQueuePair other = java.util.Objects.requireNonNull(peer);
        Request request = requests.remove();
        int status = switch (request.operation) {
            case SEND -> send(request, other);
            case WRITE -> move(request, other, AccessFlags.REMOTE_WRITE);
            case WRITE_IMM -> moveAndTell(request, other);
            case READ -> move(request, other, AccessFlags.REMOTE_READ);
        };
        done(request, status);
        if (status != WcStatus.SUCCESS) {
            fabric.fault(request.operation + " " + request.wrId + ": " + WcStatus.toString(status));
            fail();
        }
    }

    private int send(Request request, FabricQueuePair other) {
        Receive into = other.receives.remove();
        MemorySegment to = fabric.memory(into.lkey, other.domain, into.address, into.length, AccessFlags.LOCAL_WRITE);
        byte[] inline = request.inline;
        MemorySegment from = inline != null
                ? MemorySegment.ofArray(inline)
                : fabric.memory(request.lkey, domain, request.address, request.length, 0);
        if (from == null || to == null || from.byteSize() > to.byteSize()) {
            return WcStatus.LOC_PROT_ERR;
        }
        MemorySegment.copy(from, 0, to, 0, from.byteSize());
        other.received.add(Fabric.Completion.received(other, into.wrId, WcStatus.SUCCESS, from.byteSize()));
        return WcStatus.SUCCESS;
    }

    private int moveAndTell(Request request, FabricQueuePair other) {
        int status = move(request, other, AccessFlags.REMOTE_WRITE);
        if (status == WcStatus.SUCCESS) {
            other.received.add(Fabric.Completion.immediate(other, other.receives.remove().wrId, request.length,
                    request.immediate));
        }
        return status;
    }

    private int move(Request request, FabricQueuePair other, int access) {
        if (request.length == 0) {
            return WcStatus.SUCCESS; // regardless of its key
        }
        MemorySegment remote = fabric.memory(request.rkey, other.domain, request.remote, request.length, access);
        boolean write = access == AccessFlags.REMOTE_WRITE;
        MemorySegment local = fabric.memory(request.lkey, domain, request.address, request.length, write
                ? 0
                : AccessFlags.LOCAL_WRITE);
        if (remote == null) {
            return WcStatus.REM_ACCESS_ERR;
        }
        if (local == null) {
            return WcStatus.LOC_PROT_ERR;
        }
        MemorySegment.copy(write ? local : remote, 0, write ? remote : local, 0, request.length);
        return WcStatus.SUCCESS;
    }

    private void done(Request request, int status) {
        unsignalled++;
        if (request.signalled || status != WcStatus.SUCCESS) {
            sent.add(Fabric.Completion.sent(this, request.wrId, status, request.length, unsignalled));
            unsignalled = 0;
        }
    }

    private void fail() {
        if (state == QueuePairState.ERR) {
            return;
        }
        state = QueuePairState.ERR;
        for (Request request = requests.poll(); request != null; request = requests.poll()) {
            done(request, WcStatus.WR_FLUSH_ERR);
        }
        for (Receive receive = receives.poll(); receive != null; receive = receives.poll()) {
            received.add(Fabric.Completion.received(this, receive.wrId, WcStatus.WR_FLUSH_ERR, 0));
        }
    }

    private final class Sends extends SendQueue {
        private final List<Request> batch = new ArrayList<>();
        private int error = Errno.EINVAL;

        @Override
        public SendQueue start() {
            batch.clear();
            error = 0;
            return this;
        }

        private SendQueue add(Request request) {
            batch.add(request);
            return this;
        }

        @Override
        public SendQueue send(long wrId, int flags) {
            return add(new Request(Operation.SEND, wrId, flags, 0, 0));
        }

        @Override
        public SendQueue sendImmediate(long wrId, int flags, int immediate) {
            return unsupported();
        }

        @Override
        public SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
            return add(new Request(Operation.WRITE, wrId, flags, rkey, remoteAddress));
        }

        @Override
        public SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
            Request request = new Request(Operation.WRITE_IMM, wrId, flags, rkey, remoteAddress);
            request.immediate = immediate;
            return add(request);
        }

        @Override
        public SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
            return add(new Request(Operation.READ, wrId, flags, rkey, remoteAddress));
        }

        @Override
        public SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
            return unsupported();
        }

        @Override
        public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
            return unsupported();
        }

        @Override
        public SendQueue sge(int lkey, long address, long length) {
            Request last = batch.getLast();
            last.lkey = lkey;
            last.address = address;
            last.length = length;
            return this;
        }

        @Override
        public SendQueue inline(MemorySegment data, long offset, long length) {
            Request last = batch.getLast();
            last.inline = data.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
            last.length = length;
            return this;
        }

        @Override
        public int complete() {
            int answer = state == QueuePairState.RTS || state == QueuePairState.ERR ? error : Errno.EINVAL;
            error = Errno.EINVAL;
            if (answer == 0 && (taken + batch.size() > initAttributes().maxSendWr() || refuses && taken > 0
                    && batch.getFirst().operation != Operation.SEND)) {
                refuses = false;
                answer = Errno.ENOMEM;
            }
            if (answer == 0) {
                taken += batch.size();
                if (state == QueuePairState.ERR) {
                    batch.forEach(request -> done(request, WcStatus.WR_FLUSH_ERR));
                } else {
                    requests.addAll(batch);
                }
            }
            return answer;
        }

        @Override
        public void abort() {
            error = Errno.EINVAL;
        }

        @Override
        protected SendQueue unsupported() {
            error = error == 0 ? Errno.EOPNOTSUPP : error;
            return this;
        }
    }

    private final class Receives extends ReceiveQueue {
        private long wrId;
        private Receive one = new Receive(0, 0, 0, 0);

        @Override
        public ReceiveQueue start() {
            return this;
        }

        @Override
        public ReceiveQueue receive(long id) {
            wrId = id;
            return this;
        }

        @Override
        public ReceiveQueue sge(int lkey, long address, long length) {
            one = new Receive(wrId, lkey, address, length);
            return this;
        }

        @Override
        public int complete() {
            if (receives.size() == initAttributes().maxReceiveWr()) {
                fabric.fault("more receives than there are places for");
                return Errno.ENOMEM;
            }
            if (state == QueuePairState.ERR) {
                received.add(Fabric.Completion.received(FabricQueuePair.this, one.wrId, WcStatus.WR_FLUSH_ERR, 0));
            } else {
                receives.add(one);
            }
            return 0;
        }
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public QueuePairAttributes query() {
        return QueuePairAttributes.to(state).build();
    }

    @Override
    public SendQueue sendQueue() {
        return sends;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    @Override
    protected void implModify(QueuePairAttributes attributes) {
        if (attributes.state() == QueuePairState.ERR) {
            fail();
        } else if (attributes.state() != null) {
            state = attributes.state();
        }
    }

    @Override
    public String describe() {
        return "QP " + number + " of fabric0";
    }

    @Override
    protected void implClose() {
        state = QueuePairState.RESET;
        fabric.closed(this);
    }
}
