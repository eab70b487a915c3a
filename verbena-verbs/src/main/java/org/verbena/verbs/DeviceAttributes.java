// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * What a device can do, {@code struct ibv_device_attr_ex}. Limits that a provider does not know are 0; attributes of
 * the extended part read as absent. Immutable.
 */
public final class DeviceAttributes {
    private final Builder b;

    private DeviceAttributes(Builder b) {
        this.b = b;
    }

    /** For providers: a builder with nothing set. */
    public static Builder builder() {
        return new Builder();
    }

    /** The firmware's, or software provider's, version. */
    public String firmwareVersion() {
        return b.firmwareVersion;
    }

    /** The node's identifier. */
    public long nodeGuid() {
        return b.nodeGuid;
    }

    /** The largest memory region in bytes. */
    public long maxMrSize() {
        return b.maxMrSize;
    }

    /** Supported page sizes, one bit each. */
    public long pageSizeCap() {
        return b.pageSizeCap;
    }

    /** The vendor's number. */
    public int vendorId() {
        return b.vendorId;
    }

    /** The part's number. */
    public int vendorPartId() {
        return b.vendorPartId;
    }

    /** The largest number of queue pairs. */
    public int maxQp() {
        return b.maxQp;
    }

    /** The largest number of outstanding work requests on one queue. */
    public int maxQpWr() {
        return b.maxQpWr;
    }

    /** The largest number of scatter/gather elements of a work request. */
    public int maxSge() {
        return b.maxSge;
    }

    /** The largest inline message in bytes. */
    public int maxInlineData() {
        return b.maxInlineData;
    }

    /** The largest number of completion queues. */
    public int maxCq() {
        return b.maxCq;
    }

    /** The largest number of entries of a completion queue. */
    public int maxCqe() {
        return b.maxCqe;
    }

    /** The largest number of memory regions. */
    public int maxMr() {
        return b.maxMr;
    }

    /** The largest number of protection domains. */
    public int maxPd() {
        return b.maxPd;
    }

    /** The largest number of shared receive queues. */
    public int maxSrq() {
        return b.maxSrq;
    }

    /** The largest number of outstanding receives on one shared receive queue. */
    public int maxSrqWr() {
        return b.maxSrqWr;
    }

    /** The largest number of scatter/gather elements of a receive on a shared receive queue. */
    public int maxSrqSge() {
        return b.maxSrqSge;
    }

    /** The largest number of reads and atomics that a queue pair takes from its peer at once, as responder. */
    public int maxQpRdAtom() {
        return b.maxQpRdAtom;
    }

    /** The largest number of reads and atomics outstanding from a queue pair, as initiator. */
    public int maxQpInitRdAtom() {
        return b.maxQpInitRdAtom;
    }

    /** The largest number of address handles; 0 if the provider has none, or does not say. */
    public int maxAh() {
        return b.maxAh;
    }

    /** The largest number of multicast groups that have members here; 0 if none, or the provider does not say. */
    public int maxMulticastGroups() {
        return b.maxMulticastGroups;
    }

    /** The largest number of queue pairs of this context in one multicast group. */
    public int maxMulticastQueuePairs() {
        return b.maxMulticastQueuePairs;
    }

    /** The largest number of attachments to multicast groups, all together. */
    public int maxMulticastAttachments() {
        return b.maxMulticastAttachments;
    }

    /** How far atomics are atomic, see {@link AtomicCapability}. */
    public int atomicCapability() {
        return b.atomicCapability;
    }

    /** The number of ports; they count from 1. */
    public int physicalPortCount() {
        return b.physicalPortCount;
    }

    /** The valid bits of a completion time stamp; absent if the device makes none. */
    public OptionalLong completionTimestampMask() {
        return b.completionTimestampMask;
    }

    /** The frequency of the clock of time stamps and {@link Context#queryValues}, in kHz; absent if it has none. */
    public OptionalLong coreClockKilohertz() {
        return b.coreClockKilohertz;
    }

    /** The largest count by which events of completion queues are moderated; absent if they are not. */
    public OptionalInt maxCqModerationCount() {
        return b.maxCqModerationCount;
    }

    /** The longest period by which events of completion queues are moderated, in microseconds; absent if they are not. */
    public OptionalInt maxCqModerationPeriodMicros() {
        return b.maxCqModerationPeriodMicros;
    }

    /** The largest number of memory windows; 0 if there are none. */
    public int maxMw() {
        return b.maxMw;
    }

    /** Bytes of device memory that a context can allocate; absent if the device has none. */
    public OptionalLong maxDeviceMemory() {
        return b.maxDeviceMemory;
    }

    /** What the device does with memory that is paged on demand; null if it does not say. */
    public @Nullable OdpCapabilities odpCapabilities() {
        return b.odpCapabilities;
    }

    /** What the device can do, see {@link DeviceCapabilityFlags}. */
    public long capabilityFlags() {
        return b.capabilityFlags;
    }

    /** The GUID of the system image; 0 if not known. */
    public long systemImageGuid() {
        return b.systemImageGuid;
    }

    /** The hardware's version. */
    public int hardwareVersion() {
        return b.hardwareVersion;
    }

    /** The largest number of partition keys of a port. */
    public int maxPkeys() {
        return b.maxPkeys;
    }

    /** How late the device acknowledges at most, 4.096 µs × 2^n. */
    public int localAckDelay() {
        return b.localAckDelay;
    }

    /** The largest number of {@link WorkQueue}s; absent if there are none. */
    public OptionalInt maxWorkQueues() {
        return b.maxWorkQueues;
    }

    /** What the device does for raw packets, see {@link RawPacketCapabilities}; absent if it has none. */
    public OptionalInt rawPacketCapabilities() {
        return b.rawPacketCapabilities;
    }

    /** What the device does to cut long sends into packets; null if it does not. */
    public @Nullable SegmentationCapabilities segmentationCapabilities() {
        return b.segmentationCapabilities;
    }

    /** How the device spreads received packets; null if it does not. */
    public @Nullable RssCapabilities rssCapabilities() {
        return b.rssCapabilities;
    }

    /** How far the device limits the rate of queue pairs; null if it does not. */
    public @Nullable PacketPacingCapabilities packetPacingCapabilities() {
        return b.packetPacingCapabilities;
    }

    /**
     * The length of a buffer for raw packets, and what its address is a multiple of, from the beginning of its region:
     * a receive has one such buffer. Absent if receives may have any buffers.
     */
    public OptionalInt rawReceiveBuffer() {
        return b.rawReceiveBuffer;
    }

    /**
     * Where in its buffer a raw packet begins, or what does not fit into the buffers before; absent if receives may have
     * any buffers. So many bytes before it, the buffer's content is undefined.
     */
    public OptionalInt rawReceiveOffset() {
        return b.rawReceiveOffset;
    }

    @Override
    public String toString() {
        return AttributeText.of(this, b);
    }

    /** Collects the attributes; a provider sets what it knows. Not safe for use by several threads. */
    public static final class Builder {
        private String firmwareVersion = "";
        private long nodeGuid;
        private long maxMrSize;
        private long pageSizeCap;
        private int vendorId;
        private int vendorPartId;
        private int maxQp;
        private int maxQpWr;
        private int maxSge;
        private int maxInlineData;
        private int maxCq;
        private int maxCqe;
        private int maxMr;
        private int maxPd;
        private int maxSrq;
        private int maxSrqWr;
        private int maxSrqSge;
        private int maxQpRdAtom;
        private int maxQpInitRdAtom;
        private int maxAh;
        private int maxMulticastGroups;
        private int maxMulticastQueuePairs;
        private int maxMulticastAttachments;
        private int atomicCapability;
        private int physicalPortCount = 1;
        private OptionalLong completionTimestampMask = OptionalLong.empty();
        private OptionalLong coreClockKilohertz = OptionalLong.empty();
        private OptionalInt maxCqModerationCount = OptionalInt.empty();
        private OptionalInt maxCqModerationPeriodMicros = OptionalInt.empty();
        private @Nullable OdpCapabilities odpCapabilities;
        private long capabilityFlags;
        private long systemImageGuid;
        private int hardwareVersion;
        private int maxPkeys;
        private int localAckDelay;
        private OptionalInt maxWorkQueues = OptionalInt.empty();
        private OptionalInt rawPacketCapabilities = OptionalInt.empty();
        private @Nullable SegmentationCapabilities segmentationCapabilities;
        private @Nullable RssCapabilities rssCapabilities;
        private @Nullable PacketPacingCapabilities packetPacingCapabilities;
        private OptionalInt rawReceiveBuffer = OptionalInt.empty();
        private OptionalInt rawReceiveOffset = OptionalInt.empty();
        private int maxMw;
        private OptionalLong maxDeviceMemory = OptionalLong.empty();

        private Builder() {}

        private Builder(Builder o) {
            firmwareVersion = o.firmwareVersion;
            nodeGuid = o.nodeGuid;
            maxMrSize = o.maxMrSize;
            pageSizeCap = o.pageSizeCap;
            vendorId = o.vendorId;
            vendorPartId = o.vendorPartId;
            maxQp = o.maxQp;
            maxQpWr = o.maxQpWr;
            maxSge = o.maxSge;
            maxInlineData = o.maxInlineData;
            maxCq = o.maxCq;
            maxCqe = o.maxCqe;
            maxMr = o.maxMr;
            maxPd = o.maxPd;
            maxSrq = o.maxSrq;
            maxSrqWr = o.maxSrqWr;
            maxSrqSge = o.maxSrqSge;
            maxQpRdAtom = o.maxQpRdAtom;
            maxQpInitRdAtom = o.maxQpInitRdAtom;
            maxAh = o.maxAh;
            maxMulticastGroups = o.maxMulticastGroups;
            maxMulticastQueuePairs = o.maxMulticastQueuePairs;
            maxMulticastAttachments = o.maxMulticastAttachments;
            atomicCapability = o.atomicCapability;
            physicalPortCount = o.physicalPortCount;
            completionTimestampMask = o.completionTimestampMask;
            coreClockKilohertz = o.coreClockKilohertz;
            maxCqModerationCount = o.maxCqModerationCount;
            capabilityFlags = o.capabilityFlags;
            systemImageGuid = o.systemImageGuid;
            hardwareVersion = o.hardwareVersion;
            maxPkeys = o.maxPkeys;
            localAckDelay = o.localAckDelay;
            maxWorkQueues = o.maxWorkQueues;
            rawPacketCapabilities = o.rawPacketCapabilities;
            segmentationCapabilities = o.segmentationCapabilities;
            rssCapabilities = o.rssCapabilities;
            packetPacingCapabilities = o.packetPacingCapabilities;
            rawReceiveBuffer = o.rawReceiveBuffer;
            rawReceiveOffset = o.rawReceiveOffset;
            maxCqModerationPeriodMicros = o.maxCqModerationPeriodMicros;
            odpCapabilities = o.odpCapabilities;
            maxMw = o.maxMw;
            maxDeviceMemory = o.maxDeviceMemory;
        }

        /** Sets {@link DeviceAttributes#firmwareVersion()}. */
        public Builder firmwareVersion(String v) {
            firmwareVersion = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#nodeGuid()}. */
        public Builder nodeGuid(long v) {
            nodeGuid = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxMrSize()} in bytes. */
        public Builder maxMrSize(long v) {
            maxMrSize = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#pageSizeCap()}. */
        public Builder pageSizeCap(long v) {
            pageSizeCap = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#vendorId()} and {@link DeviceAttributes#vendorPartId()}. */
        public Builder vendor(int id, int partId) {
            vendorId = id;
            vendorPartId = partId;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxQp()} and {@link DeviceAttributes#maxQpWr()}. */
        public Builder maxQp(int count, int workRequests) {
            maxQp = count;
            maxQpWr = workRequests;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxSge()}. */
        public Builder maxSge(int v) {
            maxSge = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxInlineData()} in bytes. */
        public Builder maxInlineData(int v) {
            maxInlineData = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxCq()} and {@link DeviceAttributes#maxCqe()}. */
        public Builder maxCq(int count, int entries) {
            maxCq = count;
            maxCqe = entries;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxMr()}. */
        public Builder maxMr(int v) {
            maxMr = v;
            return this;
        }

        /**
         * Sets {@link DeviceAttributes#maxSrq()}, {@link DeviceAttributes#maxSrqWr()} and
         * {@link DeviceAttributes#maxSrqSge()}.
         */
        public Builder maxSrq(int count, int workRequests, int elements) {
            maxSrq = count;
            maxSrqWr = workRequests;
            maxSrqSge = elements;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxPd()}. */
        public Builder maxPd(int v) {
            maxPd = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxQpRdAtom()} and {@link DeviceAttributes#maxQpInitRdAtom()}. */
        public Builder maxReadAtomic(int responder, int initiator) {
            maxQpRdAtom = responder;
            maxQpInitRdAtom = initiator;
            return this;
        }

        /** The largest number of address handles. */
        public Builder maxAh(int value) {
            maxAh = value;
            return this;
        }

        /** The largest numbers of multicast groups, of queue pairs in one, and of attachments altogether. */
        public Builder maxMulticast(int groups, int queuePairs, int attachments) {
            maxMulticastGroups = groups;
            maxMulticastQueuePairs = queuePairs;
            maxMulticastAttachments = attachments;
            return this;
        }

        /** Sets {@link DeviceAttributes#atomicCapability()}. */
        public Builder atomicCapability(int v) {
            atomicCapability = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#physicalPortCount()}. */
        public Builder physicalPortCount(int v) {
            physicalPortCount = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#completionTimestampMask()}. */
        public Builder completionTimestampMask(long v) {
            completionTimestampMask = OptionalLong.of(v);
            return this;
        }

        /** Sets {@link DeviceAttributes#coreClockKilohertz()}. */
        public Builder coreClockKilohertz(long v) {
            coreClockKilohertz = OptionalLong.of(v);
            return this;
        }

        /**
         * Sets {@link DeviceAttributes#maxCqModerationCount()} and
         * {@link DeviceAttributes#maxCqModerationPeriodMicros()}.
         */
        public Builder cqModeration(int maxCount, int maxPeriodMicros) {
            maxCqModerationCount = OptionalInt.of(maxCount);
            maxCqModerationPeriodMicros = OptionalInt.of(maxPeriodMicros);
            return this;
        }

        /** Sets {@link DeviceAttributes#maxMw()}. */
        public Builder maxMw(int v) {
            maxMw = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxDeviceMemory()} in bytes. */
        public Builder maxDeviceMemory(long v) {
            maxDeviceMemory = OptionalLong.of(v);
            return this;
        }

        /** Sets {@link DeviceAttributes#odpCapabilities()}. */
        public Builder odpCapabilities(OdpCapabilities v) {
            odpCapabilities = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#capabilityFlags()}. */
        public Builder capabilityFlags(long v) {
            capabilityFlags = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#systemImageGuid()}. */
        public Builder systemImageGuid(long v) {
            systemImageGuid = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#hardwareVersion()}. */
        public Builder hardwareVersion(int v) {
            hardwareVersion = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxPkeys()}. */
        public Builder maxPkeys(int v) {
            maxPkeys = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#localAckDelay()}. */
        public Builder localAckDelay(int v) {
            localAckDelay = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#maxWorkQueues()}. */
        public Builder maxWorkQueues(int v) {
            maxWorkQueues = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link DeviceAttributes#rawPacketCapabilities()}. */
        public Builder rawPacketCapabilities(int v) {
            rawPacketCapabilities = OptionalInt.of(v);
            return this;
        }

        /** Sets {@link DeviceAttributes#segmentationCapabilities()}. */
        public Builder segmentationCapabilities(SegmentationCapabilities v) {
            segmentationCapabilities = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#rssCapabilities()}. */
        public Builder rssCapabilities(RssCapabilities v) {
            rssCapabilities = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#packetPacingCapabilities()}. */
        public Builder packetPacingCapabilities(PacketPacingCapabilities v) {
            packetPacingCapabilities = v;
            return this;
        }

        /** Sets {@link DeviceAttributes#rawReceiveBuffer()} and {@link DeviceAttributes#rawReceiveOffset()}. */
        public Builder rawReceive(int buffer, int offset) {
            rawReceiveBuffer = OptionalInt.of(buffer);
            rawReceiveOffset = OptionalInt.of(offset);
            return this;
        }

        /** Makes the attributes. */
        public DeviceAttributes build() {
            return new DeviceAttributes(new Builder(this));
        }
    }
}
