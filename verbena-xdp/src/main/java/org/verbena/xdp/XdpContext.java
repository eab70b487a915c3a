// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.security.SecureRandom;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.NetworkLinks;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.spi.Engine;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.Slots;

/** An open device: the engine thread, which only wakes those that sleep, and the tables of its objects. */
final class XdpContext extends Context {
    private static final AtomicInteger CONTEXTS = new AtomicInteger();
    private static final int MAX_QP = 1 << 16;

    private final RawDevice device;
    private final int mtu;
    private final int queues;
    private final long instance;
    private final Engine engine;
    private final Notifier notifier;
    private final PublishedObjects published;
    private final Regions regions = new Regions();
    private final Slots pds = new Slots(XdpLimits.MAX_PD);
    private final Slots completionQueues = new Slots(XdpLimits.MAX_CQ);
    private final Slots queuePairs = new Slots(MAX_QP);
    private final Slots workQueues = new Slots(XdpLimits.MAX_WQ);
    private final Slots tables = new Slots(XdpLimits.MAX_TABLES);
    private final Spreading spreading = new Spreading(this);
    private final AtomicInteger nextChannel = new AtomicInteger();
    private final Set<QueuePairFlows> withFlows = ConcurrentHashMap.newKeySet();
    private final AtomicInteger nextFlow = new AtomicInteger();

    private XdpContext(RawDevice device, int mtu, long instance, Engine engine, PublishedObjects published)
            throws VerbsException {
        this.device = device;
        this.mtu = mtu;
        this.instance = instance;
        this.engine = engine;
        this.published = published;
        queues = device.queues();
        notifier = new Notifier(engine);
        publish(published.device());
        publishPort(published.port());
    }

    static XdpContext open(RawDevice device) throws VerbsException {
        NetworkLinks.Link link = device.current("open " + device.name());
        PublishedObjects published = new PublishedObjects(device.name(), XdpCounted.ALL);
        Engine engine = null;
        try {
            engine = new Engine("verbena-" + device.name() + "-engine-" + CONTEXTS.incrementAndGet(), device.name(),
                    null, published.device(), XdpLog::log);
            XdpContext c = new XdpContext(device, link.mtu(), new SecureRandom().nextLong(), engine, published);
            engine.startPolling(c.notifier);
            engine.start();
            c.opened();
            return c;
        } catch (LinuxException e) {
            published.close();
            throw new VerbsException("open " + device.name(), e);
        } catch (VerbsException | RuntimeException | Error e) { // an Error too: a thread that cannot be created
            published.close();
            if (engine != null) {
                engine.discard();
            }
            throw e;
        }
    }

    long instance() {
        return instance;
    }

    /** Bytes of the longest frame's payload, when the context was opened. */
    int mtu() {
        return mtu;
    }

    int queues() {
        return queues;
    }

    RawDevice rawDevice() {
        return device;
    }

    /** The device, if this is a context of such a one. */
    XdpDevice xdpDevice() {
        return (XdpDevice) device;
    }

    Engine engine() {
        return engine;
    }

    Notifier notifier() {
        return notifier;
    }

    PublishedObjects published() {
        return published;
    }

    Spreading spreading() {
        return spreading;
    }

    Regions regions() {
        return regions;
    }

    /** Counts an event of the device. */
    void count(int point) {
        published.device().add(PublishedObjects.cell(point), 1);
    }

    // ---- the API

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() {
        return device.attributes(mtu, queues);
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        String verb = "query port " + port;
        checkPort(verb, port);
        NetworkLinks.Link link = device.current(verb);
        int rounded = Math.min(4096, Integer.highestOneBit(Math.max(256, link.mtu())));
        return PortAttributes.builder().state(device.isActive(link)
                ? PortAttributes.STATE_ACTIVE
                : PortAttributes.STATE_DOWN)
                .mtu(4096, rounded).gidTableLength(0).pkeyTableLength(0)
                .maxMessageSize(XdpLimits.longestFrame(mtu)).linkLayer("Ethernet").build();
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        String verb = "query GID " + index;
        checkPort(verb, port);
        throw new VerbsException(verb, Errno.EINVAL, "the table has 0 entries: addresses are the application's own");
    }

    private void checkPort(String verb, int number) throws VerbsException {
        checkOpen(verb);
        if (number != 1) {
            throw new VerbsException(verb, Errno.EINVAL, device.name() + " has port 1 only");
        }
    }

    @Override
    protected boolean implSupports(String feature) {
        return switch (feature) {
            case Feature.RAW_PACKET, Feature.IP_CHECKSUM, Feature.ALLOCATE, Feature.FLOW,
                    Feature.SEGMENTATION -> true;
            case Feature.WORK_QUEUE, Feature.RSS -> device instanceof XdpDevice;
            case Feature.COUNTERS -> PublishedObjects.COUNTING;
            default -> false;
        };
    }

    @Override
    protected long implSamplePoints(int objectType) {
        return objectType != ObjectType.WQ || device instanceof XdpDevice ? XdpCounted.of(objectType) : 0;
    }

    @Override
    protected int supportedQueuePairInitMask() {
        return QueuePairInitAttributes.CREATE_FLAGS | QueuePairInitAttributes.SEND_OPS_FLAGS
                | QueuePairInitAttributes.MAX_TSO_HEADER
                | (device instanceof XdpDevice
                        ? QueuePairInitAttributes.IND_TABLE | QueuePairInitAttributes.RX_HASH
                        : 0);
    }

    @Override
    protected int supportedCompletionFields() {
        return CompletionQueueAttributes.STANDARD_FIELDS;
    }

    @Override
    protected int supportedCompletionQueueMask() {
        return CompletionQueueAttributes.FLAGS;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        checkOpen("allocate PD");
        int index = pds.take("allocate PD", "protection domains");
        try {
            XdpProtectionDomain pd = new XdpProtectionDomain(this, index);
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
    public CompletionChannel createCompletionChannel() throws VerbsException {
        checkOpen("create completion channel");
        XdpCompletionChannel c = new XdpCompletionChannel(this, nextChannel.incrementAndGet());
        adopt(c);
        return c;
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        int index = completionQueues.take("create CQ", "completion queues");
        try {
            XdpCompletionQueue cq = new XdpCompletionQueue(this, attributes, index);
            adopt(cq);
            return cq;
        } catch (VerbsException e) {
            completionQueues.give(index);
            throw e;
        }
    }

    void releaseCompletionQueue(int index) {
        completionQueues.give(index);
    }

    QueuePair createQueuePair(XdpProtectionDomain pd, QueuePairInitAttributes attributes) throws VerbsException {
        int number = queuePairs.take("create QP", "queue pairs");
        try {
            XdpQueuePair qp = new XdpQueuePair(this, pd, attributes, number);
            adopt(qp);
            return qp;
        } catch (VerbsException e) {
            queuePairs.give(number);
            throw e;
        }
    }

    @Override
    protected WorkQueue implCreateWorkQueue(WorkQueueInitAttributes attributes) throws VerbsException {
        if (!(device instanceof XdpDevice)) {
            return super.implCreateWorkQueue(attributes);
        }
        XdpWorkQueue.check("create WQ on " + describe(), attributes);
        int index = workQueues.take("create WQ", "work queues");
        int number = -1;
        try {
            number = queuePairs.take("create WQ", "queue pairs and work queues"); // no two have the same in completions
            XdpWorkQueue wq = new XdpWorkQueue(this, attributes, index, number);
            adopt(wq);
            return wq;
        } catch (VerbsException e) {
            releaseWorkQueue(index, number);
            throw e;
        }
    }

    void releaseWorkQueue(int index, int number) {
        if (number >= 0) {
            queuePairs.give(number);
        }
        workQueues.give(index);
    }

    @Override
    protected RwqIndirectionTable implCreateRwqIndirectionTable(List<WorkQueue> entries) throws VerbsException {
        if (!(device instanceof XdpDevice)) {
            return super.implCreateRwqIndirectionTable(entries);
        }
        if (entries.size() > XdpLimits.MAX_TABLE) {
            throw new VerbsException("create RWQ indirection table on " + describe(), Errno.EINVAL,
                    "a table has at most "
                            + XdpLimits.MAX_TABLE + " entries, not " + entries.size());
        }
        int number = tables.take("create RWQ indirection table", "indirection tables");
        try {
            XdpIndirectionTable t = new XdpIndirectionTable(this, entries, number);
            adopt(t);
            return t;
        } catch (VerbsException e) {
            tables.give(number);
            throw e;
        }
    }

    void releaseTable(int number) {
        tables.give(number);
    }

    /** A queue pair has flows, or has none any more. */
    void withFlows(QueuePairFlows flows, boolean some) {
        if (some) {
            withFlows.add(flows);
        } else {
            withFlows.remove(flows);
        }
    }

    /** A number for a new flow, by which other processes see it. */
    int nextFlow() {
        return nextFlow.incrementAndGet();
    }

    void releaseQueuePair(int number) {
        queuePairs.give(number);
    }

    @Override
    public String describe() {
        return device.name();
    }

    @Override
    protected void implPrepareClose() {
        List.copyOf(withFlows).forEach(QueuePairFlows::end); // also those of queue pairs that were dropped
    }

    @Override
    protected void implClose() {
        notifier.stop();
        engine.stop();
    }
}
