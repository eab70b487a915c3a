// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.linux.Madvise;
import org.verbena.shm.datagram.MulticastGroup;
import org.verbena.shm.datagram.ShmAddressHandle;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.Allocation;
import org.verbena.shm.memory.Backing;
import org.verbena.shm.memory.Prefetch;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.Window;
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
import org.verbena.verbs.ScatterGatherElement;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.SendOpcode;

/** A protection domain: a number that keys and queue pairs carry. */
final class ShmProtectionDomain extends ProtectionDomain implements NumberedDomain {
    private final ContextInternals internals;
    private final int index;
    private final CounterEntry published;

    ShmProtectionDomain(ContextInternals internals, int index) throws VerbsException {
        super(internals.context());
        this.internals = internals;
        this.index = index;
        published = internals.published().protectionDomain(index);
        publish(published);
        opened();
    }

    /** A parent domain: it has the number of the protection domain that it stands for, so keys and queue pairs match. */
    ShmProtectionDomain(ContextInternals internals, ParentDomainAttributes attributes, ShmProtectionDomain pd)
            throws VerbsException {
        super(internals.context(), attributes);
        this.internals = internals;
        index = pd.index;
        published = internals.published().protectionDomain(index);
        publish(published);
        opened();
    }

    /** The id by which other processes find its counters. */
    long publishedId() {
        return published.id();
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    protected int supportedAccess() {
        return AccessFlags.ALL | AccessFlags.MW_BIND | AccessFlags.ZERO_BASED | AccessFlags.ON_DEMAND
                | AccessFlags.HUGETLB | AccessFlags.FLUSH_GLOBAL;
    }

    @Override
    protected int supportedMemoryRegionMask() {
        return MemoryRegionAttributes.IOVA | MemoryRegionAttributes.ADDR | MemoryRegionAttributes.FD
                | MemoryRegionAttributes.FD_OFFSET;
    }

    @Override
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        Allocation a = internals.memories().allocate("allocate " + bytes + " bytes on " + describe(), bytes);
        MemorySegment s = a.segment();
        if ((access & AccessFlags.HUGETLB) != 0) {
            Madvise.preferHugePages(s);
        }
        return region(Backing.of(s, a, Backing.start(s, access)), access);
    }

    @Override
    protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
        return region(internals.memories().backing(index, memory, access, null), access);
    }

    @Override
    protected MemoryRegion implRegisterExtended(MemoryRegionAttributes a) throws VerbsException {
        MemorySegment memory = a.memory();
        if (memory == null) {
            Allocation mapped = internals.memories().map("register " + a.length() + " bytes on " + describe(), a
                    .descriptor(), a.descriptorOffset(), a.length());
            return region(Backing.of(mapped.segment(), mapped, a.iova()), a.access());
        }
        if (!a.has(MemoryRegionAttributes.IOVA)) {
            return implRegister(memory, a.access());
        }
        return region(Backing.of(memory, internals.memories().allocationOf(index, memory), a.iova()), a.access());
    }

    @Override
    protected MemoryRegion implAllocateNullRegion() throws VerbsException {
        return region(Backing.ofNullRegion(), AccessFlags.LOCAL_WRITE | AccessFlags.ZERO_BASED);
    }

    private MemoryRegion region(Backing backing, int access) throws VerbsException {
        Region r = internals.memories().register(index, access, backing);
        try {
            ShmMemoryRegion mr = new ShmMemoryRegion(internals, this, publishedId(), r);
            internals.context().adopt(mr);
            return mr;
        } catch (VerbsException e) { // the domain was closed meanwhile
            internals.memories().deregister(describe(), r);
            throw e;
        }
    }

    @Override
    protected MemoryRegion implRegisterDeviceMemory(DeviceMemory memory, long offset, long length, int access)
            throws VerbsException {
        Allocation a = ((ShmDeviceMemory) memory).allocation();
        Backing part = Backing.of(a.segment().asSlice(offset, length), a, 0);
        Region r = internals.memories().register(index, access, part);
        try {
            ShmMemoryRegion mr = new ShmMemoryRegion(internals, this, publishedId(), r, memory);
            internals.context().adopt(mr);
            return mr;
        } catch (VerbsException e) {
            internals.memories().deregister(describe(), r);
            throw e;
        }
    }

    @Override
    protected MemoryWindow implAllocateMemoryWindow(int type) throws VerbsException {
        Window window = internals.keys().addWindow(index, type);
        try {
            ShmMemoryWindow w = new ShmMemoryWindow(internals.memories(), this, window);
            internals.context().adopt(w);
            return w;
        } catch (VerbsException e) {
            internals.keys().remove(window);
            throw e;
        }
    }

    @Override
    protected void implAdvise(int advice, int flags, List<ScatterGatherElement> ranges) throws VerbsException {
        Prefetch.advise("advise on memory of " + describe(), internals.keys(), index, advice, ranges);
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        switch (attributes.type()) {
            case QueuePairType.RC, QueuePairType.UC, QueuePairType.UD, QueuePairType.XRC_SEND -> {}
            default -> throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP,
                    "shm0 has no queue pairs of type " + QueuePairType.toString(attributes.type()));
        }
        int flags = attributes.createFlags() & ~QueuePairCreateFlags.BLOCK_SELF_MCAST_LB;
        int operations = attributes.sendOperations() & ~SendOpcode.operations(attributes.type());
        if (flags != 0 || operations != 0) {
            throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP, "type "
                    + QueuePairType.toString(attributes.type()) + " of shm0 has no "
                    + (flags != 0 ? QueuePairCreateFlags.toString(flags) : SendOperations.toString(operations)));
        }
        if (attributes.sharedReceiveQueue() instanceof ShmSharedReceiveQueue s && s.pool().receives().isBroken()) {
            throw new VerbsException("create QP on " + describe(), Errno.EINVAL, s.describe() + " has failed");
        }
        ShmQueuePair qp = new ShmQueuePair(internals, this, index, attributes);
        internals.context().adopt(qp);
        return qp;
    }

    @Override
    protected AddressHandle implCreateAddressHandle(AddressVector path) throws VerbsException {
        MulticastGroup group = path.destination().isMulticast()
                ? internals.multicast().group("create AH on " + describe(), path.destination())
                : null;
        ShmAddressHandle ah = new ShmAddressHandle(this, index(), internals.own().instance(), path, group);
        internals.context().adopt(ah);
        return ah;
    }

    @Override
    protected int supportedSharedReceiveQueueMask() {
        return SharedReceiveQueueAttributes.TYPE | SharedReceiveQueueAttributes.XRCD
                | SharedReceiveQueueAttributes.CQ;
    }

    @Override
    protected SharedReceiveQueue implCreateSharedReceiveQueue(SharedReceiveQueueAttributes attributes)
            throws VerbsException {
        ShmSharedReceiveQueue srq = new ShmSharedReceiveQueue(internals, this, index, attributes);
        internals.context().adopt(srq);
        return srq;
    }

    @Override
    public String describe() {
        return (isParentDomain() ? "parent domain on PD " : "PD ") + index + " of " + ShmLimits.DEVICE;
    }

    @Override
    protected void implClose() {
        if (!isParentDomain()) {
            internals.pds().give(index);
        }
    }
}
