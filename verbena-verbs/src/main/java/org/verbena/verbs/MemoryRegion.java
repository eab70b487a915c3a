// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * A memory region, {@code struct ibv_mr}: memory that work requests name by a key. Safe for use by several threads,
 * but for {@link #reregister}, during which no other thread uses the region.
 *
 * <p>Work requests name a byte by the region's key and an address that counts from {@link #address()}. That is where
 * the memory lies in this process, unless the region was registered with an {@linkplain
 * MemoryRegionAttributes.Builder#iova address of the application's choice} or with {@link AccessFlags#ZERO_BASED}.
 *
 * <p>When {@link #close()} ({@code ibv_dereg_mr}) has returned, no peer and no work request touches the memory any
 * more. Memory from {@link ProtectionDomain#allocate} is given back then; its segment stays safe to touch but is no
 * longer shared with anyone.
 */
public abstract class MemoryRegion extends VerbsObject {
    /** {@link #reregister} gives the region other memory, {@code IBV_REREG_MR_CHANGE_TRANSLATION}. */
    public static final int CHANGE_TRANSLATION = 1;
    /** {@link #reregister} moves the region to another protection domain, {@code IBV_REREG_MR_CHANGE_PD}. */
    public static final int CHANGE_PD = 2;
    /** {@link #reregister} gives the region other rights, {@code IBV_REREG_MR_CHANGE_ACCESS}. */
    public static final int CHANGE_ACCESS = 4;

    private ProtectionDomain pd;
    private MemorySegment segment;
    private int access;
    private long address;
    private long length;

    /** For providers. */
    protected MemoryRegion(ProtectionDomain pd, MemorySegment segment, int access) throws VerbsException {
        this(pd, segment, access, segment.address(), segment.byteSize());
    }

    /**
     * For providers: a region whose addresses do not count from where its memory lies.
     *
     * @param address the first byte as work requests name it
     * @param length bytes that work requests may name; the segment may have fewer if this process cannot touch them
     * @param others what the region stands on beside the protection domain
     */
    protected MemoryRegion(ProtectionDomain pd, MemorySegment segment, int access, long address, long length,
            VerbsObject... others) throws VerbsException {
        super(with(pd, others));
        this.pd = pd;
        this.segment = segment;
        this.access = access;
        this.address = address;
        this.length = length;
    }

    private static List<VerbsObject> with(ProtectionDomain pd, VerbsObject... others) {
        List<VerbsObject> all = new ArrayList<>(List.of(others));
        all.addFirst(pd);
        return all;
    }

    /** The protection domain. */
    public final ProtectionDomain protectionDomain() {
        return pd;
    }

    /**
     * The registered memory as this process touches it. After {@link #close()}, that of {@link
     * ProtectionDomain#allocate} reads as zero and is no longer shared: writes to it have no effect; other memory is
     * the application's, as before. Empty for memory that it cannot touch so: {@link DeviceMemory}, and a region
     * {@linkplain ProtectionDomain#allocateNullRegion() without memory}.
     */
    public final MemorySegment segment() {
        return segment;
    }

    /** The address of the first byte as work requests name it, {@code iova} in C. */
    public final long address() {
        return address;
    }

    /** The size in bytes. */
    public final long length() {
        return length;
    }

    /** The rights given at registration, see {@link AccessFlags}. */
    public final int access() {
        return access;
    }

    /** The key for scatter/gather elements of this process; {@link #reregister} may change it. */
    public abstract int lkey();

    /** The key for a peer's work requests; without remote rights it is refused there. */
    public abstract int rkey();

    /**
     * Changes the region's memory, protection domain or rights, {@code ibv_rereg_mr}: as if it was deregistered and
     * registered anew, and with the same promise as {@link #close()} for what it loses. It is used by no other thread
     * and no work request meanwhile. Ask for {@link #lkey()} and {@link #rkey()} again, which may have changed.
     *
     * @param flags what to change: {@link #CHANGE_TRANSLATION}, {@link #CHANGE_PD}, {@link #CHANGE_ACCESS}
     * @param newPd the new domain, of the same context; ignored unless it is to change
     * @param newMemory the new memory, as for {@link ProtectionDomain#register}; ignored unless it is to change. Its
     *        addresses count from where it lies
     * @param newAccess the new rights; ignored unless they are to change
     * @throws VerbsException {@code EINVAL} for wrong arguments or memory that cannot change (a device's), {@code
     *        EBUSY} while a memory window is bound or if a stopped peer does not leave the memory, {@code EOPNOTSUPP}
     *        if the provider cannot. The region is as before then
     */
    public final void reregister(int flags, @Nullable ProtectionDomain newPd, @Nullable MemorySegment newMemory,
            int newAccess) throws VerbsException {
        String verb = "reregister " + describe();
        checkOpen(verb);
        if (flags == 0 || (flags & ~(CHANGE_TRANSLATION | CHANGE_PD | CHANGE_ACCESS)) != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "flags 0x" + Integer.toHexString(flags)
                    + " must name what to change and nothing else");
        }
        ProtectionDomain toPd = (flags & CHANGE_PD) != 0 ? newPd : pd;
        int toAccess = (flags & CHANGE_ACCESS) != 0 ? newAccess : access;
        MemorySegment toMemory = (flags & CHANGE_TRANSLATION) != 0 ? newMemory : null;
        if (toPd == null || toPd.context() != pd.context()) {
            throw new VerbsException(verb, Errno.EINVAL, "the protection domain is none of this context");
        }
        toPd.checkOpen(verb);
        toPd.checkAccess(verb, toAccess);
        if ((flags & CHANGE_TRANSLATION) != 0) {
            toPd.checkMemory(verb, toMemory, toAccess);
        } else if (segment.isReadOnly() && (toAccess & AccessFlags.LOCAL_WRITE) != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "LOCAL_WRITE is not possible on a read-only segment");
        }
        if (toPd == pd) {
            implReregister(toPd, toMemory, toAccess);
        } else {
            ProtectionDomain old = pd;
            standOn(toPd, old);
            try {
                implReregister(toPd, toMemory, toAccess);
            } catch (VerbsException e) {
                standOn(old, toPd);
                throw e;
            }
        }
        pd = toPd;
        access = toAccess;
        if (toMemory != null) {
            segment = toMemory;
            address = (toAccess & AccessFlags.ZERO_BASED) != 0 ? 0 : toMemory.address();
            length = toMemory.byteSize();
        }
    }

    /**
     * Changes the region; the arguments have been checked. When it throws, the region has to be as before.
     *
     * @param newPd the domain from now on
     * @param newMemory the memory from now on; null if it does not change
     * @param newAccess the rights from now on
     */
    protected void implReregister(ProtectionDomain newPd, @Nullable MemorySegment newMemory, int newAccess)
            throws VerbsException {
        throw new VerbsException("reregister " + describe(), Errno.EOPNOTSUPP,
                "the provider cannot change regions: close it and register anew");
    }

    @Override
    int closeOrder() {
        return 4; // after the queues that receive into it
    }
}
