// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Verbs without a network, for a test that plays the other end: posted requests complete at once and are passed to it,
 * and its messages arrive at once. Nothing happens spontaneously.
 */
final class ScriptedVerbs extends Context {
    /** The other end. */
    interface OtherEnd {
        /** A message has been sent. */
        void message(MemorySegment bytes);

        /** Bytes are written to memory of the other end, or read from it. */
        void copy(boolean write, int rkey, long address, long length);

        /** Bytes have been written, with an immediate value. */
        void immediate(int immediate, int rkey, long address, long length);
    }

    private static final class Nowhere extends Device {
        @Override
        public String name() {
            return "scripted0";
        }

        @Override
        public String provider() {
            return "scripted";
        }

        @Override
        public String transport() {
            return "none";
        }

        @Override
        public long guid() {
            return 1;
        }

        @Override
        protected Context implOpen() throws VerbsException {
            throw new VerbsException("open " + name(), Errno.EOPNOTSUPP, "a test makes it");
        }
    }

    private static final int MANY = 1 << 16;

    private final OtherEnd other;
    private final Arena arena = Arena.ofShared();
    private final Map<Integer, Region> regions = new HashMap<>();
    private int keys;
    private int numbers;

    ScriptedVerbs(OtherEnd other) throws VerbsException {
        this.other = other;
        opened();
    }

    @Override
    public Device device() {
        return new Nowhere();
    }

    @Override
    public DeviceAttributes queryDevice() {
        return DeviceAttributes.builder().maxMrSize(1L << 40).maxQp(MANY, MANY).maxSge(1).maxInlineData(64).maxCq(MANY,
                MANY).maxMr(MANY).maxPd(MANY).build();
    }

    @Override
    public PortAttributes queryPort(int port) {
        return PortAttributes.builder().state(PortAttributes.STATE_ACTIVE).maxMessageSize(1 << 20).build();
    }

    @Override
    public Gid queryGid(int port, int index) {
        return new Gid(1, 1);
    }

    @Override
    public ConnectionManager connectionManager() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        return new Domain(this);
    }

    @Override
    public CompletionChannel createCompletionChannel() throws VerbsException {
        return new Channel(this);
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        return new Queue(this, attributes);
    }

    @Override
    public String describe() {
        return "scripted0";
    }

    @Override
    protected void implClose() {
        arena.close();
    }

    /** Delivers a message; false if no receive is posted. */
    static boolean arrive(QueuePair at, byte[] message) {
        return ((Pair) at).receives.arrive(message);
    }

    /** Delivers the completion of a write with immediate; false if no receive is posted. */
    static boolean arrive(QueuePair at, int immediate, long length) {
        return ((Pair) at).receives.arrive(immediate, length);
    }

    private MemorySegment memory(int key, long address, long length) {
        Region region = Objects.requireNonNull(regions.get(key), "a key that there is not");
        return region.segment().asSlice(address - region.address(), length);
    }

    private static final class Channel extends CompletionChannel {
        Channel(ScriptedVerbs context) throws VerbsException {
            super(context);
            context.adopt(this);
            opened();
        }

        @Override
        public int descriptor() {
            return -1;
        }

        @Override
        public @Nullable CompletionQueue await(Duration timeout) {
            return null;
        }

        @Override
        public String describe() {
            return "scripted channel";
        }

        @Override
        protected void implClose() {}
    }

    private static final class Domain extends ProtectionDomain {
        private final ScriptedVerbs context;

        Domain(ScriptedVerbs context) throws VerbsException {
            super(context);
            this.context = context;
            context.adopt(this);
            opened();
        }

        @Override
        protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
            return new Region(context, this, context.arena.allocate(bytes, 64), access);
        }

        @Override
        protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
            return new Region(context, this, memory, access);
        }

        @Override
        protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
            return new Pair(context, this, attributes);
        }

        @Override
        public String describe() {
            return "scripted PD";
        }

        @Override
        protected void implClose() {}
    }

    private static final class Region extends MemoryRegion {
        private final ScriptedVerbs context;
        private final int key;

        Region(ScriptedVerbs context, ProtectionDomain pd, MemorySegment segment, int access) throws VerbsException {
            super(pd, segment, access);
            this.context = context;
            key = ++context.keys;
            context.regions.put(key, this);
            context.adopt(this);
            opened();
        }

        @Override
        public int lkey() {
            return key;
        }

        @Override
        public int rkey() {
            return key;
        }

        @Override
        public String describe() {
            return "scripted MR";
        }

        @Override
        protected void implClose() {
            context.regions.remove(key);
        }
    }

    /** Thread-safe, since a thread that waits for copies polls, too. */
    private static final class Queue extends CompletionQueue {
        private record Done(long wrId, int status, long bytes, int opcode, int immediate) {}

        private final Deque<Done> done = new ArrayDeque<>();
        private Done now = new Done(0, 0, 0, WcOpcode.SEND, 0);

        Queue(ScriptedVerbs context, CompletionQueueAttributes attributes) throws VerbsException {
            super(context, attributes);
            context.adopt(this);
            opened();
        }

        void add(long wrId, int status, long bytes) {
            add(wrId, status, bytes, WcOpcode.SEND, 0);
        }

        synchronized void add(long wrId, int status, long bytes, int opcode, int immediate) {
            done.add(new Done(wrId, status, bytes, opcode, immediate));
        }

        @Override
        public int cqe() {
            return MANY;
        }

        @Override
        public synchronized int startPoll() {
            Done next = done.poll();
            now = next == null ? now : next;
            return next == null ? Errno.ENOENT : 0;
        }

        @Override
        public int nextPoll() {
            return startPoll();
        }

        @Override
        public void endPoll() {}

        @Override
        public long wrId() {
            return now.wrId();
        }

        @Override
        public int status() {
            return now.status();
        }

        @Override
        public int opcode() {
            return now.opcode();
        }

        @Override
        public int vendorError() {
            return 0;
        }

        @Override
        public long byteLength() {
            return now.bytes();
        }

        @Override
        public int immediate() {
            return now.immediate();
        }

        @Override
        public int queuePairNumber() {
            return 0;
        }

        @Override
        public int flags() {
            return 0;
        }

        @Override
        public int requestNotify(boolean solicitedOnly) {
            return 0;
        }

        @Override
        public String describe() {
            return "scripted CQ";
        }

        @Override
        protected void implClose() {}
    }

    private static final class Pair extends QueuePair {
        private final Sends sends;
        private final Receives receives;
        private final int number;
        private QueuePairState state = QueuePairState.RESET;

        Pair(ScriptedVerbs context, Domain pd, QueuePairInitAttributes init) throws VerbsException {
            super(pd, init);
            sends = new Sends(context, (Queue) init.sendCq());
            receives = new Receives(context, (Queue) init.receiveCq());
            number = ++context.numbers;
            context.adopt(this);
            opened();
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
        public QueuePairAttributes query() throws VerbsException {
            throw new VerbsException("query", Errno.EOPNOTSUPP, "");
        }

        @Override
        public SendQueue sendQueue() {
            return sends;
        }

        @Override
        public ReceiveQueue receiveQueue() {
            return receives;
        }

        @Override
        protected void implModify(QueuePairAttributes attributes) {
            state = attributes.state();
        }

        @Override
        public String describe() {
            return "scripted QP";
        }

        @Override
        protected void implClose() {}
    }

    /** Each request ends with its one buffer. */
    private static final class Sends extends SendQueue {
        private final ScriptedVerbs context;
        private final Queue done;
        private final List<Runnable> batch = new ArrayList<>();
        private long wrId;
        private int flags;
        private boolean copies;
        private boolean writes;
        private int rkey;
        private long remote;
        private @Nullable Integer immediate;

        Sends(ScriptedVerbs context, Queue done) {
            this.context = context;
            this.done = done;
        }

        @Override
        public SendQueue start() {
            batch.clear();
            return this;
        }

        private SendQueue request(long id, int how, boolean isCopy, boolean isWrite, int key, long address) {
            wrId = id;
            flags = how;
            copies = isCopy;
            writes = isWrite;
            rkey = key;
            remote = address;
            immediate = null;
            return this;
        }

        @Override
        public SendQueue send(long id, int how) {
            return request(id, how, false, false, 0, 0);
        }

        @Override
        public SendQueue sendImmediate(long id, int how, int immediate) {
            return unsupported();
        }

        @Override
        public SendQueue write(long id, int how, int key, long address) {
            return request(id, how, true, true, key, address);
        }

        @Override
        public SendQueue writeImmediate(long id, int how, int key, long address, int value) {
            request(id, how, true, true, key, address);
            immediate = value;
            return this;
        }

        @Override
        public SendQueue read(long id, int how, int key, long address) {
            return request(id, how, true, false, key, address);
        }

        @Override
        public SendQueue compareAndSwap(long id, int how, int key, long address, long compare, long swap) {
            return unsupported();
        }

        @Override
        public SendQueue fetchAndAdd(long id, int how, int key, long address, long add) {
            return unsupported();
        }

        @Override
        public SendQueue sge(int lkey, long address, long length) {
            return buffer(context.memory(lkey, address, length));
        }

        @Override
        public SendQueue inline(MemorySegment data, long offset, long length) {
            MemorySegment copy = MemorySegment.ofArray(new long[(int) (length + 7 >>> 3)]).asSlice(0, length);
            return buffer(copy.copyFrom(data.asSlice(offset, length)));
        }

        private SendQueue buffer(MemorySegment bytes) {
            long id = wrId;
            boolean signaled = (flags & SendFlags.SIGNALED) != 0;
            boolean isCopy = copies;
            boolean isWrite = writes;
            int key = rkey;
            long address = remote;
            Integer completion = immediate;
            batch.add(() -> {
                if (isCopy) {
                    context.other.copy(isWrite, key, address, bytes.byteSize());
                } else {
                    context.other.message(bytes);
                }
                if (completion != null) {
                    context.other.immediate(completion, key, address, bytes.byteSize());
                }
                if (signaled) {
                    done.add(id, WcStatus.SUCCESS, bytes.byteSize());
                }
            });
            return this;
        }

        @Override
        public int complete() {
            batch.forEach(Runnable::run);
            batch.clear();
            return 0;
        }

        @Override
        public void abort() {
            batch.clear();
        }

        @Override
        protected SendQueue unsupported() {
            throw new UnsupportedOperationException();
        }
    }

    private static final class Receives extends ReceiveQueue {
        private record Posted(long wrId, MemorySegment buffer) {}

        private final ScriptedVerbs context;
        private final Queue done;
        private final Deque<Posted> posted = new ArrayDeque<>();
        private long wrId;

        Receives(ScriptedVerbs context, Queue done) {
            this.context = context;
            this.done = done;
        }

        synchronized boolean arrive(byte[] message) {
            Posted to = posted.poll();
            if (to == null) {
                return false;
            }
            boolean fits = message.length <= to.buffer().byteSize();
            MemorySegment.copy(message, 0, to.buffer(), ValueLayout.JAVA_BYTE, 0, fits ? message.length : 0);
            done.add(to.wrId(), fits ? WcStatus.SUCCESS : WcStatus.LOC_LEN_ERR, message.length, WcOpcode.RECV, 0);
            return true;
        }

        synchronized boolean arrive(int immediate, long length) {
            Posted to = posted.poll();
            if (to == null) {
                return false;
            }
            done.add(to.wrId(), WcStatus.SUCCESS, length, WcOpcode.RECV_RDMA_WITH_IMM, immediate);
            return true;
        }

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
        public synchronized ReceiveQueue sge(int lkey, long address, long length) {
            posted.add(new Posted(wrId, context.memory(lkey, address, length)));
            return this;
        }

        @Override
        public int complete() {
            return 0;
        }
    }
}
