// SPDX-License-Identifier: Apache-2.0
package org.example.devnull;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** An open device, with its protection domains and memory regions, which are no more than a number. */
final class NullContext extends Context {
    static final DeviceAttributes ATTRIBUTES = DeviceAttributes.builder().firmwareVersion("1")
            .maxMrSize(1L << 40).maxQp(1 << 16, 1024).maxSge(4).maxInlineData(64).maxCq(1 << 16, 1 << 20)
            .maxMr(1 << 16).maxPd(1 << 16).build();
    private static final PortAttributes PORT = PortAttributes.builder().state(PortAttributes.STATE_ACTIVE)
            .mtu(4096, 4096).gidTableLength(1).pkeyTableLength(1).maxMessageSize(1L << 31).linkLayer("none").build();

    private final Device device;
    private final AtomicInteger numbers = new AtomicInteger();

    NullContext(Device device) throws VerbsException {
        this.device = device;
        opened();
    }

    int nextNumber() {
        return numbers.incrementAndGet() & 0xffffff;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() {
        return ATTRIBUTES;
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        checkPort("query port " + port, port);
        return PORT;
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        checkPort("query GID " + index, port);
        if (index != 0) {
            throw new VerbsException("query GID " + index, Errno.EINVAL, "the table has one entry, index 0");
        }
        return Gid.parse("fe80::1");
    }

    private void checkPort(String verb, int port) throws VerbsException {
        checkOpen(verb);
        if (port != 1) {
            throw new VerbsException(verb, Errno.EINVAL, "null0 has port 1 only");
        }
    }

    /** What is not known is answered with false, so nothing else needs to be said. */
    @Override
    protected boolean implSupports(String feature) {
        return feature.equals(Feature.RC);
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        checkOpen("allocate PD");
        NullProtectionDomain pd = new NullProtectionDomain(this);
        adopt(pd); // so that close() of the context closes it
        return pd;
    }

    @Override
    public CompletionChannel createCompletionChannel() throws VerbsException {
        throw new VerbsException("create completion channel", Errno.EOPNOTSUPP, "null0 has queues to poll only");
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        NullCompletionQueue cq = new NullCompletionQueue(this, attributes);
        adopt(cq);
        return cq;
    }

    @Override
    public String describe() {
        return device.name();
    }

    @Override
    protected void implClose() {}

    private static final class NullProtectionDomain extends ProtectionDomain {
        private final NullContext context;

        NullProtectionDomain(NullContext context) throws VerbsException {
            super(context);
            this.context = context;
            opened();
        }

        @Override
        protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
            NullMemoryRegion mr = new NullMemoryRegion(this, memory, access, context.nextNumber());
            context.adopt(mr);
            return mr;
        }

        @Override
        protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
            if (attributes.type() != QueuePairType.RC) {
                throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP,
                        "null0 has no type " + QueuePairType.toString(attributes.type()));
            }
            NullQueuePair qp = new NullQueuePair(this, attributes, context.nextNumber());
            context.adopt(qp);
            return qp;
        }

        @Override
        public String describe() {
            return "PD of null0";
        }

        @Override
        protected void implClose() {}
    }

    private static final class NullMemoryRegion extends MemoryRegion {
        private final int key;

        NullMemoryRegion(ProtectionDomain pd, MemorySegment memory, int access, int key) throws VerbsException {
            super(pd, memory, access);
            this.key = key;
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
            return "MR 0x" + Integer.toHexString(key) + " of null0";
        }

        @Override
        protected void implClose() {}
    }
}
