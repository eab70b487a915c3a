// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.FileIdentity;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PosixFile;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.SamplePoints;

/**
 * An open device, {@code struct ibv_context}: everything else is made from it.
 *
 * <p>{@link #close()} closes all that was opened from the context, children first, unlike C's {@code ibv_close_device},
 * which leaks it. Safe for use by several threads.
 */
public abstract class Context extends VerbsObject {
    private final Children children = new Children();
    private final AsyncEventQueue asyncEvents = new AsyncEventQueue();

    /** What is published of the ports, by number less one. */
    private final List<CounterEntry> ports = new CopyOnWriteArrayList<>();

    /** For providers. */
    protected Context() throws VerbsException {
        super(List.of());
    }

    /** The device that was opened. */
    public abstract Device device();

    /** The device's limits and abilities, {@code ibv_query_device_ex}. */
    public abstract DeviceAttributes queryDevice() throws VerbsException;

    /**
     * A port's state and limits, {@code ibv_query_port}.
     *
     * @param port counts from 1
     * @throws VerbsException {@code EINVAL} if there is no such port
     */
    public abstract PortAttributes queryPort(int port) throws VerbsException;

    /**
     * An entry of a port's GID table, {@code ibv_query_gid}.
     *
     * @throws VerbsException {@code EINVAL} if there is no such port or index
     */
    public abstract Gid queryGid(int port, int index) throws VerbsException;

    /**
     * An entry of a port's GID table with what is known of it, {@code ibv_query_gid_ex}.
     *
     * @throws VerbsException {@code EINVAL} if there is no such port or index
     */
    public GidEntry queryGidEntry(int port, int index) throws VerbsException {
        return GidEntry.builder(queryGid(port, index), port, index).build();
    }

    /** All GIDs of all ports, {@code ibv_query_gid_table}; entries that are not in use are left out. */
    public final List<GidEntry> queryGidTable() throws VerbsException {
        List<GidEntry> all = new ArrayList<>();
        for (int port = 1; port <= queryDevice().physicalPortCount(); port++) {
            int length = queryPort(port).gidTableLength();
            for (int i = 0; i < length; i++) {
                GidEntry e = queryGidEntry(port, i);
                if (e.gid().high() != 0 || e.gid().low() != 0) {
                    all.add(e);
                }
            }
        }
        return all;
    }

    /**
     * An entry of a port's table of partition keys, {@code ibv_query_pkey}.
     *
     * @return 16 bits; 0x8000 is set for a full member
     * @throws VerbsException {@code EINVAL} if there is no such port or index, {@code EOPNOTSUPP} if the provider has
     *        no partitions
     */
    public int queryPkey(int port, int index) throws VerbsException {
        throw new VerbsException("query partition key of " + describe(), Errno.EOPNOTSUPP,
                "the provider has no partitions");
    }

    /**
     * Where a partition key stands in a port's table, {@code ibv_get_pkey_index}.
     *
     * @throws VerbsException {@code EINVAL} if there is no such port, {@code ENOENT} if the table has no such key
     */
    public final int pkeyIndex(int port, int pkey) throws VerbsException {
        int length = queryPort(port).pkeyTableLength();
        for (int i = 0; i < length; i++) {
            if (queryPkey(port, i) == pkey) {
                return i;
            }
        }
        throw new VerbsException("find partition key 0x" + Integer.toHexString(pkey) + " of " + describe(),
                Errno.ENOENT, "the table of port " + port + " has no such key");
    }

    /**
     * Reads values from the device, {@code ibv_query_rt_values_ex}.
     *
     * @param mask which ones, see {@link Values}
     * @throws VerbsException {@code EOPNOTSUPP} for a bit that this provider does not know
     */
    public Values queryValues(int mask) throws VerbsException {
        throw new VerbsException("query values of " + describe(), Errno.EOPNOTSUPP,
                "the provider has no clock to read");
    }

    /**
     * Whether the device can do something, named by {@link Feature}. Any identifier may be asked for: what this version
     * of the API has not heard of it cannot do, whichever provider it runs with, so the answer is no and a program that
     * asks first never makes a call that is not there. An identifier with a colon, as in {@code "shm:sessions"}, is the
     * provider's own and answered by it alone.
     */
    public final boolean supports(String feature) {
        return (Feature.isKnown(feature) || feature.indexOf(':') >= 0) && implSupports(feature);
    }

    /** Whether the provider can do something; unknown identifiers are to be answered with false. */
    protected boolean implSupports(String feature) {
        return false;
    }

    /**
     * The path to the sender of a datagram, {@code ibv_init_ah_from_wc}.
     *
     * @param flags its {@link CompletionQueue#flags()} or {@link WorkCompletion#flags()}
     * @param datagram the buffer in which it was received
     * @param port the port that it came in by
     * @throws VerbsException {@code EINVAL} if the datagram has no {@link WcFlags#GRH}, the buffer is too short, or the
     *         datagram was not sent to a GID of this port but, for instance, to a multicast group
     */
    public final AddressVector pathToSender(int flags, MemorySegment datagram, int port) throws VerbsException {
        String verb = "find the sender of a datagram on " + describe();
        checkOpen(verb);
        if ((flags & WcFlags.GRH) == 0 || datagram.byteSize() < GlobalRoutingHeader.BYTES) {
            throw new VerbsException(verb, Errno.EINVAL, "there is no GRH in the buffer");
        }
        GlobalRoutingHeader h = GlobalRoutingHeader.of(datagram);
        boolean given = !h.destination().equals(new Gid(0, 0)); // as entries are that are free
        int table = given ? queryPort(port).gidTableLength() : 0;
        for (int i = 0; i < table; i++) {
            if (h.destination().equals(queryGid(port, i))) {
                return AddressVector.builder(h.source()).sourceGidIndex(i).hopLimit(0xff)
                        .trafficClass(h.trafficClass()).flowLabel(h.flowLabel()).port(port).build();
            }
        }
        throw new VerbsException(verb, Errno.EINVAL, "it was sent to " + h.destination()
                + ", which is no GID of port " + port);
    }

    /** Throws {@code EINVAL} if there is no such path from here. */
    final void checkPath(String verb, AddressVector path) throws VerbsException {
        checkAddressVector(verb, path);
        int ports = queryDevice().physicalPortCount();
        if (path.port() < 1 || path.port() > ports) {
            throw new VerbsException(verb, Errno.EINVAL, "port is " + path.port() + ", must be 1 to " + ports);
        }
        int gids = queryPort(path.port()).gidTableLength();
        if (path.sourceGidIndex() < 0 || path.sourceGidIndex() >= gids) {
            throw new VerbsException(verb, Errno.EINVAL, "the source GID index is " + path.sourceGidIndex()
                    + ", must be 0 to " + (gids - 1));
        }
        if (path.destination().high() == 0 && path.destination().low() == 0) {
            throw new VerbsException(verb, Errno.EINVAL, "the destination GID is zero: a global address is needed");
        }
    }

    /**
     * Allocates memory of the device, {@code ibv_alloc_dm}.
     *
     * @param length bytes, at least 1; with what there is already at most
     *        {@link DeviceAttributes#maxDeviceMemory()}
     * @param logAlign the alignment's logarithm to base 2
     * @throws VerbsException {@code EINVAL} for a wrong length or alignment, {@code ENOMEM} if there is not so much,
     *         {@code EOPNOTSUPP} if the device has none
     */
    public final DeviceMemory allocateDeviceMemory(long length, int logAlign) throws VerbsException {
        String verb = "allocate device memory of " + describe();
        checkOpen(verb);
        if (length < 1 || logAlign < 0) {
            throw new VerbsException(verb, Errno.EINVAL, length + " bytes with alignment 2^" + logAlign
                    + " are no memory");
        }
        return implAllocateDeviceMemory(length, logAlign);
    }

    /** Allocates device memory; the provider checks what it can align. */
    protected DeviceMemory implAllocateDeviceMemory(long length, int logAlign) throws VerbsException {
        throw new VerbsException("allocate device memory of " + describe(), Errno.EOPNOTSUPP, "the device has none");
    }

    /** Allocates a protection domain, {@code ibv_alloc_pd}. */
    public abstract ProtectionDomain allocateProtectionDomain() throws VerbsException;

    /**
     * Allocates a thread domain, {@code ibv_alloc_td}: a promise that what belongs to it is used by one thread at a
     * time.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the provider has none
     */
    public final ThreadDomain allocateThreadDomain() throws VerbsException {
        checkOpen("allocate thread domain on " + describe());
        return implAllocateThreadDomain();
    }

    /** Allocates a thread domain. */
    protected ThreadDomain implAllocateThreadDomain() throws VerbsException {
        throw new VerbsException("allocate thread domain on " + describe(), Errno.EOPNOTSUPP, "the provider has none");
    }

    /**
     * Allocates a parent domain, {@code ibv_alloc_parent_domain}: a protection domain that stands for another one and
     * adds how resources are used. It can be given wherever a protection domain can; memory of the one is reached from
     * the other.
     *
     * @throws VerbsException {@code EINVAL} without a protection domain, with one that is a parent domain itself, or
     *        with an object of another context, {@code EOPNOTSUPP} for an attribute that the provider does not know
     */
    public final ProtectionDomain allocateParentDomain(ParentDomainAttributes attributes) throws VerbsException {
        String verb = "allocate parent domain on " + describe();
        checkOpen(verb);
        ProtectionDomain pd = attributes.protectionDomain();
        if (pd == null) {
            throw new VerbsException(verb, Errno.EINVAL, "there is no protection domain in the attributes");
        }
        if (pd.context() != this) {
            throw new VerbsException(verb, Errno.EINVAL, pd.describe() + " belongs to another context");
        }
        if (pd.isParentDomain()) {
            throw new VerbsException(verb, Errno.EINVAL, pd.describe() + " is a parent domain itself");
        }
        ThreadDomain td = attributes.threadDomain();
        if (td != null && td.context() != this) {
            throw new VerbsException(verb, Errno.EINVAL, td.describe() + " belongs to another context");
        }
        CompMask.check(verb, attributes.compMask(), supportedParentDomainMask(), ParentDomainAttributes::names,
                device().name());
        return implAllocateParentDomain(attributes);
    }

    /** The bits of {@link ParentDomainAttributes#compMask()} that the provider knows. */
    protected int supportedParentDomainMask() {
        return ParentDomainAttributes.PD_CONTEXT;
    }

    /** Allocates a parent domain; the attributes have been checked. */
    protected ProtectionDomain implAllocateParentDomain(ParentDomainAttributes attributes) throws VerbsException {
        throw new VerbsException("allocate parent domain on " + describe(), Errno.EOPNOTSUPP, "the provider has none");
    }

    /**
     * Opens an XRC domain, {@code ibv_open_xrcd}: a private one, or the one that goes by a file. The first to open that
     * one creates it, with {@link XrcDomainAttributes#CREATE}.
     *
     * @param attributes a file, or none, and flags: both have to be set
     * @throws VerbsException {@code EINVAL} if an attribute is missing or a flag unknown, or for a domain that is there
     *        and {@link XrcDomainAttributes#EXCLUSIVE}; {@code EAGAIN} for one that is not there without {@link
     *        XrcDomainAttributes#CREATE}; {@code EBADF} for a descriptor that is not open; {@code ENOENT}, {@code
     *        EACCES} and others for a path; {@code ENOMEM} if the device has no domain left; {@code ETIMEDOUT} if
     *        another process is stopped while it opens the same; {@code EOPNOTSUPP} if the provider has none, or does
     *        not know an attribute
     */
    public final XrcDomain openXrcDomain(XrcDomainAttributes attributes) throws VerbsException {
        String verb = "open XRC domain on " + describe();
        checkOpen(verb);
        int missing = (XrcDomainAttributes.FD | XrcDomainAttributes.OFLAGS) & ~attributes.compMask();
        if (missing != 0) {
            throw new VerbsException(verb, Errno.EINVAL, XrcDomainAttributes.names(missing) + " must be set");
        }
        int unknown = attributes.openFlags() & ~XrcDomainAttributes.KNOWN_FLAGS;
        if (unknown != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "unknown flags " + XrcDomainAttributes.flagNames(unknown));
        }
        CompMask.check(verb, attributes.compMask(), supportedXrcDomainMask(), XrcDomainAttributes::names,
                device().name());
        Path file = attributes.file();
        try {
            if (file == null) {
                if (attributes.fd() != -1) {
                    FileIdentity.of(attributes.fd());
                }
                return implOpenXrcDomain(attributes);
            }
            if (Files.exists(file) && !Files.isRegularFile(file)) { // opening a pipe would wait
                throw new VerbsException(verb, Errno.EINVAL, file + " is no regular file");
            }
            try (Fd fd = PosixFile.open(file, PosixFile.O_RDONLY, 0)) {
                return implOpenXrcDomain(attributes.on(fd.value()));
            }
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** The bits of {@link XrcDomainAttributes#compMask()} that the provider knows; by default none. */
    protected int supportedXrcDomainMask() {
        return 0;
    }

    /**
     * Opens an XRC domain; what does not depend on whether it is there has been checked. If a file was given,
     * {@link XrcDomainAttributes#fd()} is a descriptor of it that is open until the call returns.
     */
    protected XrcDomain implOpenXrcDomain(XrcDomainAttributes attributes) throws VerbsException {
        throw new VerbsException("open XRC domain on " + describe(), Errno.EOPNOTSUPP, "the provider has none");
    }

    /** Creates a channel on which completion queues signal events, {@code ibv_create_comp_channel}. */
    public abstract CompletionChannel createCompletionChannel() throws VerbsException;

    /**
     * Creates a plain completion queue, {@code ibv_create_cq}, without a channel.
     *
     * @param cqe the least number of entries
     * @throws VerbsException {@code EINVAL} if {@code cqe} is less than 1 or more than the device allows
     */
    public final CompletionQueue createCompletionQueue(int cqe) throws VerbsException {
        return createCompletionQueue(CompletionQueueAttributes.builder().cqe(cqe).build());
    }

    /**
     * Creates a completion queue, {@code ibv_create_cq_ex}.
     *
     * @throws VerbsException {@code EINVAL} for a wrong size or vector, or a channel or parent domain of another
     *        context, {@code EOPNOTSUPP} for an attribute, flag or completion field that the provider does not know
     */
    public final CompletionQueue createCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        String verb = "create CQ on " + describe();
        checkOpen(verb);
        int max = queryDevice().maxCqe();
        if (attributes.cqe() < 1 || attributes.cqe() > max) {
            throw new VerbsException(verb, Errno.EINVAL, "cqe is " + attributes.cqe() + ", must be 1 to " + max);
        }
        CompletionChannel channel = attributes.channel();
        if (channel != null && channel.context() != this) {
            throw new VerbsException(verb, Errno.EINVAL, "the channel belongs to another context");
        }
        if (attributes.completionVector() < 0 || attributes.completionVector() >= completionVectors()) {
            throw new VerbsException(verb, Errno.EINVAL, "the completion vector is " + attributes.completionVector()
                    + ", must be less than " + completionVectors());
        }
        ProtectionDomain parent = attributes.parentDomain();
        if (parent != null && parent.context() != this) {
            throw new VerbsException(verb, Errno.EINVAL, "the parent domain belongs to another context");
        }
        if (parent != null && !parent.isParentDomain()) {
            throw new VerbsException(verb, Errno.EINVAL,
                    parent.describe() + " is no parent domain: see Context.allocateParentDomain");
        }
        CompMask.check(verb, attributes.compMask(), CountedCreation.known(this, supportedCompletionQueueMask(),
                CompletionQueueAttributes.COUNTERS), CompletionQueueAttributes::names, device().name());
        CompMask.check(verb, attributes.fields(), supportedCompletionFields(),
                names -> "completion field " + CompletionQueueAttributes.fieldNames(names), device().name());
        CompMask.check(verb, attributes.flags(), supportedCompletionQueueFlags(),
                unknown -> "flag 0x" + Integer.toHexString(unknown), device().name());
        return CountedCreation.run(verb, this, attributes.counters(), ObjectType.CQ, () -> implCreateCompletionQueue(
                attributes));
    }

    /** The bits of {@link CompletionQueueAttributes#compMask()} that the provider knows; by default none. */
    protected int supportedCompletionQueueMask() {
        return 0;
    }

    /** The bits of {@link CompletionQueueAttributes#flags()} that the provider knows; by default the first two. */
    protected int supportedCompletionQueueFlags() {
        return CompletionQueueAttributes.BASIC_FLAGS;
    }

    /** The completion fields that the provider knows; by default the standard ones and the time stamp. */
    protected int supportedCompletionFields() {
        return CompletionQueueAttributes.BASIC_FIELDS;
    }

    /** The bits of {@link QueuePairInitAttributes#compMask()} that the provider knows; by default none. */
    protected int supportedQueuePairInitMask() {
        return 0;
    }

    /**
     * The bits of {@link AddressVector#compMask()} that the provider knows; by default those up to
     * {@link AddressVector#DESTINATION_LID}.
     */
    protected int supportedAddressVectorMask() {
        return AddressVector.BASIC;
    }

    /** Refuses a path with a field that the provider does not know; null is no path. */
    final void checkAddressVector(String verb, @Nullable AddressVector path) throws VerbsException {
        if (path != null) {
            CompMask.check(verb, path.compMask(), supportedAddressVectorMask(), AddressVector::names, device().name());
        }
    }

    /** The number of completion vectors, {@code ibv_context.num_comp_vectors}. */
    public int completionVectors() {
        return 1;
    }

    /** Creates the completion queue; the attributes have been checked. */
    protected abstract CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes)
            throws VerbsException;

    /**
     * Creates a work queue, {@code ibv_create_wq}, in state {@link WorkQueueState#RESET}.
     *
     * @throws VerbsException {@code EINVAL} for objects of another context, a wrong size, an unknown type or flag,
     *         {@code EOPNOTSUPP} if the provider has none
     */
    public final WorkQueue createWorkQueue(WorkQueueInitAttributes attributes) throws VerbsException {
        String verb = "create WQ on " + describe();
        checkOpen(verb);
        WorkQueueChecks.creation(verb, attributes, this);
        CompMask.check(verb, attributes.compMask(), supportedWorkQueueMask(), WorkQueueInitAttributes::names,
                device().name());
        return implCreateWorkQueue(attributes);
    }

    /**
     * The bits of {@link WorkQueueInitAttributes#compMask()} that the provider knows; by default those of the flags.
     */
    protected int supportedWorkQueueMask() {
        return WorkQueueInitAttributes.FLAGS;
    }

    /** Creates a work queue; the attributes have been checked. */
    protected WorkQueue implCreateWorkQueue(WorkQueueInitAttributes attributes) throws VerbsException {
        throw new VerbsException("create WQ on " + describe(), Errno.EOPNOTSUPP, "the provider has no work queues");
    }

    /**
     * Creates a table that spreads packets over work queues, {@code ibv_create_rwq_ind_table}.
     *
     * @param logSize the table has {@code 1 << logSize} entries
     * @param entries the work queues; one may be there several times
     * @throws VerbsException {@code EINVAL} if these are not as many, or one is of another context, {@code EOPNOTSUPP}
     *        if the provider has none
     */
    public final RwqIndirectionTable createRwqIndirectionTable(int logSize, List<WorkQueue> entries)
            throws VerbsException {
        String verb = "create RWQ indirection table on " + describe();
        checkOpen(verb);
        WorkQueueChecks.table(verb, logSize, entries, this);
        return implCreateRwqIndirectionTable(List.copyOf(entries));
    }

    /** Creates a table; its size is a power of two. */
    protected RwqIndirectionTable implCreateRwqIndirectionTable(List<WorkQueue> entries) throws VerbsException {
        throw new VerbsException("create RWQ indirection table on " + describe(), Errno.EOPNOTSUPP,
                "the provider has none");
    }

    /**
     * Creates a set of counters, {@code ibv_create_counters}.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the provider counts nothing
     */
    public final Counters createCounters() throws VerbsException {
        checkOpen("create counters on " + describe());
        Counters c = implCreateCounters();
        adopt(c);
        return c;
    }

    /** Creates counters; by default those that read what the provider's objects publish. */
    protected Counters implCreateCounters() throws VerbsException {
        if (!supports(Feature.COUNTERS)) {
            throw new VerbsException("create counters on " + describe(), Errno.EOPNOTSUPP, "the provider has none");
        }
        return new SampledCounters(this);
    }

    /**
     * Whether the device counts something. That an object has such a point does not say that every object of its kind
     * does: a queue pair of type UD, for instance, has no writes.
     *
     * @param point any number, see {@link SamplePoint}
     */
    public final boolean supportsSamplePoint(int point) {
        return SamplePoints.cells(point, implSamplePoints(SamplePoint.objectType(point))) != 0;
    }

    /**
     * What the provider counts of objects of a kind.
     *
     * @param objectType see {@link ObjectType}
     * @return cells of a {@link CounterEntry}, a bit each: for the point with number {@code n} the bit {@code n & 63}
     */
    protected long implSamplePoints(int objectType) {
        return 0;
    }

    /** For providers: shows the next port, beginning with 1. */
    protected final void publishPort(CounterEntry e) {
        ports.add(e);
    }

    /** What is published of a port. */
    final @Nullable CounterEntry portEntry(String verb, int port) throws VerbsException {
        if (port < 1 || port > queryDevice().physicalPortCount()) {
            throw new VerbsException(verb, Errno.EINVAL, describe() + " has no port " + port);
        }
        return port <= ports.size() ? ports.get(port - 1) : null;
    }

    /**
     * The connection manager, which connects queue pairs by address.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the provider has none
     */
    public ConnectionManager connectionManager() throws VerbsException {
        throw new VerbsException("connection manager of " + describe(), Errno.EOPNOTSUPP, "the provider has none");
    }

    /**
     * Takes the next asynchronous event, {@code ibv_get_async_event}. Events need no acknowledgement. Those of an
     * object that is closed are removed with it; of more than 4096 events not taken, the oldest are dropped.
     *
     * @param timeout how long to wait at most; zero does not wait
     * @return the event, or null when the time is over or the thread was interrupted
     * @throws VerbsException {@code EINVAL} if the context is or gets closed
     */
    public final @Nullable AsyncEvent awaitAsyncEvent(Duration timeout) throws VerbsException {
        return asyncEvents.await(describe(), timeout);
    }

    /** For providers: raises an asynchronous event. */
    public final void raise(AsyncEvent event) {
        CounterEntry published = entry();
        long cell = SamplePoints.cells(SamplePoint.DEVICE_ASYNC_EVENTS);
        if (published != null && !isClosed() && (published.counted() & cell) != 0) {
            published.add(Long.numberOfTrailingZeros(cell), 1);
        }
        asyncEvents.add(event);
    }

    /** For providers: makes the context close {@code child} when it is closed itself. */
    public final void adopt(VerbsObject child) {
        children.add(child, () -> asyncEvents.forget(child));
    }

    /** The objects made from this context that are not closed yet, in no order. */
    protected final List<VerbsObject> children() {
        return children.open();
    }

    /**
     * For providers: called by {@link #close()} before anything is closed. What may keep the context from closing is to
     * be found out here, so that a close that fails has closed nothing.
     *
     * @throws VerbsException if the context cannot be closed now; it then stays open, with all that was made from it
     */
    protected void implPrepareClose() throws VerbsException {}

    /**
     * Closes all that was opened from the context, children first, and then the context. Does nothing if it is closed.
     *
     * @throws VerbsException {@code EBUSY} if a peer that does not go on (it is stopped) is in the middle of a transfer
     *        to memory that cannot be taken away from it. Then nothing was closed; the call can be repeated
     */
    @Override
    public void close() throws VerbsException {
        if (isClosed()) {
            return;
        }
        implPrepareClose();
        children.close();
        CounterEntry published = entry();
        if (published != null) {
            CounterFile.own().endContext(published);
        }
        super.close();
        asyncEvents.close();
    }
}
