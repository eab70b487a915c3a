// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Sys;
import org.verbena.shm.control.ContextParts;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.PortDirectory;
import org.verbena.shm.control.Session;
import org.verbena.shm.counts.RegionCounts;
import org.verbena.shm.counts.ShmCounted;
import org.verbena.shm.datagram.Multicast;
import org.verbena.shm.layout.Adapter;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.EngineLog;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.QueuePairNumbers;
import org.verbena.shm.memory.Allocation;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.pool.Commons;
import org.verbena.shm.ring.PeerBells;
import org.verbena.shm.xrc.XrcDirectory;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.telemetry.CounterFile;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.Values;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;
import org.verbena.verbs.spi.Departure;
import org.verbena.verbs.spi.Engine;
import org.verbena.verbs.spi.PlainThreadDomain;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.Slots;

/** An open {@code shm0}: the adapter, its engine thread, and the tables of its objects. */
final class ShmContext extends Context implements Departure {
    private static final DeviceAttributes ATTRIBUTES = ShmDevice.attributes();
    private static final int DEFAULT_PKEY = 0xffff;
    private static final int MAX_LOG_ALIGN = 12;
    private static final AtomicInteger CONTEXTS = new AtomicInteger();

    private final ShmDevice device;
    private final long instance;
    private final Adapter adapter;
    private final Commons commons;
    private final KeyTable keys;
    private final Engine engine;
    private final Control control;
    private final ShmConnectionManager connectionManager = new ShmConnectionManager(this);
    private final PortDirectory ports;
    private final Multicast multicast;
    private final XrcDomains domains;
    private final XrcDirectory xrc;
    private final Slots pds = new Slots(AdapterLayout.MAX_PD);
    private final Set<RegionCounts> regionCounts = ConcurrentHashMap.newKeySet();
    /** Stops the updates of counters that peers keep. */
    private final Runnable stopUpdates;
    private final QueuePairs queuePairs = new QueuePairs();
    private final Memories memories;
    private final ContextInternals internals;
    private final AtomicInteger nextChannel = new AtomicInteger();
    private final AtomicInteger nextThreadDomain = new AtomicInteger();

    private ShmContext(ShmDevice device, long instance, Adapter adapter, Commons commons, Engine engine,
            PublishedObjects published) throws VerbsException, LinuxException {
        this.device = device;
        this.instance = instance;
        this.adapter = adapter;
        this.commons = commons;
        this.engine = engine;
        keys = new KeyTable(adapter);
        ports = new PortDirectory(engine, instance);
        SessionPeers peers = new SessionPeers(this);
        memories = new Memories(ShmDevice.NAME, peers, keys);
        ContextParts parts = new ContextParts(instance, adapter, commons, engine, memories,
                new QueuePairNumbers());
        control = new Control(parts, peers);
        multicast = new Multicast(instance, control);
        domains = new XrcDomains(instance);
        xrc = new XrcDirectory(control, domains);
        internals = new ContextInternals(this, parts, control, keys, multicast, domains, xrc, pds, queuePairs,
                published, regionCounts);
        publish(published.device());
        publishPort(published.port());
        stopUpdates = CounterFile.own().onGather(this::updateCounts);
    }

    static ShmContext open(ShmDevice device) throws VerbsException, LinuxException {
        long instance;
        do {
            instance = Sys.random();
        } while (instance == 0);
        Adapter adapter = new Adapter(instance);
        Commons commons = null;
        Engine engine = null;
        PublishedObjects published = new PublishedObjects(ShmDevice.NAME, ShmCounted.ALL);
        try {
            commons = new Commons(instance);
            engine = new Engine("verbena-shm0-engine-" + CONTEXTS.incrementAndGet(), ShmDevice.NAME,
                    PeerBells.name(instance, 0), published.device(), EngineLog::log);
            ShmContext c = new ShmContext(device, instance, adapter, commons, engine, published);
            engine.start();
            c.opened();
            return c;
        } catch (LinuxException | RuntimeException | Error e) { // an error too: that of a thread that cannot be had
            published.close();
            adapter.close();
            if (commons != null) {
                commons.close();
            }
            if (engine != null) {
                engine.discard();
            }
            throw e;
        }
    }

    long instance() {
        return instance;
    }

    @Override
    public void announce() {
        adapter.depart();
    }

    Adapter adapter() {
        return adapter;
    }

    Commons commons() {
        return commons;
    }

    /** Updates the counters that peers keep. */
    private void updateCounts() {
        for (QueuePairBase qp : queuePairs.all()) {
            qp.receiveCounts().update();
        }
        List<Session> sessions = control.sessions();
        for (RegionCounts r : regionCounts) {
            r.update(sessions);
        }
        for (VerbsObject o : children()) {
            if (o instanceof ShmSharedReceiveQueue srq) {
                srq.updateCounts();
            }
        }
    }

    /** Counts something of the device, see {@link org.verbena.verbs.SamplePoint}. */
    void count(int point) {
        internals.count(point);
    }

    KeyTable keys() {
        return keys;
    }

    Engine engine() {
        return engine;
    }

    Control control() {
        return control;
    }

    ShmConnectionManager shmConnectionManager() {
        return connectionManager;
    }

    PortDirectory ports() {
        return ports;
    }

    Multicast multicast() {
        return multicast;
    }

    XrcDomains domains() {
        return domains;
    }

    XrcDirectory xrc() {
        return xrc;
    }

    void requireOpen(String verb) throws VerbsException {
        checkOpen(verb);
    }

    // ---- the API

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() {
        return ATTRIBUTES;
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        checkPort("query port " + port, port);
        return ShmDevice.PORT;
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        checkPort("query GID " + index, port);
        if (index != 0) {
            throw new VerbsException("query GID " + index, Errno.EINVAL, "the table has one entry, index 0");
        }
        return PeerMapping.gid(instance);
    }

    /** One partition, of which every port is a full member. */
    @Override
    public int queryPkey(int port, int index) throws VerbsException {
        checkPort("query partition key " + index, port);
        if (index != 0) {
            throw new VerbsException("query partition key " + index, Errno.EINVAL,
                    "the table has one entry, index 0");
        }
        return DEFAULT_PKEY;
    }

    private void checkPort(String verb, int port) throws VerbsException {
        checkOpen(verb);
        if (port != 1) {
            throw new VerbsException(verb, Errno.EINVAL, "shm0 has port 1 only");
        }
    }

    @Override
    public Values queryValues(int mask) throws VerbsException {
        checkOpen("query values");
        if ((mask & ~Values.RAW_CLOCK) != 0) {
            throw new VerbsException("query values of " + describe(), Errno.EOPNOTSUPP,
                    "mask 0x" + Integer.toHexString(mask) + " has bits that shm0 does not know");
        }
        Values.Builder b = Values.builder();
        return (mask == 0 ? b : b.rawClock(System.nanoTime())).build();
    }

    @Override
    protected boolean implSupports(String feature) {
        return switch (feature) {
            case Feature.RC, Feature.UC, Feature.UD, Feature.MULTICAST, Feature.ATOMICS, Feature.COMPLETION_TIMESTAMP,
                    Feature.QUERY_VALUES,
                    Feature.CONNECTION_MANAGER, Feature.ALLOCATE, Feature.COMPLETION_TIMESTAMP_WALLCLOCK,
                    Feature.CQ_RESIZE, Feature.CQ_MODERATION, Feature.THREAD_DOMAIN, Feature.PARENT_DOMAIN,
                    Feature.IOVA, Feature.ZERO_BASED, Feature.DMABUF,
                    Feature.ON_DEMAND, Feature.ADVISE, Feature.REREGISTER, Feature.NULL_REGION,
                    Feature.MEMORY_WINDOW_TYPE_1, Feature.MEMORY_WINDOW_TYPE_2, Feature.SEND_INVALIDATE,
                    Feature.DEVICE_MEMORY, Feature.FLUSH, Feature.ATOMIC_WRITE,
                    Feature.XRC, Feature.SHARED_RECEIVE_QUEUE, Feature.SHARED_RECEIVE_QUEUE_RESIZE,
                    Feature.BLOCK_SELF_MULTICAST ->
                true;
            case Feature.COUNTERS -> PublishedObjects.COUNTING;
            default -> false;
        };
    }

    @Override
    protected long implSamplePoints(int objectType) {
        return ShmCounted.ALL.of(objectType);
    }

    @Override
    protected int supportedQueuePairInitMask() {
        return QueuePairInitAttributes.SHARED_RECEIVE_QUEUE | QueuePairInitAttributes.CREATE_FLAGS
                | QueuePairInitAttributes.SEND_OPS_FLAGS;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        checkOpen("allocate PD");
        int index = pds.take("allocate PD", "protection domains");
        ShmProtectionDomain pd;
        try {
            pd = new ShmProtectionDomain(internals, index);
        } catch (VerbsException e) {
            pds.give(index);
            throw e;
        }
        adopt(pd);
        return pd;
    }

    @Override
    protected XrcDomain implOpenXrcDomain(XrcDomainAttributes attributes) throws VerbsException {
        ShmXrcDomain d = ShmXrcDomain.open(internals, attributes);
        adopt(d);
        return d;
    }

    @Override
    protected int supportedXrcDomainMask() {
        return XrcDomainAttributes.FD | XrcDomainAttributes.OFLAGS;
    }

    @Override
    protected ThreadDomain implAllocateThreadDomain() throws VerbsException {
        PlainThreadDomain td = new PlainThreadDomain(this, nextThreadDomain.incrementAndGet());
        adopt(td);
        return td;
    }

    /** Queues lie in files that peers map, so memory from the application's allocator is of no use. */
    @Override
    protected ProtectionDomain implAllocateParentDomain(ParentDomainAttributes attributes) throws VerbsException {
        if (!(attributes.protectionDomain() instanceof ShmProtectionDomain pd)) {
            throw new VerbsException("allocate parent domain on " + describe(), Errno.EINVAL, "foreign PD");
        }
        ShmProtectionDomain parent = new ShmProtectionDomain(internals, attributes, pd);
        adopt(parent);
        return parent;
    }

    @Override
    protected int supportedCompletionFields() {
        return CompletionQueueAttributes.STANDARD_FIELDS | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP
                | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    }

    /** There is no lock that a single thread could omit, and queues cannot overrun: both flags hold in any case. */
    @Override
    protected int supportedCompletionQueueMask() {
        return CompletionQueueAttributes.FLAGS | CompletionQueueAttributes.PARENT_DOMAIN;
    }

    @Override
    public CompletionChannel createCompletionChannel() throws VerbsException {
        checkOpen("create completion channel");
        ShmCompletionChannel c = new ShmCompletionChannel(this, instance, engine, nextChannel.incrementAndGet());
        adopt(c);
        return c;
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        ShmCompletionQueue cq = new ShmCompletionQueue(internals, attributes);
        adopt(cq);
        return cq;
    }

    @Override
    public ConnectionManager connectionManager() throws VerbsException {
        checkOpen("get connection manager");
        return connectionManager;
    }

    @Override
    public String describe() {
        return ShmDevice.NAME;
    }

    // ---- sessions

    QueuePairs queuePairs() {
        return queuePairs;
    }

    /** The control socket reports that a peer is gone, perhaps after it announced its departure; on the engine's thread. */
    void peerGone(Session s, String reason) {
        s.checkDeparted();
        sessionEnded(s, reason);
    }

    /** A peer is gone, or is given up; on the engine's thread. */
    void sessionEnded(Session s, String reason) {
        // a peer that ends its connections first goes in order
        boolean lost = !s.isDead() && !s.hasDeparted() && (s.isInUse() || connectionManager.uses(s));
        // counted before it is reported: the counters may then be read
        for (RegionCounts r : regionCounts) {
            r.end(s);
        }
        if (lost && !isClosed()) {
            count(SamplePoint.DEVICE_PEERS_LOST);
        }
        control.forget(s);
        multicast.end(s);
        s.end(reason);
        connectionManager.sessionEnded(s, reason);
    }

    // ---- memory

    @Override
    protected DeviceMemory implAllocateDeviceMemory(long length, int logAlign) throws VerbsException {
        String verb = "allocate " + length + " bytes of device memory";
        if (logAlign > MAX_LOG_ALIGN) {
            throw new VerbsException(verb, Errno.EINVAL, "memory is aligned to pages, 2^" + MAX_LOG_ALIGN);
        }
        Allocation a = memories.allocateDeviceMemory(verb, length);
        try {
            ShmDeviceMemory m = new ShmDeviceMemory(this, memories, a);
            adopt(m);
            return m;
        } catch (VerbsException e) { // the context was closed meanwhile
            memories.freeDeviceMemory(a);
            throw e;
        }
    }

    Memories memories() {
        return memories;
    }

    @Override
    protected void implPrepareClose() throws VerbsException {
        memories.prepareClose();
    }

    @Override
    protected void implClose() throws VerbsException {
        stopUpdates.run();
        CountDownLatch done = new CountDownLatch(1);
        engine.submit(() -> {
            multicast.close();
            xrc.close();
            domains.close();
            control.close();
            done.countDown();
        });
        boolean interrupted = false;
        while (done.getCount() > 0) {
            try {
                done.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        engine.stop();
        try {
            memories.close();
        } finally {
            adapter.close();
            commons.close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
