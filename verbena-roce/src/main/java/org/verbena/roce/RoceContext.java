// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.roce.transport.Path;
import org.verbena.roce.transport.Transport;
import org.verbena.roce.transport.Wire;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEventType;
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
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.Values;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;
import org.verbena.verbs.spi.Engine;
import org.verbena.verbs.spi.PlainThreadDomain;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.Slots;

/** An open device: the transport, its lock, the engine thread, and the tables of its objects. */
final class RoceContext extends Context {
    private static final int DEFAULT_PKEY = 0xffff;
    private static final AtomicInteger CONTEXTS = new AtomicInteger();

    private final RoceDevice device;
    private final Port port;
    private final long instance;
    private final ContextLock lock = new ContextLock();
    private final Transport transport;
    private final Engine engine;
    private final Progress progress;
    private final RoceConnectionManager connections;
    private final PublishedObjects published;
    private final DeviceCounts counts;
    private final KeyTable keys = new KeyTable();
    private final Multicast multicast = new Multicast(this);
    private final Slots pds = new Slots(RoceLimits.MAX_PD);
    private final Slots completionQueues = new Slots(RoceLimits.MAX_CQ);
    private final Slots sharedReceiveQueues = new Slots(RoceLimits.MAX_SRQ);
    private final XrcDomains xrcDomains = new XrcDomains();
    private final QueuePairNumbers numbers;
    /** The first shared receive queue number: it differs between two contexts, and is never 0. */
    private final int firstQueue;
    private final AtomicInteger nextChannel = new AtomicInteger();
    private final AtomicInteger nextThreadDomain = new AtomicInteger();
    private final AtomicLong deviceMemory = new AtomicLong();
    /** Queue pairs whose completion queue has overrun; under the lock. */
    private final List<QueuePairCore> failing = new ArrayList<>();

    private RoceContext(RoceDevice device, Port port, long instance, Transport transport, Engine engine,
            PublishedObjects published) throws VerbsException {
        this.device = device;
        this.port = port;
        this.instance = instance;
        this.transport = transport;
        this.engine = engine;
        this.published = published;
        numbers = new QueuePairNumbers((int) instance);
        connections = new RoceConnectionManager(this, port, device.guid());
        counts = connections.counts(published.device(), port.counts());
        firstQueue = 1 + (int) (instance >>> 33) % 0x3fff << 10;
        progress = new Progress(this, transport, engine, port.wire().descriptor(), device.progressByApplication());
        publish(published.device());
        publishPort(published.port());
    }

    static RoceContext open(RoceDevice device) throws VerbsException {
        Port port = device.openPort();
        PublishedObjects published = new PublishedObjects(device.name(), RoceCounted.ALL);
        Engine engine = null;
        try {
            engine = new Engine("verbena-" + device.name() + "-engine-" + CONTEXTS.incrementAndGet(), device.name(),
                    null,
                    published.device(), RoceLog::log);
            RoceContext c = new RoceContext(device, port, new SecureRandom().nextLong(),
                    new Transport(port.wire()), engine, published);
            c.progress.start();
            engine.start();
            c.opened();
            return c;
        } catch (LinuxException e) {
            discard(port, published, engine);
            throw new VerbsException("open " + device.name(), e);
        } catch (VerbsException | RuntimeException | Error e) { // an Error too: a thread that cannot be created
            discard(port, published, engine);
            throw e;
        }
    }

    private static void discard(Port port, PublishedObjects published, @Nullable Engine engine) {
        published.close();
        if (engine != null) {
            engine.discard();
        }
        port.close();
    }

    long instance() {
        return instance;
    }

    void requireOpen(String verb) throws VerbsException {
        checkOpen(verb);
    }

    ContextLock lock() {
        return lock;
    }

    Transport transport() {
        return transport;
    }

    Wire wire() {
        return port.wire();
    }

    Port port() {
        return port;
    }

    Engine engine() {
        return engine;
    }

    Progress progress() {
        return progress;
    }

    RoceConnectionManager connections() {
        return connections;
    }

    @Override
    public ConnectionManager connectionManager() throws VerbsException {
        checkOpen("connection manager of " + describe());
        return connections;
    }

    KeyTable keys() {
        return keys;
    }

    Multicast multicast() {
        return multicast;
    }

    PublishedObjects published() {
        return published;
    }

    /** Counts an event of the device, see {@link org.verbena.verbs.SamplePoint}. */
    void count(int point) {
        published.device().add(PublishedObjects.cell(point), 1);
    }

    /** Under the lock, after packets were received or sent. */
    void publishCounts() {
        counts.publish();
    }

    /** Under the lock, inside the transport: a queue pair has to fail after the current call. */
    void failLater(QueuePairCore qp, String reason) {
        qp.setErrorReason(reason);
        failing.add(qp);
    }

    /** Under the lock, outside the transport. */
    void failOverrun() {
        for (int i = 0; i < failing.size(); i++) {
            QueuePairCore qp = failing.get(i);
            if (!qp.isClosed()) {
                qp.transport.fail(qp.errorReason(), AsyncEventType.QP_FATAL);
            }
        }
        failing.clear();
    }

    /** Under the lock, after something was posted to the transport. */
    void posted() {
        progress.posted();
    }

    /** True if a GID is in the GID table. */
    boolean isOwn(long gidHigh, long gidLow) {
        return port.has(gidHigh, gidLow);
    }

    /** The path to a destination; the caller closes it, or passes it to the transport. */
    Path path(String verb, AddressVector v) throws VerbsException {
        int length = port.attributes().gidTableLength();
        if (v.port() != 1 || v.sourceGidIndex() < 0 || v.sourceGidIndex() >= length) {
            throw new VerbsException(verb, Errno.EINVAL, "AV is from port " + v.port() + ", GID index "
                    + v.sourceGidIndex() + ": there is port 1 only, with " + length + " GIDs");
        }
        Gid source = port.gid(v.sourceGidIndex()).gid();
        if (source.high() == 0 && source.low() == 0) {
            throw new VerbsException(verb, Errno.EINVAL, "there is no GID at index " + v.sourceGidIndex());
        }
        lock.lock();
        try {
            progress.requireOpen(verb);
            return port.wire().path(source, v.sourceGidIndex(), v.destination(), v.trafficClass(), v.flowLabel(),
                    v.hopLimit());
        } finally {
            lock.unlock();
        }
    }

    // ---- the API

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() {
        return device.attributes();
    }

    @Override
    public PortAttributes queryPort(int number) throws VerbsException {
        checkPort("query port " + number, number);
        return port.attributes();
    }

    @Override
    public Gid queryGid(int number, int index) throws VerbsException {
        return queryGidEntry(number, index).gid();
    }

    @Override
    public GidEntry queryGidEntry(int number, int index) throws VerbsException {
        String verb = "query GID " + index;
        checkPort(verb, number);
        int length = port.attributes().gidTableLength();
        if (index < 0 || index >= length) {
            throw new VerbsException(verb, Errno.EINVAL, "the table has " + length + " entries");
        }
        return port.gid(index);
    }

    /** One partition, of which every port is a full member. */
    @Override
    public int queryPkey(int number, int index) throws VerbsException {
        checkPort("query partition key " + index, number);
        if (index != 0) {
            throw new VerbsException("query partition key " + index, Errno.EINVAL,
                    "the table has one entry, index 0");
        }
        return DEFAULT_PKEY;
    }

    private void checkPort(String verb, int number) throws VerbsException {
        checkOpen(verb);
        if (number != 1) {
            throw new VerbsException(verb, Errno.EINVAL, device.name() + " has port 1 only");
        }
    }

    @Override
    public Values queryValues(int mask) throws VerbsException {
        checkOpen("query values");
        if ((mask & ~Values.RAW_CLOCK) != 0) {
            throw new VerbsException("query values of " + describe(), Errno.EOPNOTSUPP,
                    "mask 0x" + Integer.toHexString(mask) + " has bits that " + device.name() + " does not know");
        }
        Values.Builder b = Values.builder();
        return (mask == 0 ? b : b.rawClock(System.nanoTime())).build();
    }

    @Override
    protected boolean implSupports(String feature) {
        return switch (feature) {
            case Feature.CONNECTION_MANAGER, Feature.DATAGRAM_SERVICE, Feature.RC, Feature.UC, Feature.UD,
                    Feature.MULTICAST, Feature.ATOMICS,
                    Feature.COMPLETION_TIMESTAMP,
                    Feature.QUERY_VALUES, Feature.ALLOCATE, Feature.COMPLETION_TIMESTAMP_WALLCLOCK,
                    Feature.CQ_RESIZE, Feature.CQ_MODERATION, Feature.THREAD_DOMAIN, Feature.PARENT_DOMAIN,
                    Feature.IOVA, Feature.ZERO_BASED, Feature.DMABUF, Feature.REREGISTER, Feature.MEMORY_WINDOW_TYPE_1,
                    Feature.MEMORY_WINDOW_TYPE_2, Feature.SEND_INVALIDATE, Feature.DEVICE_MEMORY, Feature.FLUSH,
                    Feature.ATOMIC_WRITE, Feature.XRC, Feature.SHARED_RECEIVE_QUEUE,
                    Feature.SHARED_RECEIVE_QUEUE_RESIZE, Feature.BLOCK_SELF_MULTICAST ->
                true;
            case Feature.COUNTERS -> PublishedObjects.COUNTING;
            default -> false;
        };
    }

    @Override
    protected long implSamplePoints(int objectType) {
        return RoceCounted.ALL.of(objectType);
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
        try {
            RoceProtectionDomain pd = new RoceProtectionDomain(this, index);
            adopt(pd);
            return pd;
        } catch (VerbsException e) {
            pds.give(index);
            throw e;
        }
    }

    void releasePd(int index) {
        pds.give(index);
    }

    @Override
    protected ThreadDomain implAllocateThreadDomain() throws VerbsException {
        PlainThreadDomain td = new PlainThreadDomain(this, nextThreadDomain.incrementAndGet());
        adopt(td);
        return td;
    }

    @Override
    protected ProtectionDomain implAllocateParentDomain(ParentDomainAttributes attributes) throws VerbsException {
        if (!(attributes.protectionDomain() instanceof RoceProtectionDomain pd)) {
            throw new VerbsException("allocate parent domain on " + describe(), Errno.EINVAL, "foreign PD");
        }
        RoceProtectionDomain parent = new RoceProtectionDomain(this, attributes, pd);
        adopt(parent);
        return parent;
    }

    @Override
    protected XrcDomain implOpenXrcDomain(XrcDomainAttributes attributes) throws VerbsException {
        XrcDomains.Domain domain = xrcDomains.open("open XRC domain on " + describe(), attributes);
        try {
            RoceXrcDomain d = new RoceXrcDomain(this, domain);
            adopt(d);
            return d;
        } catch (VerbsException e) { // the context was closed meanwhile
            xrcDomains.release(domain);
            throw e;
        }
    }

    @Override
    protected int supportedXrcDomainMask() {
        return XrcDomainAttributes.FD | XrcDomainAttributes.OFLAGS;
    }

    XrcDomains xrcDomains() {
        return xrcDomains;
    }

    @Override
    protected int supportedCompletionFields() {
        return CompletionQueueAttributes.STANDARD_FIELDS | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP
                | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    }

    @Override
    protected int supportedCompletionQueueMask() {
        return CompletionQueueAttributes.FLAGS | CompletionQueueAttributes.PARENT_DOMAIN;
    }

    @Override
    public CompletionChannel createCompletionChannel() throws VerbsException {
        checkOpen("create completion channel");
        RoceCompletionChannel c = new RoceCompletionChannel(this, nextChannel.incrementAndGet());
        adopt(c);
        return c;
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        int index = completionQueues.take("create CQ", "completion queues");
        try {
            RoceCompletionQueue cq = new RoceCompletionQueue(this, attributes, index);
            adopt(cq);
            return cq;
        } catch (VerbsException e) {
            completionQueues.give(index);
            throw e;
        }
    }

    void releaseCompletionQueue(RoceCompletionQueue cq, int index) {
        lock.lock();
        progress.forget(cq);
        lock.unlock();
        completionQueues.give(index);
    }

    @Override
    public String describe() {
        return device.name();
    }

    // ---- queue pairs

    /** Makes a queue pair with its number. */
    interface Maker {
        RoceQueuePair make(QueuePairInitAttributes init, int number) throws VerbsException;
    }

    QueuePair createQueuePair(QueuePairInitAttributes attributes, Maker maker) throws VerbsException {
        int number = numbers.take();
        try {
            RoceQueuePair qp = maker.make(attributes, number);
            adopt(qp);
            return qp;
        } catch (VerbsException e) {
            numbers.give(number);
            throw e;
        }
    }

    /** A queue pair is closed. */
    void close(QueuePairCore qp) {
        lock.lock();
        try {
            qp.close();
            posted();
        } finally {
            lock.unlock();
        }
        numbers.give(qp.number);
    }

    /** A handle of a queue pair of type XRC_RECV is closed. */
    void release(XrcDomains.Domain domain, QueuePairCore target) {
        if (domain.release(target)) {
            close(target);
        }
    }

    SharedReceiveQueue createSharedReceiveQueue(RoceProtectionDomain pd, SharedReceiveQueueAttributes attributes)
            throws VerbsException {
        int index = sharedReceiveQueues.take("create SRQ", "shared receive queues");
        try {
            RoceSharedReceiveQueue srq = new RoceSharedReceiveQueue(this, pd, attributes, firstQueue | index);
            adopt(srq);
            return srq;
        } catch (VerbsException e) {
            sharedReceiveQueues.give(index);
            throw e;
        }
    }

    void releaseSharedReceiveQueue(int number) {
        sharedReceiveQueues.give(number & RoceLimits.MAX_SRQ - 1);
    }

    // ---- device memory

    @Override
    protected DeviceMemory implAllocateDeviceMemory(long length, int logAlign) throws VerbsException {
        String verb = "allocate " + length + " bytes of device memory";
        if (logAlign > 12) {
            throw new VerbsException(verb, Errno.EINVAL, "memory is aligned to pages, 2^12");
        }
        if (length > RoceLimits.MAX_DEVICE_MEMORY
                || deviceMemory.addAndGet(length) > RoceLimits.MAX_DEVICE_MEMORY) {
            if (length <= RoceLimits.MAX_DEVICE_MEMORY) {
                deviceMemory.addAndGet(-length);
            }
            throw new VerbsException(verb, Errno.ENOMEM, "a context has " + RoceLimits.MAX_DEVICE_MEMORY
                    + " bytes of it, " + deviceMemory.get() + " are allocated");
        }
        try {
            RoceDeviceMemory m = new RoceDeviceMemory(this, Mapping.anonymous(length), length);
            adopt(m);
            return m;
        } catch (LinuxException e) {
            freeDeviceMemory(length);
            throw new VerbsException(verb, e);
        } catch (VerbsException e) {
            freeDeviceMemory(length);
            throw e;
        }
    }

    void freeDeviceMemory(long length) {
        deviceMemory.addAndGet(-length);
    }

    @Override
    protected void implClose() {
        connections.linger();
        progress.stop();
        engine.stop();
        lock.lock(); // a thread that still uses the context finds that out
        port.close();
        lock.unlock();
    }
}
