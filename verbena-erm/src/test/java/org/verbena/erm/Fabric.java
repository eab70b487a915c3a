// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

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
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Verbs in this process's memory, for two ends that a test drives: posted requests are carried out one at a time, on
 * demand ({@link FabricQueuePair#carryOut}), and completion events wait until they are polled. It enforces the rules of
 * a provider and records violations.
 *
 * <p>For one thread.
 */
final class Fabric {
    private static final DeviceAttributes ATTRIBUTES = DeviceAttributes.builder().maxMrSize(1 << 20).maxCq(1024, 1024)
            .maxQp(1024,
                    1024).maxSge(1).maxInlineData(64).build();
    private static final PortAttributes PORT = PortAttributes.builder().maxMessageSize(1 << 20).build();

    private final Device device = new FabricDevice();
    private final Map<Integer, MemoryRegion> keys = new HashMap<>();
    private final Set<VerbsObject> open = new HashSet<>();
    private final StringBuilder faults = new StringBuilder();
    private int nextKey = 1;

    /** A context and its channel, for one end. */
    Port port() throws VerbsException {
        return new Port(new FabricContext());
    }

    /** Violations of the rules of verbs; empty if there are none. */
    String faults() {
        return faults.toString();
    }

    void fault(String what) {
        faults.append(what).append("; ");
    }

    /** Domains, regions, and queues that have not been closed. */
    Set<VerbsObject> open() {
        return open;
    }

    private <T extends VerbsObject> T kept(T made) {
        open.add(made);
        return made;
    }

    /** The memory that a key gives, from that address on; null if there is none, or it is shorter, or of another domain. */
    @Nullable
    MemorySegment memory(int key, ProtectionDomain of, long address, long length, int access) {
        MemoryRegion region = keys.get(key);
        if (region == null || region.protectionDomain() != of || (region.access() & access) != access
                || address < region.address() || length > region.length()
                || address - region.address() > region.length() - length) {
            return null;
        }
        return region.segment().asSlice(address - region.address(), length);
    }

    /** The context of an end. */
    static final class Port {
        final Context context;
        final EventChannel channel;

        private Port(FabricContext context) throws VerbsException {
            this.context = context;
            channel = (EventChannel) context.createCompletionChannel();
        }
    }

    private static final class FabricDevice extends Device {
        @Override
        public String name() {
            return "fabric0";
        }

        @Override
        public String provider() {
            return "fabric";
        }

        @Override
        public String transport() {
            return "this process's memory";
        }

        @Override
        public long guid() {
            return 1;
        }

        @Override
        protected Context implOpen() throws VerbsException {
            throw new VerbsException("open fabric0", Errno.EOPNOTSUPP, "a test makes its contexts");
        }
    }

    private final class FabricContext extends Context {
        FabricContext() throws VerbsException {}

        @Override
        public Device device() {
            return device;
        }

        @Override
        public DeviceAttributes queryDevice() {
            return ATTRIBUTES;
        }

        @Override
        public PortAttributes queryPort(int port) {
            return PORT;
        }

        @Override
        public Gid queryGid(int port, int index) throws VerbsException {
            throw new VerbsException("query GID of fabric0", Errno.EOPNOTSUPP, "it has none");
        }

        @Override
        public ConnectionManager connectionManager() {
            throw new UnsupportedOperationException("a test connects its queue pairs");
        }

        @Override
        public ProtectionDomain allocateProtectionDomain() throws VerbsException {
            return kept(new Domain(this));
        }

        @Override
        public CompletionChannel createCompletionChannel() throws VerbsException {
            return new EventChannel(this);
        }

        @Override
        protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes)
                throws VerbsException {
            return kept(new Completions(this, attributes));
        }

        @Override
        public String describe() {
            return "fabric0";
        }

        @Override
        protected void implClose() {
            // it owns nothing
        }
    }

    /** Completion queues with an event since they were armed, each once. */
    static final class EventChannel extends CompletionChannel {
        private final ArrayDeque<CompletionQueue> events = new ArrayDeque<>();

        EventChannel(Context context) throws VerbsException {
            super(context);
        }

        int events() {
            return events.size();
        }

        @Override
        public int descriptor() {
            return -1;
        }

        @Override
        public @Nullable CompletionQueue await(Duration timeout) {
            return events.poll();
        }

        @Override
        public String describe() {
            return "channel of fabric0";
        }

        @Override
        protected void implClose() {
            events.clear();
        }
    }

    private final class Domain extends ProtectionDomain {
        Domain(Context context) throws VerbsException {
            super(context);
        }

        @Override
        protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
            return implRegister(java.lang.foreign.Arena.ofAuto().allocate(bytes, 64), access);
        }

        @Override
        protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
            return kept(new Region(this, memory, access));
        }

        @Override
        protected QueuePair implCreateQueuePair(QueuePairInitAttributes init) throws VerbsException {
            return kept(new FabricQueuePair(Fabric.this, this, init));
        }

        @Override
        public String describe() {
            return "domain of fabric0";
        }

        @Override
        protected void implClose() {
            open.remove(this);
        }
    }

    private final class Region extends MemoryRegion {
        private final int key = nextKey++;

        /** Addresses are the same in each run, wherever the memory is. */
        Region(Domain domain, MemorySegment memory, int access) throws VerbsException {
            super(domain, memory, access, (long) nextKey << 32, memory.byteSize());
            keys.put(key, this);
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
            return "region " + key + " of fabric0";
        }

        @Override
        protected void implClose() {
            keys.remove(key);
            open.remove(this);
        }
    }

    /** A completion: of a request by its number, or of a received message. */
    record Completion(FabricQueuePair of, long wrId, int status, long length, int opcode, int places, int immediate) {
        static Completion sent(FabricQueuePair of, long wrId, int status, long length, int places) {
            return new Completion(of, wrId, status, length, WcOpcode.SEND, places, 0);
        }

        static Completion received(FabricQueuePair of, long wrId, int status, long length) {
            return new Completion(of, wrId, status, length, WcOpcode.RECV, 0, 0);
        }

        static Completion immediate(FabricQueuePair of, long wrId, long length, int immediate) {
            return new Completion(of, wrId, WcStatus.SUCCESS, length, WcOpcode.RECV_RDMA_WITH_IMM, 0, immediate);
        }
    }

    /** A completion queue that raises one event for each arming. */
    final class Completions extends CompletionQueue {
        private final ArrayDeque<Completion> entries = new ArrayDeque<>();
        private final int most;
        private boolean armed;
        private Completion current = new Completion(null, 0, 0, 0, WcOpcode.SEND, 0, 0);

        Completions(Context context, CompletionQueueAttributes attributes) throws VerbsException {
            super(context, attributes);
            most = attributes.cqe();
        }

        void add(Completion entry) {
            entries.add(entry);
            if (entries.size() > most) {
                fault("a completion queue of " + most + " has " + entries.size() + " entries");
            }
            if (armed && channel() instanceof EventChannel waits) {
                armed = false;
                waits.events.add(this);
            }
        }

        ArrayDeque<Completion> entries() {
            return entries;
        }

        boolean isArmed() {
            return armed;
        }

        @Override
        public int startPoll() {
            Completion next = entries.poll();
            if (next == null) {
                return Errno.ENOENT;
            }
            current = next;
            if (next.opcode() == WcOpcode.SEND) {
                next.of().freed(next.places());
            }
            return 0;
        }

        @Override
        public int nextPoll() {
            return startPoll();
        }

        @Override
        public void endPoll() {
            // the slot of an entry is free once it was polled
        }

        @Override
        public int cqe() {
            return most;
        }

        @Override
        public long wrId() {
            return current.wrId();
        }

        @Override
        public int status() {
            return current.status();
        }

        @Override
        public int opcode() {
            return current.opcode();
        }

        @Override
        public int vendorError() {
            return 0;
        }

        @Override
        public long byteLength() {
            return current.status() == WcStatus.SUCCESS ? current.length() : 0;
        }

        @Override
        public int immediate() {
            return current.immediate();
        }

        @Override
        public int queuePairNumber() {
            return current.of().number();
        }

        @Override
        public int flags() {
            return 0;
        }

        @Override
        public int requestNotify(boolean solicitedOnly) {
            armed = true;
            return 0;
        }

        @Override
        public String describe() {
            return "completions of fabric0";
        }

        @Override
        protected void implClose() {
            open.remove(this);
        }
    }

    void closed(VerbsObject object) {
        open.remove(object);
    }
}
