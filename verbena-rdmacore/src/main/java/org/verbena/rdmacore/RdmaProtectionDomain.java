// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryAdvice;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.ScatterGatherElement;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.spi.MemoryLimit;

/** A protection domain, {@code struct ibv_pd}, or a parent domain. */
final class RdmaProtectionDomain extends ProtectionDomain {
    /** All bits of {@code enum ibv_access_flags} outside the optional range, except those of flushes. */
    private static final int KNOWN_ACCESS = 0xff;

    private final Handle handle;
    private final RdmaContext context;

    private RdmaProtectionDomain(Handle handle, @Nullable ParentDomainAttributes parent) throws VerbsException {
        super(handle.context, parent);
        this.handle = handle;
        context = handle.context;
        opened();
    }

    static ProtectionDomain create(String verb, RdmaContext context, List<VerbsObject> used, Handle.Creator creator,
            @Nullable ParentDomainAttributes parent) throws VerbsException {
        return Handle.create(verb, context, used, Handle.by(context, IbvFunction.DEALLOC_PD), creator,
                h -> new RdmaProtectionDomain(h, parent));
    }

    long address() {
        return handle.address;
    }

    RdmaContext rdmaContext() {
        return context;
    }

    @Override
    protected int supportedAccess() {
        return context.supports(Feature.ON_DEMAND) ? KNOWN_ACCESS : KNOWN_ACCESS & ~AccessFlags.ON_DEMAND;
    }

    /** Memory of the process, which the region owns until it is closed. */
    @Override
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        String verb = "allocate " + bytes + " bytes on " + describe();
        MemoryLimit.require(verb, bytes); // registration pins all of its pages
        try {
            Mapping memory = Mapping.anonymous(bytes);
            RdmaMemoryRegion region = of(memory.segment(), access);
            region.owns(memory);
            return region;
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    @Override
    protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
        return of(memory, access);
    }

    private RdmaMemoryRegion of(MemorySegment memory, int access) throws VerbsException {
        String verb = "register " + memory.byteSize() + " bytes on " + describe();
        long length = memory.byteSize() == Long.MAX_VALUE ? -1 : memory.byteSize(); // the whole address space
        return RdmaMemoryRegion.create(verb, this, () -> register(verb, memory.address(), length, memory.address(),
                access), memory, access, (access & AccessFlags.ZERO_BASED) != 0 ? 0 : memory.address(), memory
                        .byteSize());
    }

    /**
     * As the macros {@code ibv_reg_mr} and {@code ibv_reg_mr_iova}: optional flags are not passed to a library that
     * does not know them.
     */
    private long register(String verb, long address, long length, long iova, int access) throws VerbsException {
        Ibverbs library = context.verbs().library;
        int known = access;
        if ((access & AccessFlags.OPTIONAL_RANGE) != 0) {
            if (library.has(IbvFunction.REG_MR_IOVA2)) {
                return Calls.pointer(verb, library.get(verb, IbvFunction.REG_MR_IOVA2), handle.address, address, length,
                        iova, access);
            }
            known &= ~AccessFlags.OPTIONAL_RANGE;
        }
        return iova == address
                ? Calls.pointer(verb, library.get(verb, IbvFunction.REG_MR), handle.address, address, length, known)
                : Calls.pointer(verb, library.get(verb, IbvFunction.REG_MR_IOVA), handle.address, address, length, iova,
                        known);
    }

    @Override
    protected int supportedMemoryRegionMask() {
        Ibverbs library = context.verbs().library;
        return MemoryRegionAttributes.ADDR | MemoryRegionAttributes.IOVA | (library.has(IbvFunction.REG_DMABUF_MR)
                ? MemoryRegionAttributes.FD | MemoryRegionAttributes.FD_OFFSET
                : 0);
    }

    @Override
    protected MemoryRegion implRegisterExtended(MemoryRegionAttributes a) throws VerbsException {
        MemorySegment memory = a.memory();
        boolean zeroBased = (a.access() & AccessFlags.ZERO_BASED) != 0;
        if (memory != null && (zeroBased || !a.has(MemoryRegionAttributes.IOVA))) {
            return implRegister(memory, a.access());
        }
        String verb = "register " + a.length() + " bytes on " + describe();
        long iova = zeroBased ? 0 : a.iova();
        if (memory != null) {
            return RdmaMemoryRegion.create(verb, this, () -> register(verb, memory.address(), a.length(), iova, a
                    .access()), memory, a.access(), iova, a.length());
        }
        return RdmaMemoryRegion.create(verb, this, () -> Calls.pointer(verb, context.verbs().function(verb,
                IbvFunction.REG_DMABUF_MR), handle.address, a.descriptorOffset(), a.length(), iova, a.descriptor(), a
                        .access()), MemorySegment.NULL, a.access(), iova, a.length());
    }

    @Override
    protected MemoryRegion implAllocateNullRegion() throws VerbsException {
        String verb = "allocate a null region on " + describe();
        return RdmaMemoryRegion.create(verb, this, () -> Calls.pointer(verb, context.verbs().slot(verb,
                Slot.ALLOC_NULL_MR), handle.address), MemorySegment.NULL, AccessFlags.LOCAL_WRITE, 0, Long.MAX_VALUE);
    }

    @Override
    protected MemoryRegion implRegisterDeviceMemory(DeviceMemory memory, long offset, long length, int access)
            throws VerbsException {
        String verb = "register device memory on " + describe();
        if (!(memory instanceof RdmaDeviceMemory dm)) {
            throw new VerbsException(verb, Errno.EINVAL, "foreign device memory");
        }
        return RdmaMemoryRegion.create(verb, this, () -> Calls.pointer(verb, context.verbs().slot(verb, Slot.REG_DM_MR),
                handle.address, dm.address(), offset, length, access), MemorySegment.NULL, access, 0, length, dm);
    }

    @Override
    protected MemoryWindow implAllocateMemoryWindow(int type) throws VerbsException {
        String verb = "allocate a memory window on " + describe();
        return Handle.create(verb, context, List.of(this), v -> context.verbs().inline(v, Layout.CONTEXT_DEALLOC_MW),
                () -> Calls.pointer(verb, context.verbs().inline(verb, Layout.CONTEXT_ALLOC_MW), handle.address, type),
                h -> new RdmaMemoryWindow(this, h, type));
    }

    @Override
    protected void implAdvise(int advice, int flags, List<ScatterGatherElement> ranges) throws VerbsException {
        String verb = "advise " + MemoryAdvice.toString(advice) + " on memory of " + describe();
        MemorySegment f = context.verbs().slot(verb, Slot.ADVISE_MR);
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, (long) Layout.SGE_BYTES * ranges.size());
            for (int i = 0; i < ranges.size(); i++) {
                ScatterGatherElement e = ranges.get(i);
                if (e.length() < 0 || e.length() > 0xffffffffL) {
                    throw new VerbsException(verb, Errno.EINVAL, "a range has at most 2^32 - 1 bytes, not " + e
                            .length());
                }
                s.putLong(i * Layout.SGE_BYTES, e.address());
                s.putInt(i * Layout.SGE_BYTES + Layout.SGE_LENGTH, (int) e.length());
                s.putInt(i * Layout.SGE_BYTES + Layout.SGE_LKEY, e.lkey());
            }
            Calls.zero(verb, f, handle.address, advice, flags, s.address(), ranges.size());
        }
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes a) throws VerbsException {
        return RdmaQueuePair.create(this, a);
    }

    @Override
    protected AddressHandle implCreateAddressHandle(AddressVector path) throws VerbsException {
        String verb = "create AH on " + describe();
        context.checkPath(verb, path);
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.AH_BYTES);
            PathBytes.put(s, path);
            return Handle.create(verb, context, List.of(this), Handle.by(context, IbvFunction.DESTROY_AH), () -> Calls
                    .pointer(verb, context.verbs().function(verb, IbvFunction.CREATE_AH), handle.address, s.address()),
                    h -> new RdmaAddressHandle(this, h, path));
        }
    }

    @Override
    protected SharedReceiveQueue implCreateSharedReceiveQueue(SharedReceiveQueueAttributes a) throws VerbsException {
        return RdmaSharedReceiveQueue.create(this, a);
    }

    @Override
    protected int supportedSharedReceiveQueueMask() {
        return context.verbs().has(Slot.CREATE_SRQ_EX)
                ? SharedReceiveQueueAttributes.TYPE | SharedReceiveQueueAttributes.XRCD
                        | SharedReceiveQueueAttributes.CQ
                : 0;
    }

    @Override
    public String describe() {
        return (isParentDomain() ? "parent domain of " : "PD of ") + context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        handle.destroy(this);
    }
}
