// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Madvise;
import org.verbena.linux.Mapping;
import org.verbena.roce.transport.Path;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.MemoryLimit;
import org.verbena.verbs.spi.SharedBuffer;

/** A protection domain: a number that keys and queue pairs have in common. */
final class RoceProtectionDomain extends ProtectionDomain {
    private final RoceContext context;
    private final int index;
    private final DomainMemory memory;
    private final CounterEntry published;

    RoceProtectionDomain(RoceContext context, int index) throws VerbsException {
        super(context);
        this.context = context;
        this.index = index;
        memory = new DomainMemory(context.keys(), index);
        published = context.published().protectionDomain(index);
        publish(published);
        opened();
    }

    /** A parent domain: it has the number of its protection domain, so that keys and queue pairs match. */
    RoceProtectionDomain(RoceContext context, ParentDomainAttributes attributes, RoceProtectionDomain pd)
            throws VerbsException {
        super(context, attributes);
        this.context = context;
        index = pd.index;
        memory = pd.memory;
        published = context.published().protectionDomain(index);
        publish(published);
        opened();
    }

    /** The id by which other processes know it. */
    long publishedId() {
        return published.id();
    }

    int index() {
        return index;
    }

    DomainMemory memory() {
        return memory;
    }

    @Override
    protected int supportedAccess() {
        return AccessFlags.ALL | AccessFlags.MW_BIND | AccessFlags.ZERO_BASED | AccessFlags.HUGETLB
                | AccessFlags.FLUSH_GLOBAL;
    }

    @Override
    protected int supportedMemoryRegionMask() {
        return MemoryRegionAttributes.IOVA | MemoryRegionAttributes.ADDR | MemoryRegionAttributes.FD
                | MemoryRegionAttributes.FD_OFFSET;
    }

    @Override
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        String verb = "allocate " + bytes + " bytes on " + describe();
        MemoryLimit.require(verb, bytes);
        try {
            Mapping m = Mapping.anonymous(bytes);
            if ((access & AccessFlags.HUGETLB) != 0) {
                Madvise.preferHugePages(m.segment());
            }
            return region(m.segment(), access, base(m.segment(), access), true, m::discard);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    @Override
    protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
        return region(memory, access, base(memory, access), false, null);
    }

    @Override
    protected MemoryRegion implRegisterExtended(MemoryRegionAttributes a) throws VerbsException {
        MemorySegment m = a.memory();
        if (m == null) {
            SharedBuffer b = SharedBuffer.map("register " + a.length() + " bytes on " + describe(), a.descriptor(), a
                    .descriptorOffset(), a.length());
            return region(b.segment(), a.access(), a.iova(), true, () -> {
                b.mapping().discard();
                b.close();
            });
        }
        return a.has(MemoryRegionAttributes.IOVA)
                ? region(m, a.access(), a.iova(), false, null)
                : implRegister(m, a.access());
    }

    private static long base(MemorySegment memory, int access) {
        return (access & AccessFlags.ZERO_BASED) != 0 ? 0 : memory.address();
    }

    private MemoryRegion region(MemorySegment segment, int access, long iova, boolean own,
            Region.@Nullable Resource resource) throws VerbsException {
        int key = context.keys().allocateKey();
        try {
            RoceMemoryRegion mr = new RoceMemoryRegion(context, this,
                    new Region(key, index, access, segment, iova, own, resource));
            context.adopt(mr);
            return mr;
        } catch (VerbsException e) { // the domain was closed meanwhile
            context.keys().freeKey(key);
            throw e;
        }
    }

    @Override
    protected MemoryRegion implRegisterDeviceMemory(DeviceMemory memory, long offset, long length, int access)
            throws VerbsException {
        MemorySegment part = ((RoceDeviceMemory) memory).segment().asSlice(offset, length);
        int key = context.keys().allocateKey();
        try {
            RoceMemoryRegion mr = new RoceMemoryRegion(context, this,
                    new Region(key, index, access, part, 0, true, null), memory);
            context.adopt(mr);
            return mr;
        } catch (VerbsException e) {
            context.keys().freeKey(key);
            throw e;
        }
    }

    @Override
    protected MemoryWindow implAllocateMemoryWindow(int type) throws VerbsException {
        int key = context.keys().allocateKey();
        try {
            RoceMemoryWindow w = new RoceMemoryWindow(context, this, new Window(key, index, type));
            context.adopt(w);
            return w;
        } catch (VerbsException e) {
            context.keys().freeKey(key);
            throw e;
        }
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        String verb = "create QP on " + describe();
        switch (attributes.type()) {
            case QueuePairType.RC, QueuePairType.UC, QueuePairType.UD, QueuePairType.XRC_SEND -> {}
            default -> throw new VerbsException(verb, Errno.EOPNOTSUPP,
                    context.describe() + " has no queue pairs of type " + QueuePairType.toString(attributes.type()));
        }
        int flags = attributes.createFlags() & ~QueuePairCreateFlags.BLOCK_SELF_MCAST_LB;
        int operations = attributes.sendOperations() & ~RoceLimits.operations(attributes.type());
        if (flags != 0 || operations != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "type " + QueuePairType.toString(attributes.type())
                    + " of " + context.describe() + " has no "
                    + (flags != 0 ? QueuePairCreateFlags.toString(flags) : SendOperations.toString(operations)));
        }
        return context.createQueuePair(attributes, (init, number) -> new RoceQueuePair(context, this, init, number));
    }

    @Override
    protected AddressHandle implCreateAddressHandle(AddressVector path) throws VerbsException {
        Path p = context.path("create AH on " + describe(), path);
        try {
            RoceAddressHandle ah = new RoceAddressHandle(context, this, path, p);
            context.adopt(ah);
            return ah;
        } catch (VerbsException e) {
            p.close();
            throw e;
        }
    }

    @Override
    protected int supportedSharedReceiveQueueMask() {
        return SharedReceiveQueueAttributes.TYPE | SharedReceiveQueueAttributes.XRCD
                | SharedReceiveQueueAttributes.CQ;
    }

    @Override
    protected SharedReceiveQueue implCreateSharedReceiveQueue(SharedReceiveQueueAttributes attributes)
            throws VerbsException {
        return context.createSharedReceiveQueue(this, attributes);
    }

    @Override
    public String describe() {
        return (isParentDomain() ? "parent domain on PD " : "PD ") + index + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        if (!isParentDomain()) {
            context.releasePd(index);
        }
    }
}
