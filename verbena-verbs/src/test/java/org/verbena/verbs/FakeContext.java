// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** A provider without a transport, which grants whatever the API lets through: for what the API itself has to refuse. */
final class FakeContext extends Context {
    private static final DeviceAttributes LIMITS = DeviceAttributes.builder().maxQp(8, 64).maxSge(4).maxCq(8, 64)
            .maxMrSize(1 << 20).physicalPortCount(2).build();

    private final boolean xrc;
    /** What an object that was made is called. */
    private int made;

    FakeContext() throws VerbsException {
        this(true);
    }

    private FakeContext(boolean xrc) throws VerbsException {
        this.xrc = xrc;
    }

    /** A provider from before there were domains and shared receive queues. */
    static FakeContext withoutXrc() throws VerbsException {
        return new FakeContext(false);
    }

    @Override
    public Device device() {
        return new FakeDevice();
    }

    @Override
    public DeviceAttributes queryDevice() {
        return LIMITS;
    }

    @Override
    public PortAttributes queryPort(int port) {
        return PortAttributes.builder().build();
    }

    @Override
    public Gid queryGid(int port, int index) {
        return new Gid(0, 1);
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        return new FakePd(this, name("PD"));
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        throw new UnsupportedOperationException();
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        return new FakeCq(this, attributes, name("CQ"));
    }

    @Override
    protected WorkQueue implCreateWorkQueue(WorkQueueInitAttributes attributes) throws VerbsException {
        return new FakeWq(attributes, name("WQ"));
    }

    @Override
    protected RwqIndirectionTable implCreateRwqIndirectionTable(List<WorkQueue> entries) throws VerbsException {
        return new FakeTable(this, entries, name("table"));
    }

    @Override
    protected int supportedQueuePairInitMask() {
        return QueuePairInitAttributes.IND_TABLE | QueuePairInitAttributes.RX_HASH
                | QueuePairInitAttributes.CREATE_FLAGS | QueuePairInitAttributes.SHARED_RECEIVE_QUEUE;
    }

    @Override
    protected int supportedXrcDomainMask() {
        return xrc ? XrcDomainAttributes.FD | XrcDomainAttributes.OFLAGS : super.supportedXrcDomainMask();
    }

    @Override
    protected XrcDomain implOpenXrcDomain(XrcDomainAttributes attributes) throws VerbsException {
        return new FakeXrc.Domain(this, attributes, name("domain"));
    }

    private String name(String what) {
        return what + " " + ++made;
    }

    @Override
    public String describe() {
        return "fake";
    }

    @Override
    protected void implClose() {}

    private static final class FakeDevice extends Device {
        @Override
        public String name() {
            return "fake0";
        }

        @Override
        public String provider() {
            return "fake";
        }

        @Override
        public String transport() {
            return "none";
        }

        @Override
        public long guid() {
            return 0;
        }

        @Override
        protected Context implOpen() throws VerbsException {
            return new FakeContext();
        }
    }

    private static final class FakePd extends ProtectionDomain {
        private final String name;

        FakePd(Context context, String name) throws VerbsException {
            super(context);
            this.name = name;
        }

        @Override
        protected MemoryRegion implRegister(MemorySegment memory, int access) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
            return new FakeQp(this, attributes);
        }

        @Override
        protected int supportedSharedReceiveQueueMask() {
            return xrc()
                    ? SharedReceiveQueueAttributes.TYPE | SharedReceiveQueueAttributes.XRCD
                            | SharedReceiveQueueAttributes.CQ
                    : super.supportedSharedReceiveQueueMask();
        }

        @Override
        protected SharedReceiveQueue implCreateSharedReceiveQueue(SharedReceiveQueueAttributes attributes)
                throws VerbsException {
            return xrc() ? new FakeXrc.Srq(this, attributes) : super.implCreateSharedReceiveQueue(attributes);
        }

        private boolean xrc() {
            return ((FakeContext) context()).xrc;
        }

        @Override
        public String describe() {
            return name;
        }

        @Override
        protected void implClose() {}
    }

    private static final class FakeCq extends CompletionQueue {
        private final String name;

        FakeCq(Context context, CompletionQueueAttributes attributes, String name) throws VerbsException {
            super(context, attributes);
            this.name = name;
        }

        @Override
        public int cqe() {
            return 1;
        }

        @Override
        public int startPoll() {
            return 2;
        }

        @Override
        public int nextPoll() {
            return 2;
        }

        @Override
        public void endPoll() {}

        @Override
        public long wrId() {
            return 0;
        }

        @Override
        public int status() {
            return 0;
        }

        @Override
        public int opcode() {
            return 0;
        }

        @Override
        public int vendorError() {
            return 0;
        }

        @Override
        public long byteLength() {
            return 0;
        }

        @Override
        public int immediate() {
            return 0;
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
            return name;
        }

        @Override
        protected void implClose() {}
    }

    static final class FakeQp extends QueuePair {
        FakeQp(ProtectionDomain pd, QueuePairInitAttributes init) throws VerbsException {
            super(pd, init);
        }

        FakeQp(XrcDomain domain, QueuePairInitAttributes init) throws VerbsException {
            super(domain, init);
        }

        @Override
        public int number() {
            return 1;
        }

        @Override
        public QueuePairState state() {
            return QueuePairState.RESET;
        }

        @Override
        public SendQueue sendQueue() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ReceiveQueue receiveQueue() {
            throw new UnsupportedOperationException();
        }

        @Override
        public QueuePairAttributes query() {
            return QueuePairAttributes.to(QueuePairState.RESET).build();
        }

        @Override
        protected void implModify(QueuePairAttributes attributes) {}

        @Override
        protected Flow implCreateFlow(FlowAttributes attributes) throws VerbsException {
            return new FakeFlow(this, attributes);
        }

        @Override
        public String describe() {
            return "QP";
        }

        @Override
        protected void implClose() {}
    }

    private static final class FakeFlow extends Flow {
        FakeFlow(QueuePair qp, FlowAttributes attributes) throws VerbsException {
            super(qp, attributes);
        }

        @Override
        public String describe() {
            return "flow";
        }

        @Override
        protected void implClose() {}
    }

    private static final class FakeWq extends WorkQueue {
        private final String name;
        private volatile int state;
        private volatile @Nullable Object last;

        FakeWq(WorkQueueInitAttributes init, String name) throws VerbsException {
            super(init);
            this.name = name;
        }

        @Override
        public int number() {
            return 1;
        }

        @Override
        public int state() {
            return state;
        }

        @Override
        public ReceiveQueue receiveQueue() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void implModify(WorkQueueAttributes attributes) {
            last = attributes;
            if (attributes.has(WorkQueueAttributes.STATE)) {
                state = attributes.state();
            }
        }

        @Override
        public String describe() {
            return name + (last == null ? "" : ", modified");
        }

        @Override
        protected void implClose() {}
    }

    private static final class FakeTable extends RwqIndirectionTable {
        private final String name;

        FakeTable(Context context, List<WorkQueue> entries, String name) throws VerbsException {
            super(context, entries);
            this.name = name;
        }

        @Override
        public int number() {
            return 1;
        }

        @Override
        public String describe() {
            return name;
        }

        @Override
        protected void implClose() {}
    }
}
