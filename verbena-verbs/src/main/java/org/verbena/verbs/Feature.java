// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.Set;

/**
 * Identifiers for {@link Context#supports(String)}. They are plain strings that the compiler copies into the
 * application, so that an application may ask any version of Verbena for a feature that is unknown
 * to it, and gets a negative answer.
 */
public final class Feature {
    /** Queue pairs of type RC. */
    public static final String RC = "qp.rc";
    /** Queue pairs of type UC. */
    public static final String UC = "qp.uc";
    /** Queue pairs of type UD and address handles. */
    public static final String UD = "qp.ud";
    /** {@link QueuePair#attachMulticast}. */
    public static final String MULTICAST = "qp.multicast";
    /** Compare-and-swap and fetch-and-add. */
    public static final String ATOMICS = "atomics";
    /** {@link CompletionQueue#timestamp()}. */
    public static final String COMPLETION_TIMESTAMP = "cq.timestamp";
    /** {@link Context#queryValues}. */
    public static final String QUERY_VALUES = "query_values";
    /** {@link Context#connectionManager()}. */
    public static final String CONNECTION_MANAGER = "cm";
    /** {@link ConnectionManager#provide} and {@link ConnectionManager#resolve}. */
    public static final String DATAGRAM_SERVICE = "cm.datagram_service";
    /** {@link ProtectionDomain#allocate}. */
    public static final String ALLOCATE = "mr.allocate";
    /** Queue pairs of type RAW_PACKET. */
    public static final String RAW_PACKET = "qp.raw_packet";
    /** {@link QueuePair#createFlow}. */
    public static final String FLOW = "flow";
    /** {@link Context#createWorkQueue}. */
    public static final String WORK_QUEUE = "wq";
    /** {@link Context#createRwqIndirectionTable} and hashes of received packets. */
    public static final String RSS = "rss";
    /** {@link SendFlags#IP_CSUM} and {@link WcFlags#IP_CSUM_OK}. */
    public static final String IP_CHECKSUM = "offload.ip_csum";
    /** {@link SendQueue#sendSegmented}. */
    public static final String SEGMENTATION = "offload.tso";
    /** {@link CompletionQueue#cvlan()}. */
    public static final String CVLAN_STRIPPING = "offload.cvlan_stripping";
    /** {@link SendFlags#DUMMY}. */
    public static final String DUMMY_SEND = "send.dummy";
    /** {@link CompletionQueue#wallClockTimestamp()}. */
    public static final String COMPLETION_TIMESTAMP_WALLCLOCK = "cq.timestamp.wallclock";
    /** {@link CompletionQueue#resize}. */
    public static final String CQ_RESIZE = "cq.resize";
    /** {@link CompletionQueue#modify}: events are moderated. */
    public static final String CQ_MODERATION = "cq.moderation";
    /** {@link Context#allocateThreadDomain()}. */
    public static final String THREAD_DOMAIN = "td";
    /** {@link Context#allocateParentDomain}. */
    public static final String PARENT_DOMAIN = "pd.parent";
    /** {@link ProtectionDomain#register(MemoryRegionAttributes)} with an address of the application's choice. */
    public static final String IOVA = "mr.iova";
    /** {@link AccessFlags#ZERO_BASED}. */
    public static final String ZERO_BASED = "mr.zero_based";
    /** Registering a shared buffer (dma-buf) by its descriptor. */
    public static final String DMABUF = "mr.dmabuf";
    /** {@link AccessFlags#ON_DEMAND}. */
    public static final String ON_DEMAND = "mr.on_demand";
    /** {@link ProtectionDomain#advise}. */
    public static final String ADVISE = "mr.advise";
    /** {@link MemoryRegion#reregister}. */
    public static final String REREGISTER = "mr.reregister";
    /** {@link ProtectionDomain#allocateNullRegion()}. */
    public static final String NULL_REGION = "mr.null";
    /** {@link MemoryWindow#TYPE_1}. */
    public static final String MEMORY_WINDOW_TYPE_1 = "mw.type1";
    /** {@link MemoryWindow#TYPE_2}, {@link SendQueue#localInvalidate}. */
    public static final String MEMORY_WINDOW_TYPE_2 = "mw.type2";
    /** {@link SendQueue#sendInvalidate}. */
    public static final String SEND_INVALIDATE = "send.invalidate";
    /** {@link Context#allocateDeviceMemory}. */
    public static final String DEVICE_MEMORY = "dm";
    /** {@link SendQueue#flush}. */
    public static final String FLUSH = "flush";
    /** {@link SendQueue#atomicWrite}. */
    public static final String ATOMIC_WRITE = "atomic_write";

    /** {@link ProtectionDomain#createSharedReceiveQueue}. */
    public static final String SHARED_RECEIVE_QUEUE = "srq";
    /** {@link SharedReceiveQueue#modify} of the capacity. */
    public static final String SHARED_RECEIVE_QUEUE_RESIZE = "srq.resize";
    /** {@link Context#openXrcDomain}, queue pairs and shared receive queues of the XRC types. */
    public static final String XRC = "xrc";

    /** {@link QueuePairCreateFlags#BLOCK_SELF_MCAST_LB}. */
    public static final String BLOCK_SELF_MULTICAST = "qp.block_self_multicast";
    /** {@link QueuePairCreateFlags#SOURCE_QPN}. */
    public static final String SOURCE_QPN = "qp.source_qpn";
    /** {@link QueuePairAttributes#ALT_PATH} and {@link QueuePairAttributes#PATH_MIG_STATE}. */
    public static final String ALTERNATE_PATH = "qp.alternate_path";
    /** {@link QueuePair#modifyRateLimit}. */
    public static final String RATE_LIMIT = "qp.rate_limit";
    /** {@link QueuePair#queryEnhancedConnection} and {@link QueuePair#setEnhancedConnection}. */
    public static final String ENHANCED_CONNECTION = "qp.ece";
    /** {@link QueuePair#queryDataInOrder} promises something. */
    public static final String DATA_IN_ORDER = "qp.data_in_order";
    /** {@link CompletionQueue#flowTag()}. */
    public static final String FLOW_TAG = "cq.flow_tag";
    /** {@link CompletionQueue#tmTag()} and {@link CompletionQueue#tmPrivate()}. */
    public static final String TAG_MATCHING = "cq.tm_info";
    /** {@link ParentDomainAttributes.Builder#allocator}. */
    public static final String PARENT_DOMAIN_ALLOCATOR = "pd.parent.allocator";
    /** {@link AccessFlags#ON_DEMAND} of the whole address space, {@link OdpCapabilities#SUPPORT_IMPLICIT}. */
    public static final String ON_DEMAND_IMPLICIT = "mr.on_demand.implicit";
    /** {@link AccessFlags#FLUSH_PERSISTENT}. */
    public static final String FLUSH_PERSISTENT = "flush.persistent";

    /** {@link Context#createCounters()}. */
    public static final String COUNTERS = "counters";

    private static final Set<String> KNOWN = all();

    private Feature() {}

    /** True for an identifier of this version. */
    static boolean isKnown(String feature) {
        return KNOWN.contains(feature);
    }

    private static Set<String> all() {
        Set<String> all = new HashSet<>();
        try {
            for (Field f : Feature.class.getFields()) {
                all.add((String) f.get(null));
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return all;
    }
}
