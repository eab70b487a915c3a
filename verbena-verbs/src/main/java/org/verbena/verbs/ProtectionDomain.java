// SPDX-License-Identifier: Apache-2.0
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
    /** A thread that owns no arena. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private static final long PAGE = 4096;

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
        checkSize(verb, bytes);
        checkAccess(verb, access);
        return implAllocate(bytes, access);
    }

    /**
     * Registers memory that exists already, {@code ibv_reg_mr}. The memory must be native and must stay allocated until
     * the region is closed; if its arena is closed earlier, work requests of this process on it fail with
     * {@link WcStatus#LOC_PROT_ERR}. Memory of a confined arena is refused, for requests are carried out on several
     * threads.
     *
     * @param memory a native segment of at least one byte, that any thread may touch; {@link AccessFlags#LOCAL_WRITE}
     *        needs a writable one
     * @param access see {@link AccessFlags}
     * @throws VerbsException {@code EINVAL} for heap or confined memory, a wrong size or wrong access, {@code ENOMEM}
     *        if the device has no region left
     */
    public final MemoryRegion register(MemorySegment memory, int access) throws VerbsException {
        String verb = "register " + memory.byteSize() + " bytes on " + describe();
        checkOpen(verb);
        checkMemory(verb, memory, access);
        checkAccess(verb, access);
        return implRegister(memory, access);
    }

    /**
     * Registers memory with attributes, {@code ibv_reg_mr_ex}; also {@code ibv_reg_mr_iova} and
     * {@code ibv_reg_dmabuf_mr}.
     *
     * @throws VerbsException as {@link #register(MemorySegment, int)}; {@code EINVAL} also for attributes that do not
     *        go together, {@code EBADF} for a descriptor that is not open, {@code EINVAL} for one that is no shared
     *        buffer or a range outside it, {@code EOPNOTSUPP} for an attribute that the provider does not know
     */
    public final MemoryRegion register(MemoryRegionAttributes attributes) throws VerbsException {
        MemoryRegionAttributes a = attributes;
        String verb = "register " + a.length() + " bytes on " + describe();
        checkOpen(verb);
        CompMask.check(verb, a.compMask(), CountedCreation.known(context, supportedMemoryRegionMask(),
                MemoryRegionAttributes.COUNTERS), MemoryRegionAttributes::names,
                context.device().name());
        boolean shared = a.has(MemoryRegionAttributes.FD);
        if (shared == a.has(MemoryRegionAttributes.ADDR)) {
            throw new VerbsException(verb, Errno.EINVAL, "either memory or a descriptor has to be given, and not both");
        }
        boolean zeroBased = (a.access() & AccessFlags.ZERO_BASED) != 0;
        boolean iova = a.has(MemoryRegionAttributes.IOVA);
        if (zeroBased && iova && a.iova() != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "ZERO_BASED addresses count from 0, not from iova");
        }
        if (shared) {
            checkDescriptor(verb, a, iova || zeroBased);
        } else {
            MemorySegment memory = a.memory();
            checkMemory(verb, memory, a.access());
            if (a.has(MemoryRegionAttributes.FD_OFFSET)) {
                throw new VerbsException(verb, Errno.EINVAL, "an offset needs a descriptor");
            }
            if (iova && !zeroBased && memory != null && (a.iova() - memory.address() & PAGE - 1) != 0) {
                throw new VerbsException(verb, Errno.EINVAL,
                        "iova must lie as far behind the start of a page as the memory");
            }
        }
        if (iova && a.iova() > 0 && a.iova() > Long.MAX_VALUE - a.length()) {
            throw new VerbsException(verb, Errno.EINVAL, "iova leaves no room for " + a.length() + " bytes");
        }
        checkAccess(verb, a.access());
        return CountedCreation.run(verb, context, a.counters(), ObjectType.MR, () -> implRegisterExtended(a));
    }

    private void checkDescriptor(String verb, MemoryRegionAttributes a, boolean based) throws VerbsException {
        if (!based) {
            throw new VerbsException(verb, Errno.EINVAL, "a shared buffer has no address: iova has to be given");
        }
        if (a.descriptor() < 0) {
            throw new VerbsException(verb, Errno.EBADF, a.descriptor() + " is no descriptor");
        }
        checkSize(verb, a.length());
        if (a.descriptorOffset() < 0 || a.descriptorOffset() > Long.MAX_VALUE - a.length()) {
            throw new VerbsException(verb, Errno.EINVAL, "the range does not lie in the buffer");
        }
        if ((a.iova() - a.descriptorOffset() & PAGE - 1) != 0) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "iova must lie as far behind the start of a page as the offset in the buffer");
        }
    }

    /** Checks memory that is to be registered. */
    final void checkMemory(String verb, @Nullable MemorySegment memory, int access) throws VerbsException {
        if (memory == null || !memory.isNative()) {
            throw new VerbsException(verb, Errno.EINVAL, memory == null
                    ? "no memory is given"
                    : "heap memory moves and cannot be registered: use ProtectionDomain.allocate, an Arena or a direct "
                            + "buffer");
        }
        if (memory.address() == 0 && memory.byteSize() == Long.MAX_VALUE && (access & AccessFlags.ON_DEMAND) != 0) {
            OdpCapabilities odp = context.queryDevice().odpCapabilities();
            if (odp == null || (odp.general() & OdpCapabilities.SUPPORT_IMPLICIT) == 0) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP, context.device().name()
                        + " cannot register the whole address space (implicit on-demand paging)");
            }
        } else {
            checkSize(verb, memory.byteSize());
        }
        if (!memory.scope().isAlive()) {
            throw new VerbsException(verb, Errno.EINVAL, "the memory's arena is closed");
        }
        if (!memory.isAccessibleBy(ANY_THREAD)) {
            throw new VerbsException(verb, Errno.EINVAL, "the memory's arena belongs to one thread, and requests are "
                    + "carried out on others too: use ProtectionDomain.allocate, Arena.ofShared, ofAuto or global");
        }
        if (memory.isReadOnly() && (access & AccessFlags.LOCAL_WRITE) != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "LOCAL_WRITE is not possible on a read-only segment");
        }
    }

    private void checkSize(String verb, long bytes) throws VerbsException {
        long max = context.queryDevice().maxMrSize();
        if (bytes < 1 || bytes > max) {
            throw new VerbsException(verb, Errno.EINVAL, "the size must be 1 to " + max + " bytes");
        }
    }

    /**
     * Makes a region without memory, {@code ibv_alloc_null_mr}: it is as long as can be, its addresses count from 0, it
     * reads as zero, and what work requests of this process write to it vanishes. It has no rights for peers.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the provider has none, {@code ENOMEM} if it has no region left
     */
    public final MemoryRegion allocateNullRegion() throws VerbsException {
        checkOpen("allocate a null region on " + describe());
        return implAllocateNullRegion();
    }

    /**
     * Registers a part of a device's memory, {@code ibv_reg_dm_mr}. The region's segment is empty.
     *
     * @param memory of the same context; it cannot be closed before the region
     * @param offset where the region begins in it
     * @param access with {@link AccessFlags#ZERO_BASED}: addresses count from the region's first byte
     * @throws VerbsException {@code EINVAL} for memory of another context, a range outside it, wrong access or access
     *         without {@code ZERO_BASED}, {@code EOPNOTSUPP} if the provider has none
     */
    public final MemoryRegion registerDeviceMemory(DeviceMemory memory, long offset, long length, int access)
            throws VerbsException {
        String verb = "register device memory on " + describe();
        checkOpen(verb);
        if (memory.context() != context || memory.isClosed()) {
            throw new VerbsException(verb, Errno.EINVAL, "the memory is closed or belongs to another context");
        }
        if (offset < 0 || length < 1 || length > memory.length() || offset > memory.length() - length) {
            throw new VerbsException(verb, Errno.EINVAL, length + " bytes at " + offset + " do not lie within "
                    + memory.length());
        }
        if ((access & AccessFlags.ZERO_BASED) == 0) {
            throw new VerbsException(verb, Errno.EINVAL, "device memory has no address: ZERO_BASED is needed");
        }
        checkAccess(verb, access);
        return implRegisterDeviceMemory(memory, offset, length, access);
    }

    /**
     * Allocates a memory window that is not bound, {@code ibv_alloc_mw}.
     *
     * @param type {@link MemoryWindow#TYPE_1} or {@link MemoryWindow#TYPE_2}
     * @throws VerbsException {@code EINVAL} for another type, {@code EOPNOTSUPP} if the provider has no windows of that
     *         type, {@code ENOMEM} if it has none left
     */
    public final MemoryWindow allocateMemoryWindow(int type) throws VerbsException {
        String verb = "allocate a memory window on " + describe();
        checkOpen(verb);
        if (type != MemoryWindow.TYPE_1 && type != MemoryWindow.TYPE_2) {
            throw new VerbsException(verb, Errno.EINVAL, "there is no type " + type);
        }
        return implAllocateMemoryWindow(type);
    }

    /**
     * Advises on the use of memory, {@code ibv_advise_mr}. The call may return before what it asks for is done, unless
     * {@link MemoryAdvice#FLUSH} is set.
     *
     * @param advice see {@link MemoryAdvice}
     * @param flags 0 or {@link MemoryAdvice#FLUSH}
     * @param ranges at least one, in regions of this domain with {@link AccessFlags#ON_DEMAND}
     * @throws VerbsException {@code EOPNOTSUPP} for an advice that the provider does not know, {@code EINVAL} for
     *        unknown flags or no range, {@code EFAULT} for a key that there is not, a range outside its region, or
     *        memory that is not mapped, {@code EPERM} for a region of another domain, or one that may not be written
     *        and {@link MemoryAdvice#PREFETCH_WRITE}, {@code ENOENT} for a region that is not on demand, {@code ENOMEM}
     */
    public final void advise(int advice, int flags, List<ScatterGatherElement> ranges) throws VerbsException {
        String verb = "advise on memory of " + describe();
        checkOpen(verb);
        if ((flags & ~MemoryAdvice.FLUSH) != 0 || ranges.isEmpty()) {
            throw new VerbsException(verb, Errno.EINVAL, ranges.isEmpty()
                    ? "no range is given"
                    : "unknown flags 0x" + Integer.toHexString(flags));
        }
        implAdvise(advice, flags, ranges);
    }

    /**
     * Creates a queue pair, {@code ibv_create_qp}, in state {@link QueuePairState#RESET}. One of type
     * {@link QueuePairType#XRC_RECV} is created by {@link XrcDomain#createQueuePair}; one of type
     * {@link QueuePairType#XRC_SEND} has no receives, whatever sizes and queue were given for them; one with a shared
     * receive queue has none of its own, whatever sizes were given.
     *
     * @throws VerbsException {@code EINVAL} if a capability exceeds the device's limit, a queue is of another context,
     *        or the type does not go with an attribute; {@code EOPNOTSUPP} for a type or attribute that the provider
     *        does not know, {@code ENOMEM} if the device has no queue pair left
     */
    public final QueuePair createQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        String verb = "create QP on " + describe();
        checkOpen(verb);
        QueuePairChecks.queues(verb, attributes, context);
        checkScaling(verb, attributes);
        QueuePairChecks.supported(verb, attributes, context);
        QueuePairChecks.sharedReceiveQueue(verb, attributes, context);
        QueuePairInitAttributes a = attributes.type() == QueuePairType.XRC_SEND || attributes
                .sharedReceiveQueue() != null
                        ? attributes.toBuilder().maxReceiveWr(0).maxReceiveSge(0).build()
                        : attributes;
        DeviceAttributes d = context.queryDevice();
        check(verb, "maxSendWr", a.maxSendWr(), d.maxQpWr());
        check(verb, "maxReceiveWr", a.maxReceiveWr(), d.maxQpWr());
        check(verb, "maxSendSge", a.maxSendSge(), d.maxSge());
        check(verb, "maxReceiveSge", a.maxReceiveSge(), d.maxSge());
        check(verb, "maxInlineData", a.maxInlineData(), d.maxInlineData());
        QueuePairChecks.createFlags(verb, a);
        return CountedCreation.run(verb, context, a.counters(), ObjectType.QP, () -> implCreateQueuePair(a));
    }

    /** Refuses invalid receive-side scaling, whether the provider supports it or not. */
    private void checkScaling(String verb, QueuePairInitAttributes attributes) throws VerbsException {
        RwqIndirectionTable table = attributes.rwqIndirectionTable();
        RxHashConfiguration hash = attributes.rxHash();
        if (table == null && hash == null) {
            return;
        }
        if (table == null || hash == null) {
            throw new VerbsException(verb, Errno.EINVAL, "receive-side scaling needs an indirection table and a hash");
        }
        if (table.context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, table.describe() + " belongs to another context");
        }
        if (attributes.type() != QueuePairType.RAW_PACKET) {
            throw new VerbsException(verb, Errno.EINVAL, "packets are spread for queue pairs of type RAW_PACKET, not "
                    + QueuePairType.toString(attributes.type()));
        }
        String objection = hash.objection();
        if (objection != null) {
            throw new VerbsException(verb, Errno.EINVAL, objection);
        }
    }

    /**
     * Creates an address handle, {@code ibv_create_ah}.
     *
     * @param path where datagrams are to go: the GID of a port or of a multicast group
     * @throws VerbsException {@code EINVAL} for a port or GID index that there is not, or a destination of zeros,
     *         {@code EHOSTUNREACH} if the provider knows at once that there is no such destination, {@code EOPNOTSUPP}
     *         if the provider has no datagrams
     */
    public final AddressHandle createAddressHandle(AddressVector path) throws VerbsException {
        String verb = "create AH on " + describe();
        checkOpen(verb);
        context.checkPath(verb, path);
        return implCreateAddressHandle(path);
    }

    /**
     * Creates an address handle to the sender of a datagram, {@code ibv_create_ah_from_wc}.
     *
     * @param flags its {@link CompletionQueue#flags()} or {@link WorkCompletion#flags()}
     * @param datagram the buffer in which it was received
     * @param port the port that it came in by
     * @throws VerbsException as {@link Context#pathToSender} and {@link #createAddressHandle}
     */
    public final AddressHandle createAddressHandleToSender(int flags, MemorySegment datagram, int port)
            throws VerbsException {
        checkOpen("create AH on " + describe());
        return createAddressHandle(context.pathToSender(flags, datagram, port));
    }

    /** Creates an address handle; the path has been checked. */
    protected AddressHandle implCreateAddressHandle(AddressVector path) throws VerbsException {
        throw new VerbsException("create AH on " + describe(), Errno.EOPNOTSUPP, "the provider has no datagrams");
    }

    /**
     * Creates a shared receive queue, {@code ibv_create_srq} and {@code ibv_create_srq_ex}. One of type
     * {@link SharedReceiveQueueType#XRC} needs a domain and a completion queue, both of this context.
     *
     * @return the queue; its capacity is at least what was asked for
     * @throws VerbsException {@code EINVAL} if a size exceeds the device's limit, an attribute does not go with the
     *        type or is missing for it, or an object is of another context, {@code ENOMEM} if the device has no queue
     *        left, {@code EOPNOTSUPP} if the provider has none, or does not know the type or an attribute
     */
    public final SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueAttributes attributes)
            throws VerbsException {
        String verb = "create SRQ on " + describe();
        checkOpen(verb);
        checkType(verb, attributes);
        SharedReceiveQueueAttributes a = attributes.type() == SharedReceiveQueueType.BASIC
                ? attributes.withoutType()
                : attributes;
        CompMask.check(verb, a.compMask(), CountedCreation.known(context, supportedSharedReceiveQueueMask(),
                SharedReceiveQueueAttributes.COUNTERS),
                SharedReceiveQueueAttributes::names, context.device().name());
        DeviceAttributes d = context.queryDevice();
        if (d.maxSrq() > 0) {
            check(verb, "maxWr", a.maxWr(), 1, d.maxSrqWr());
            check(verb, "maxSge", a.maxSge(), 0, d.maxSrqSge());
        }
        return CountedCreation.run(verb, context, a.counters(), ObjectType.SRQ, () -> implCreateSharedReceiveQueue(a));
    }

    /** Refuses what does not go with the type of a shared receive queue, whether the provider has it or not. */
    private void checkType(String verb, SharedReceiveQueueAttributes a) throws VerbsException {
        XrcDomain domain = a.xrcDomain();
        CompletionQueue cq = a.completionQueue();
        if (domain != null && domain.context() != context || cq != null && cq.context() != context) {
            throw new VerbsException(verb, Errno.EINVAL,
                    (domain != null && domain.context() != context ? domain.describe() : "the completion queue")
                            + " belongs to another context");
        }
        switch (a.type()) {
            case SharedReceiveQueueType.BASIC -> {
                if (domain != null || cq != null) {
                    throw new VerbsException(verb, Errno.EINVAL,
                            "a queue of type BASIC has neither XRC domain nor completion queue");
                }
            }
            case SharedReceiveQueueType.XRC -> {
                if (domain == null || cq == null) {
                    throw new VerbsException(verb, Errno.EINVAL,
                            "a queue of type XRC needs an XRC domain and a completion queue");
                }
            }
            default -> throw new VerbsException(verb, Errno.EOPNOTSUPP, "there is no type " + a.type());
        }
    }

    /** Creates the shared receive queue; the attributes have been checked. */
    protected SharedReceiveQueue implCreateSharedReceiveQueue(SharedReceiveQueueAttributes attributes)
            throws VerbsException {
        throw new VerbsException("create SRQ on " + describe(), Errno.EOPNOTSUPP,
                "the provider has no shared receive queues");
    }

    /** The bits of {@link SharedReceiveQueueAttributes#compMask()} that the provider knows; by default none. */
    protected int supportedSharedReceiveQueueMask() {
        return 0;
    }

    /** Allocates and registers; the arguments have been checked. */
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        throw new VerbsException("allocate on " + describe(), Errno.EOPNOTSUPP, "the provider allocates no memory");
    }

    /** Registers; the arguments have been checked. */
    protected abstract MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException;

    /**
     * Registers with attributes that have been checked and are all in {@link #supportedMemoryRegionMask()}.
     */
    protected MemoryRegion implRegisterExtended(MemoryRegionAttributes attributes) throws VerbsException {
        MemorySegment memory = attributes.memory();
        if (memory == null) {
            throw new VerbsException("register on " + describe(), Errno.EOPNOTSUPP,
                    "the provider takes memory of this process only");
        }
        return implRegister(memory, attributes.access());
    }

    /** The bits of {@link MemoryRegionAttributes#compMask()} that the provider knows. */
    protected int supportedMemoryRegionMask() {
        return MemoryRegionAttributes.ADDR;
    }

    /** Makes a region without memory. */
    protected MemoryRegion implAllocateNullRegion() throws VerbsException {
        throw new VerbsException("allocate a null region on " + describe(), Errno.EOPNOTSUPP,
                "the provider has no regions without memory");
    }

    /** Registers device memory; the arguments have been checked. */
    protected MemoryRegion implRegisterDeviceMemory(DeviceMemory memory, long offset, long length, int access)
            throws VerbsException {
        throw new VerbsException("register device memory on " + describe(), Errno.EOPNOTSUPP, "the provider has none");
    }

    /** Allocates a memory window; the type is known. */
    protected MemoryWindow implAllocateMemoryWindow(int type) throws VerbsException {
        throw new VerbsException("allocate a memory window on " + describe(), Errno.EOPNOTSUPP,
                "the provider has no windows of " + MemoryWindow.toString(type));
    }

    /** Follows an advice; flags are known and ranges are there, all else the provider checks. */
    protected void implAdvise(int advice, int flags, List<ScatterGatherElement> ranges) throws VerbsException {
        throw new VerbsException("advise on memory of " + describe(), Errno.EOPNOTSUPP, "the provider takes no advice");
    }

    /** Creates the queue pair; the attributes have been checked against the device's limits. */
    protected abstract QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException;

    /** The access flags beyond the optional range that the provider knows. */
    protected int supportedAccess() {
        return AccessFlags.ALL;
    }

    /** Checks the rights that a region is to have. */
    final void checkAccess(String verb, int access) throws VerbsException {
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
        check(verb, name, value, 0, max);
    }

    static void check(String verb, String name, int value, int min, int max) throws VerbsException {
        if (value < min || value > max) {
            throw new VerbsException(verb, Errno.EINVAL, name + " is " + value + ", must be " + min + " to " + max);
        }
    }

    @Override
    int closeOrder() {
        return parentDomain == null ? 7 : 6;
    }
}
