package org.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * A protection domain, {@code struct ibv_pd}: queue pairs reach only memory regions of their own domain. Safe for use
 * by several threads.
 */
public abstract class ProtectionDomain extends VerbsObject {
    private final Context context;
    private final @Nullable ParentDomainAttributes parentDomain;

    /** For providers. */
    protected ProtectionDomain(Context context) throws VerbsException {
        this(context, null);
    }

    /**
     * For providers.
     *
     * @param parentDomain the attributes if it is a parent domain, else null
     */
    protected ProtectionDomain(Context context, @Nullable ParentDomainAttributes parentDomain) throws VerbsException {
        super(usedBy(context, parentDomain));
        this.context = context;
        this.parentDomain = parentDomain;
    }

    private static List<VerbsObject> usedBy(Context context, @Nullable ParentDomainAttributes a) {
        List<VerbsObject> used = new ArrayList<>(List.of(context));
        ProtectionDomain pd = a == null ? null : a.protectionDomain();
        if (pd != null) {
            used.add(pd);
        }
        ThreadDomain td = a == null ? null : a.threadDomain();
        if (td != null) {
            used.add(td);
        }
        return used;
    }

    /** The context the domain was allocated from. */
    public final Context context() {
        return context;
    }

    /** True if it was made by {@link Context#allocateParentDomain}. */
    public final boolean isParentDomain() {
        return parentDomain != null;
    }

    /** What a parent domain was made with; null if it is none. */
    public final @Nullable ParentDomainAttributes parentDomainAttributes() {
        return parentDomain;
    }

    /** The protection domain that a parent domain stands for; any other one stands for itself. */
    public final ProtectionDomain underlying() {
        ProtectionDomain pd = parentDomain == null ? null : parentDomain.protectionDomain();
        return pd == null ? this : pd;
    }

    /**
     * Allocates memory and registers it: the memory that providers like best, for instance because a peer on this host
     * can map it. It is zeroed and aligned to a page, and given back by {@link MemoryRegion#close()}.
     *
     * @param bytes at least 1, at most {@link DeviceAttributes#maxMrSize()}
     * @param access see {@link AccessFlags}
     * @throws VerbsException {@code EINVAL} for a wrong size or access, {@code ENOMEM} if there is not so much memory,
     *         {@code EMFILE} if the process has no descriptor left
     */
    public final MemoryRegion allocate(long bytes, int access) throws VerbsException {
        String verb = "allocate " + bytes + " bytes on " + describe();
        checkOpen(verb);
        long max = context.queryDevice().maxMrSize();
        if (bytes < 1 || bytes > max) {
            throw new VerbsException(verb, Errno.EINVAL, "the size must be 1 to " + max + " bytes");
        }
        checkAccess(verb, access);
        return implAllocate(bytes, access);
    }

    /**
     * Registers memory that exists already, {@code ibv_reg_mr}. The memory must be native and must stay allocated until
     * the region is closed; if its arena is closed earlier, work requests of this process on it fail with
     * {@link WcStatus#LOC_PROT_ERR}.
     *
     * @param memory a native segment of at least one byte; {@link AccessFlags#LOCAL_WRITE} needs a writable one
     * @param access see {@link AccessFlags}
     * @throws VerbsException {@code EINVAL} for heap memory, a wrong size or wrong access, {@code ENOMEM} if the device
     *         has no region left
     */
    public final MemoryRegion register(MemorySegment memory, int access) throws VerbsException {
        String verb = "register " + memory.byteSize() + " bytes on " + describe();
        checkOpen(verb);
        if (!memory.isNative()) {
            throw new VerbsException(verb, Errno.EINVAL, "heap memory moves and cannot be registered: "
                    + "use ProtectionDomain.allocate, an Arena or a direct buffer");
        }
        long max = context.queryDevice().maxMrSize();
        if (memory.byteSize() < 1 || memory.byteSize() > max) {
            throw new VerbsException(verb, Errno.EINVAL, "the size must be 1 to " + max + " bytes");
        }
        if (!memory.scope().isAlive()) {
            throw new VerbsException(verb, Errno.EINVAL, "the memory's arena is closed");
        }
        if (memory.isReadOnly() && (access & AccessFlags.LOCAL_WRITE) != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "LOCAL_WRITE is not possible on a read-only segment");
        }
        checkAccess(verb, access);
        return implRegister(memory, access);
    }

    /**
     * Creates a queue pair, {@code ibv_create_qp}, in state {@link QueuePairState#RESET}.
     *
     * @throws VerbsException {@code EINVAL} if a capability exceeds the device's limit or a queue is of another context,
     *         {@code EOPNOTSUPP} for a type or attribute that the provider does not know, {@code ENOMEM} if the device
     *         has no queue pair left
     */
    public final QueuePair createQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        String verb = "create QP on " + describe();
        checkOpen(verb);
        if (attributes.sendCq().context() != context || attributes.receiveCq().context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "a completion queue belongs to another context");
        }
        CompMask.check(verb, attributes.compMask(), context.supportedQueuePairInitMask(),
                QueuePairInitAttributes::names, context.device().name());
        DeviceAttributes d = context.queryDevice();
        check(verb, "maxSendWr", attributes.maxSendWr(), d.maxQpWr());
        check(verb, "maxReceiveWr", attributes.maxReceiveWr(), d.maxQpWr());
        check(verb, "maxSendSge", attributes.maxSendSge(), d.maxSge());
        check(verb, "maxReceiveSge", attributes.maxReceiveSge(), d.maxSge());
        check(verb, "maxInlineData", attributes.maxInlineData(), d.maxInlineData());
        return implCreateQueuePair(attributes);
    }

    /** Allocates and registers; the arguments have been checked. */
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        throw new VerbsException("allocate on " + describe(), Errno.EOPNOTSUPP, "the provider allocates no memory");
    }

    /** Registers; the arguments have been checked. */
    protected abstract MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException;

    /** Creates the queue pair; the attributes have been checked against the device's limits. */
    protected abstract QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException;

    /** The access flags beyond the optional range that the provider knows. */
    protected int supportedAccess() {
        return AccessFlags.ALL;
    }

    private void checkAccess(String verb, int access) throws VerbsException {
        int unknown = access & ~supportedAccess() & ~AccessFlags.OPTIONAL_RANGE;
        if (unknown != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP,
                    "access " + AccessFlags.toString(unknown) + " is not known to " + context.device().name());
        }
        if ((access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0
                && (access & AccessFlags.LOCAL_WRITE) == 0) {
            throw new VerbsException(verb, Errno.EINVAL, "access " + AccessFlags.toString(access)
                    + ": REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well");
        }
    }

    private static void check(String verb, String name, int value, int max) throws VerbsException {
        if (value < 0 || value > max) {
            throw new VerbsException(verb, Errno.EINVAL, name + " is " + value + ", must be 0 to " + max);
        }
    }

    @Override
    int closeOrder() {
        return parentDomain == null ? 6 : 5;
    }
}
