// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.MemoryLimit;

/** A protection domain: regions, of which the first that was allocated is what its queue pairs receive into. */
final class XdpProtectionDomain extends ProtectionDomain {
    private final XdpContext context;
    private final int index;
    private final CounterEntry published;
    private final List<XdpMemoryRegion> allocated = new ArrayList<>();

    XdpProtectionDomain(XdpContext context, int index) throws VerbsException {
        super(context);
        this.context = context;
        this.index = index;
        published = context.published().protectionDomain(index);
        publish(published);
        opened();
    }

    long publishedId() {
        return published.id();
    }

    @Override
    protected int supportedAccess() {
        return AccessFlags.ALL;
    }

    @Override
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        String verb = "allocate " + bytes + " bytes on " + describe();
        MemoryLimit.require(verb, bytes);
        try {
            Umem umem = new Umem(bytes);
            XdpMemoryRegion mr = region(verb, umem.segment().asSlice(0, bytes), access, umem);
            if ((access & AccessFlags.LOCAL_WRITE) != 0) {
                synchronized (allocated) {
                    allocated.add(mr);
                }
            }
            return mr;
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    @Override
    protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
        return region("register " + memory.byteSize() + " bytes on " + describe(), memory, access, null);
    }

    private XdpMemoryRegion region(String verb, MemorySegment memory, int access, @Nullable Umem umem)
            throws VerbsException {
        int key = context.regions().take(verb);
        try {
            XdpMemoryRegion mr = new XdpMemoryRegion(context, this, key, memory, access, umem);
            context.adopt(mr);
            return mr;
        } catch (VerbsException e) { // the domain was closed meanwhile
            context.regions().give(key);
            throw e;
        }
    }

    void forget(XdpMemoryRegion mr) {
        synchronized (allocated) {
            allocated.remove(mr);
        }
    }

    /** The oldest region that packets can be received into; null if there is none. */
    @Nullable
    XdpMemoryRegion firstAllocated() {
        synchronized (allocated) {
            return allocated.isEmpty() ? null : allocated.getFirst();
        }
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes a) throws VerbsException {
        String verb = "create QP on " + describe();
        if (a.type() != QueuePairType.RAW_PACKET) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, context.describe() + " has queue pairs of type RAW_PACKET"
                    + " only, not " + QueuePairType.toString(a.type()));
        }
        if (a.createFlags() != 0 || (a.sendOperations() & ~XdpSendQueue.OPERATIONS) != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "queue pairs of " + context.describe()
                    + " have no flags, and no operations but SEND and SEGMENTED_SEND");
        }
        if (a.maxTsoHeader() < 0 || a.maxTsoHeader() > XdpLimits.MAX_TSO_HEADER) {
            throw new VerbsException(verb, Errno.EINVAL, "maxTsoHeader is " + a.maxTsoHeader() + ", must be 0 to "
                    + XdpLimits.MAX_TSO_HEADER);
        }
        RxHashConfiguration hash = a.rxHash();
        if (hash != null && (hash.fields() & ~XdpDevice.HASH_FIELDS) != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "the hash cannot have "
                    + RxHashFields.toString(hash.fields() & ~XdpDevice.HASH_FIELDS));
        }
        if (a.maxReceiveSge() > 1 && hash == null) {
            throw new VerbsException(verb, Errno.EINVAL, "maxReceiveSge is " + a.maxReceiveSge()
                    + ": a receive has one buffer, of " + XdpLimits.CHUNK + " bytes");
        }
        return context.createQueuePair(this, a);
    }

    @Override
    public String describe() {
        return "PD " + index + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        context.releasePd(index);
    }
}
