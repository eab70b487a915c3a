package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/** A protection domain: a number that keys and queue pairs carry. */
final class ShmProtectionDomain extends ProtectionDomain {
    private final ShmContext context;
    private final int index;

    ShmProtectionDomain(ShmContext context, int index) throws VerbsException {
        super(context);
        this.context = context;
        this.index = index;
        opened();
    }

    /** A parent domain: it has the number of the protection domain that it stands for, so keys and queue pairs fit. */
    ShmProtectionDomain(ShmContext context, ParentDomainAttributes attributes, ShmProtectionDomain pd)
            throws VerbsException {
        super(context, attributes);
        this.context = context;
        index = pd.index;
        opened();
    }

    int index() {
        return index;
    }

    @Override
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        Allocation a = context.allocate(describe(), index, bytes);
        return region(a.segment(), access, a);
    }

    @Override
    protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
        return region(memory, access, context.allocationOf(index, memory));
    }

    private MemoryRegion region(MemorySegment memory, int access, @Nullable Allocation allocation)
            throws VerbsException {
        if (allocation != null) {
            allocation.use();
        }
        Region r;
        try {
            r = context.register(index, access, memory, allocation);
        } catch (VerbsException e) {
            if (allocation != null && allocation.unuse()) {
                context.free(allocation);
            }
            throw e;
        }
        if (allocation == null) {
            context.letPeersReachRegisteredMemory();
        }
        ShmMemoryRegion mr = new ShmMemoryRegion(context, this, r);
        context.adopt(mr);
        return mr;
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        if (attributes.type() != QueuePairType.RC) {
            throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP,
                    "shm0 has queue pairs of type RC only, not " + QueuePairType.toString(attributes.type()));
        }
        ShmQueuePair qp = new ShmQueuePair(context, this, attributes);
        context.adopt(qp);
        return qp;
    }

    @Override
    public String describe() {
        return (isParentDomain() ? "parent domain on PD " : "PD ") + index + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        if (!isParentDomain()) {
            context.givePd(index);
        }
    }
}
