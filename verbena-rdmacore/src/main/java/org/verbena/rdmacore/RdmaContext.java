// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.Context;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.Values;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;
import org.verbena.verbs.spi.QueuePairValues;

/** An open device. */
final class RdmaContext extends Context {
    /** The completion fields that are known here; a bit of a later {@code verbena-verbs} is rejected. */
    private static final int KNOWN_FIELDS = 0xfff;
    /** Packets and bytes of flows. */
    private static final long FLOW_CELLS = 3;

    private static final String ETHERNET = "Ethernet";

    private final RdmaDevice device;
    private final NativeContext verbs;
    private final Queries queries;
    private final Probe probe;
    private final DeviceAttributes attributes;
    private final boolean alternatePaths;
    private final Events events;
    private final int completionVectors;
    /** By the address of the native object: for events. */
    private final Map<Long, VerbsObject> objects = new ConcurrentHashMap<>();
    /**
     * The guards of all queues that post: a thread that frees what a request may refer to waits until no thread posts.
     */
    private final Set<QuiescenceGuard> posters = ConcurrentHashMap.newKeySet();
    /**
     * Registered memory must not be freed while the device may write to it, whatever happens to the region's object.
     */
    private final Map<Long, MemorySegment> registered = new ConcurrentHashMap<>();

    private @Nullable RdmaConnectionManager manager;

    private RdmaContext(RdmaDevice device, NativeContext verbs) throws VerbsException, LinuxException {
        this.device = device;
        this.verbs = verbs;
        queries = new Queries(verbs, device.name());
        probe = new Probe(verbs);
        attributes = queries.device(probe.maxInline);
        alternatePaths = (attributes.capabilityFlags() & DeviceCapabilityFlags.AUTO_PATH_MIG) != 0
                && !queries.port(1).linkLayer().equals(ETHERNET); // whose drivers set the flag, too
        completionVectors = RawMemory.getInt(verbs.address + Layout.CONTEXT_NUM_COMP_VECTORS);
        events = new Events(this, verbs);
    }

    /** Makes the context of a device that was opened; closes it again after an error. */
    static RdmaContext open(RdmaDevice device, NativeContext verbs) throws VerbsException {
        String verb = "open " + device.name();
        try {
            if (!Membarrier.isSupported()) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP,
                        "the kernel has no membarrier(2) with expedited barriers: Linux 4.16 or newer is needed");
            }
            Membarrier.register();
            RdmaContext c = new RdmaContext(device, verbs);
            c.events.start();
            c.opened();
            return c;
        } catch (LinuxException e) {
            Calls.call(verbs.function(verb, IbvFunction.CLOSE_DEVICE), verbs.address);
            throw new VerbsException(verb, e);
        } catch (VerbsException | RuntimeException | Error e) {
            Calls.call(verbs.function(verb, IbvFunction.CLOSE_DEVICE), verbs.address);
            throw e;
        }
    }

    NativeContext verbs() {
        return verbs;
    }

    Events events() {
        return events;
    }

    /** Adds a new object of the device: it is closed with the context, and found by events. */
    <T extends VerbsObject> T add(long address, T object) {
        objects.put(address, object);
        if (!(object instanceof Counters)) { // createCounters does it
            adopt(object);
        }
        return object;
    }

    /**
     * Removes an object; has to be called before the native object is destroyed: a new one may get its address then.
     */
    void remove(long address) {
        objects.remove(address);
    }

    /** Adds an object again that was removed by {@link #remove} and not destroyed. */
    void addBack(long address, VerbsObject object) {
        objects.put(address, object);
    }

    @Nullable
    VerbsObject object(long address) {
        return objects.get(address);
    }

    void addPoster(QuiescenceGuard guard) {
        posters.add(guard);
    }

    void removePoster(QuiescenceGuard guard) {
        posters.remove(guard);
    }

    /** When this returns, no thread is in a post that began before. Later posts see that objects are closed. */
    void awaitPosts(String verb) throws VerbsException {
        Membarrier.ownProcess();
        for (QuiescenceGuard g : posters) {
            if (!g.awaitQuiescence()) {
                throw new VerbsException(verb, Errno.EBUSY, "a thread does not return from a post");
            }
        }
    }

    void hold(long region, MemorySegment memory) {
        registered.put(region, memory);
    }

    void release(long region) {
        registered.remove(region);
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() {
        return attributes;
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        checkPort("query port " + port + " of " + describe(), port);
        return queries.port(port);
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        checkPort("query GID of " + describe(), port);
        return queries.gid(port, index);
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws VerbsException {
        checkPort("query GID of " + describe(), port);
        return queries.gidEntry(port, index);
    }

    @Override
    public int queryPkey(int port, int index) throws VerbsException {
        checkPort("query partition key of " + describe(), port);
        return queries.pkey(port, index);
    }

    private void checkPort(String verb, int port) throws VerbsException {
        checkOpen(verb);
        if (port < 1 || port > attributes.physicalPortCount()) {
            throw new VerbsException(verb, Errno.EINVAL, "port is " + port + ", must be 1 to " + attributes
                    .physicalPortCount());
        }
    }

    /** Rejects attributes that a driver may overlook, or that its structures have no space for. */
    void check(String verb, String queuePair, QueuePairAttributes a) throws VerbsException {
        QueuePairValues.check(queuePair, describe(), a, new QueuePairValues.Limits(attributes.physicalPortCount(),
                Math.max(1, attributes.maxPkeys()), attributes.maxQpInitRdAtom(), attributes.maxQpRdAtom()));
        AddressVector path = a.addressVector();
        if (path != null) {
            checkPath(verb, path);
        }
        AddressVector alternate = a.alternateAddressVector();
        if (alternate != null) {
            checkPath(verb, alternate);
        }
    }

    /**
     * Rejects a path from a port or a GID that does not exist, and one without a destination, which the driver would
     * try to resolve.
     */
    void checkPath(String verb, AddressVector path) throws VerbsException {
        int ports = attributes.physicalPortCount();
        if (path.port() < 1 || path.port() > ports) {
            throw new VerbsException(verb, Errno.EINVAL, "AV is from port " + path.port() + ", " + describe()
                    + " has port 1 to " + ports);
        }
        int gids = queries.port(path.port()).gidTableLength();
        if (path.sourceGidIndex() < 0 || path.sourceGidIndex() >= gids) {
            throw new VerbsException(verb, Errno.EINVAL, "AV is from GID index " + path.sourceGidIndex()
                    + ", the table has " + gids + " entries");
        }
        if (path.destination().equals(PathBytes.NONE) && path.destinationLid() == 0) {
            throw new VerbsException(verb, Errno.EINVAL, "AV has no destination: neither GID nor LID");
        }
    }

    @Override
    public Values queryValues(int mask) throws VerbsException {
        checkOpen("query values of " + describe());
        return queries.values(mask);
    }

    @Override
    protected boolean implSupports(String feature) {
        return switch (feature) {
            case Feature.CONNECTION_MANAGER -> hasConnectionManager();
            case Feature.ALTERNATE_PATH -> alternatePaths;
            default -> Features.supports(verbs, probe, attributes, feature);
        };
    }

    @Override
    public int completionVectors() {
        return completionVectors;
    }

    // ---- objects

    @Override
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        String verb = "allocate PD on " + describe();
        checkOpen(verb);
        return RdmaProtectionDomain.create(verb, this, List.of(this), () -> Calls.pointer(verb, verbs.function(verb,
                IbvFunction.ALLOC_PD), verbs.address), null);
    }

    @Override
    protected ThreadDomain implAllocateThreadDomain() throws VerbsException {
        String verb = "allocate thread domain on " + describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.TD_INIT_BYTES);
            return Handle.create(verb, this, List.of(this), Handle.by(this, Slot.DEALLOC_TD), () -> Calls.pointer(verb,
                    verbs.slot(verb, Slot.ALLOC_TD), verbs.address, s.address()), RdmaThreadDomain::new);
        }
    }

    @Override
    protected ProtectionDomain implAllocateParentDomain(ParentDomainAttributes a) throws VerbsException {
        String verb = "allocate parent domain on " + describe();
        List<VerbsObject> used = new ArrayList<>(List.of(this));
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.PARENT_BYTES);
            if (a.protectionDomain() instanceof RdmaProtectionDomain pd) {
                used.add(pd);
                s.putLong(0, pd.address());
            }
            if (a.threadDomain() instanceof RdmaThreadDomain td) {
                used.add(td);
                s.putLong(Layout.PARENT_TD, td.address());
            }
            return RdmaProtectionDomain.create(verb, this, used, () -> Calls.pointer(verb, verbs.slot(verb,
                    Slot.ALLOC_PARENT_DOMAIN), verbs.address, s.address()), a);
        }
    }

    @Override
    public CompletionChannel createCompletionChannel() throws VerbsException {
        String verb = "create completion channel on " + describe();
        checkOpen(verb);
        return Handle.create(verb, this, List.of(this), Handle.by(this, IbvFunction.DESTROY_COMP_CHANNEL), () -> Calls
                .pointer(verb, verbs.function(verb, IbvFunction.CREATE_COMP_CHANNEL), verbs.address),
                RdmaCompletionChannel::new);
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes a) throws VerbsException {
        return RdmaCompletionQueue.create(this, a);
    }

    @Override
    protected int supportedCompletionFields() {
        return verbs.has(Slot.CREATE_CQ_EX) ? KNOWN_FIELDS : CompletionQueueAttributes.STANDARD_FIELDS;
    }

    @Override
    protected int supportedCompletionQueueMask() {
        return verbs.has(Slot.CREATE_CQ_EX)
                ? CompletionQueueAttributes.FLAGS | CompletionQueueAttributes.PARENT_DOMAIN
                : 0;
    }

    @Override
    protected int supportedQueuePairInitMask() {
        return QueuePairInitAttributes.SHARED_RECEIVE_QUEUE | (verbs.has(Slot.CREATE_QP_EX)
                ? QueuePairInitAttributes.CREATE_FLAGS | QueuePairInitAttributes.MAX_TSO_HEADER
                        | QueuePairInitAttributes.IND_TABLE | QueuePairInitAttributes.RX_HASH
                        | (verbs.library.has(IbvFunction.QP_TO_QP_EX) ? QueuePairInitAttributes.SEND_OPS_FLAGS : 0)
                : 0);
    }

    @Override
    protected XrcDomain implOpenXrcDomain(XrcDomainAttributes a) throws VerbsException {
        return RdmaXrcDomain.open(this, a);
    }

    @Override
    protected int supportedXrcDomainMask() {
        return XrcDomainAttributes.FD | XrcDomainAttributes.OFLAGS;
    }

    @Override
    protected DeviceMemory implAllocateDeviceMemory(long length, int logAlign) throws VerbsException {
        return RdmaDeviceMemory.allocate(this, length, logAlign);
    }

    @Override
    protected WorkQueue implCreateWorkQueue(WorkQueueInitAttributes a) throws VerbsException {
        return RdmaWorkQueue.create(this, a);
    }

    @Override
    protected RwqIndirectionTable implCreateRwqIndirectionTable(List<WorkQueue> entries) throws VerbsException {
        return RdmaIndirectionTable.create(this, entries);
    }

    @Override
    protected Counters implCreateCounters() throws VerbsException {
        return RdmaCounters.create(this);
    }

    @Override
    protected long implSamplePoints(int objectType) {
        return objectType == ObjectType.FLOW && probe.counters ? FLOW_CELLS : 0;
    }

    void requireOpen(String verb) throws VerbsException {
        checkOpen(verb);
    }

    /** Whether librdmacm is installed, and can be used. */
    private boolean hasConnectionManager() {
        try {
            connectionManager();
            return true;
        } catch (VerbsException e) {
            return false;
        }
    }

    /** Uses librdmacm, which is loaded on the first call. */
    @Override
    public ConnectionManager connectionManager() throws VerbsException {
        String verb = "connection manager of " + describe();
        synchronized (registered) {
            checkOpen(verb);
            RdmaConnectionManager m = manager;
            if (m == null) {
                m = new RdmaConnectionManager(this, CmChannel.open(verb, this));
                manager = m;
            }
            return m;
        }
    }

    @Override
    public String describe() {
        return device.name();
    }

    @Override
    protected void implClose() throws VerbsException {
        events.stop();
        synchronized (registered) {
            if (manager != null) {
                manager.close();
                manager = null;
            }
        }
        queries.close();
        String verb = "close " + describe();
        Calls.zero(verb, verbs.function(verb, IbvFunction.CLOSE_DEVICE), verbs.address);
        objects.clear();
        registered.clear();
    }
}
