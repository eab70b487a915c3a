// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.verbena.rdmacore.DeviceLayout.*;

import java.lang.foreign.Arena;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.Downcall;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.GidType;
import org.verbena.verbs.OdpCapabilities;
import org.verbena.verbs.PacketPacingCapabilities;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.RssCapabilities;
import org.verbena.verbs.SegmentationCapabilities;
import org.verbena.verbs.Values;
import org.verbena.verbs.VerbsException;

/** Queries of a device. Thread-safe: a query keeps the device from being closed meanwhile. */
final class Queries {
    private static final int[] MTUS = {0, 256, 512, 1024, 2048, 4096};

    private final NativeContext verbs;
    private final String device;
    private boolean closed;

    Queries(NativeContext verbs, String device) {
        this.verbs = verbs;
        this.device = device;
    }

    /** The device is about to be closed. */
    synchronized void close() {
        closed = true;
    }

    private void requireOpen(String verb) throws VerbsException {
        if (closed) {
            throw new VerbsException(verb, Errno.EINVAL, device + " is closed");
        }
    }

    /** @param maxInline which libibverbs does not report */
    DeviceAttributes device(int maxInline) throws VerbsException {
        String verb = "query " + device;
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, EX_BYTES);
            boolean extended = verbs.has(Slot.QUERY_DEVICE_EX) && Calls.call(verbs.slot(verb, Slot.QUERY_DEVICE_EX),
                    verbs.address, 0, s.address(), EX_BYTES) << 32 == 0;
            if (!extended) {
                s = new Struct(arena, EX_BYTES);
                Calls.zero(verb, verbs.function(verb, IbvFunction.QUERY_DEVICE), verbs.address, s.address());
            }
            DeviceAttributes.Builder b = plain(s).maxInlineData(maxInline);
            if (extended) {
                extended(s, b);
            } else {
                b.capabilityFlags(s.getInt(ATTR_DEVICE_CAP_FLAGS) & 0xffffffffL);
            }
            return b.build();
        }
    }

    /** {@code struct ibv_device_attr}. */
    private static DeviceAttributes.Builder plain(Struct s) {
        return DeviceAttributes.builder()
                .firmwareVersion(s.getText(ATTR_FW_VER, FW_VER_BYTES))
                .nodeGuid(s.getBigLong(ATTR_NODE_GUID))
                .systemImageGuid(s.getBigLong(ATTR_SYS_IMAGE_GUID))
                .maxMrSize(limit(s.getLong(ATTR_MAX_MR_SIZE)))
                .pageSizeCap(s.getLong(ATTR_PAGE_SIZE_CAP))
                .vendor(s.getInt(ATTR_VENDOR_ID), s.getInt(ATTR_VENDOR_PART_ID))
                .hardwareVersion(s.getInt(ATTR_HW_VER))
                .maxQp(limit(s.getInt(ATTR_MAX_QP)), limit(s.getInt(ATTR_MAX_QP_WR)))
                .maxSge(limit(s.getInt(ATTR_MAX_SGE)))
                .maxCq(limit(s.getInt(ATTR_MAX_CQ)), limit(s.getInt(ATTR_MAX_CQE)))
                .maxMr(limit(s.getInt(ATTR_MAX_MR)))
                .maxPd(limit(s.getInt(ATTR_MAX_PD)))
                .maxReadAtomic(s.getInt(ATTR_MAX_QP_RD_ATOM), s.getInt(ATTR_MAX_QP_INIT_RD_ATOM))
                .atomicCapability(s.getInt(ATTR_ATOMIC_CAP))
                .maxMw(limit(s.getInt(ATTR_MAX_MW)))
                .maxMulticast(limit(s.getInt(ATTR_MAX_MCAST_GRP)), limit(s.getInt(ATTR_MAX_MCAST_QP_ATTACH)),
                        limit(s.getInt(ATTR_MAX_TOTAL_MCAST_QP_ATTACH)))
                .maxAh(limit(s.getInt(ATTR_MAX_AH)))
                .maxSrq(limit(s.getInt(ATTR_MAX_SRQ)), limit(s.getInt(ATTR_MAX_SRQ_WR)),
                        limit(s.getInt(ATTR_MAX_SRQ_SGE)))
                .maxPkeys(s.getShort(ATTR_MAX_PKEYS))
                .localAckDelay(s.getByte(ATTR_LOCAL_CA_ACK_DELAY))
                .physicalPortCount(s.getByte(ATTR_PHYS_PORT_CNT));
    }

    /**
     * The additional fields of {@code struct ibv_device_attr_ex}; a zero is a value that the device, or its library,
     * does not know.
     */
    private static void extended(Struct s, DeviceAttributes.Builder b) {
        if (s.getLong(EX_ODP_GENERAL) != 0) {
            b.odpCapabilities(OdpCapabilities.of((int) s.getLong(EX_ODP_GENERAL), s.getInt(
                    EX_ODP_RC), s.getInt(EX_ODP_UC), s.getInt(EX_ODP_UD),
                    s.getInt(EX_XRC_ODP_CAPS)));
        }
        if (s.getLong(EX_COMPLETION_TIMESTAMP_MASK) != 0) {
            b.completionTimestampMask(s.getLong(EX_COMPLETION_TIMESTAMP_MASK));
        }
        if (s.getLong(EX_HCA_CORE_CLOCK) != 0) {
            b.coreClockKilohertz(s.getLong(EX_HCA_CORE_CLOCK));
        }
        b.capabilityFlags(s.getLong(EX_DEVICE_CAP_FLAGS_EX) != 0
                ? s.getLong(EX_DEVICE_CAP_FLAGS_EX)
                : s.getInt(ATTR_DEVICE_CAP_FLAGS) & 0xffffffffL);
        if (s.getInt(EX_TSO_MAX) != 0) {
            b.segmentationCapabilities(SegmentationCapabilities.builder().maxBytes(s.getInt(EX_TSO_MAX))
                    .queuePairTypes(
                            s.getInt(EX_TSO_QPTS)).build());
        }
        if (s.getInt(EX_RSS_MAX_TABLES) != 0) {
            b.rssCapabilities(RssCapabilities.builder().queuePairTypes(s.getInt(EX_RSS_QPTS))
                    .maxIndirectionTables(s.getInt(
                            EX_RSS_MAX_TABLES)).maxIndirectionTableSize(s.getInt(
                                    EX_RSS_MAX_TABLE_SIZE)).hashFields((int) s.getLong(
                                            EX_RSS_HASH_FIELDS)).hashFunctions(s
                                                    .getByte(EX_RSS_HASH_FUNCTION)).build());
        }
        if (s.getInt(EX_MAX_WQ_TYPE_RQ) != 0) {
            b.maxWorkQueues(s.getInt(EX_MAX_WQ_TYPE_RQ));
        }
        if (s.getInt(EX_PACING_MAX) != 0) {
            b.packetPacingCapabilities(PacketPacingCapabilities.builder().minKilobits(s.getInt(
                    EX_PACING_MIN)).maxKilobits(s
                            .getInt(EX_PACING_MAX)).queuePairTypes(s.getInt(EX_PACING_QPTS))
                    .build());
        }
        if (s.getInt(EX_RAW_PACKET_CAPS) != 0) {
            b.rawPacketCapabilities(s.getInt(EX_RAW_PACKET_CAPS));
        }
        if (s.getShort(EX_CQ_MAX_COUNT) != 0) {
            b.cqModeration(s.getShort(EX_CQ_MAX_COUNT), s.getShort(EX_CQ_MAX_PERIOD));
        }
        if (s.getLong(EX_MAX_DM_SIZE) != 0) {
            b.maxDeviceMemory(s.getLong(EX_MAX_DM_SIZE));
        }
        if (s.getInt(EX_PHYS_PORT_CNT_EX) != 0) {
            b.physicalPortCount(s.getInt(EX_PHYS_PORT_CNT_EX));
        }
    }

    /** An unsigned limit; a value that exceeds our type is as good as none. */
    private static int limit(int v) {
        return v < 0 ? Integer.MAX_VALUE : v;
    }

    private static long limit(long v) {
        return v < 0 ? Long.MAX_VALUE : v;
    }

    /** By the slot that takes the size of the structure, or by the old symbol, which fills a part of it. */
    synchronized PortAttributes port(int port) throws VerbsException {
        String verb = "query port " + port + " of " + device;
        requireOpen(verb);
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, PORT_BYTES);
            boolean extended = verbs.has(Slot.QUERY_PORT);
            Calls.zero(verb, extended
                    ? verbs.slot(verb, Slot.QUERY_PORT)
                    : verbs.function(verb, IbvFunction.QUERY_PORT), verbs.address, port, s.address(), extended
                            ? PORT_BYTES
                            : 0);
            int laterSpeed = s.getInt(PORT_ACTIVE_SPEED_EX);
            PortAttributes.Builder b = PortAttributes.builder()
                    .state(s.getInt(PORT_STATE))
                    .mtu(mtu(s.getInt(PORT_MAX_MTU)), mtu(s.getInt(PORT_ACTIVE_MTU)))
                    .gidTableLength(s.getInt(PORT_GID_TBL_LEN))
                    .capabilityFlags(s.getInt(PORT_PORT_CAP_FLAGS))
                    .maxMessageSize(s.getInt(PORT_MAX_MSG_SZ) & 0xffffffffL)
                    .badPkeyCounter(s.getInt(PORT_BAD_PKEY_CNTR))
                    .qkeyViolationCounter(s.getInt(PORT_QKEY_VIOL_CNTR))
                    .pkeyTableLength(s.getShort(PORT_PKEY_TBL_LEN))
                    .lid(s.getShort(PORT_LID))
                    .smLid(s.getShort(PORT_SM_LID))
                    .lidMaskControl(s.getByte(PORT_LMC))
                    .maxVirtualLaneNumber(s.getByte(PORT_MAX_VL_NUM))
                    .smServiceLevel(s.getByte(PORT_SM_SL))
                    .subnetTimeout(s.getByte(PORT_SUBNET_TIMEOUT))
                    .initTypeReply(s.getByte(PORT_INIT_TYPE_REPLY))
                    .activeWidth(s.getByte(PORT_ACTIVE_WIDTH))
                    .activeSpeed(laterSpeed != 0 ? laterSpeed : s.getByte(PORT_ACTIVE_SPEED))
                    .physicalState(s.getByte(PORT_PHYS_STATE))
                    .linkLayer(linkLayer(s.getByte(PORT_LINK_LAYER)));
            if (extended) {
                b.capabilityFlags2(s.getShort(PORT_PORT_CAP_FLAGS2));
            }
            return b.build();
        }
    }

    /** Unspecified is reported by drivers for InfiniBand that are older than the field. */
    private static String linkLayer(int v) {
        return switch (v) {
            case 0, 1 -> "InfiniBand";
            case 2 -> "Ethernet";
            default -> "link layer " + v;
        };
    }

    /** Bytes of an {@code enum ibv_mtu}. */
    static int mtu(int code) {
        return code > 0 && code < MTUS.length ? MTUS[code] : 0;
    }

    /** The {@code enum ibv_mtu} of a number of bytes; 0 if there is none. */
    static int mtuCode(int bytes) {
        for (int i = 1; i < MTUS.length; i++) {
            if (MTUS[i] == bytes) {
                return i;
            }
        }
        return 0;
    }

    synchronized Gid gid(int port, int index) throws VerbsException {
        String verb = "query GID " + index + " of port " + port + " of " + device;
        requireOpen(verb);
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, 16);
            if ((int) Calls.call(verbs.function(verb, IbvFunction.QUERY_GID), verbs.address, port, index, s
                    .address()) != 0) {
                throw failure(verb);
            }
            return s.getGid(0);
        }
    }

    private static VerbsException failure(String verb) {
        int errno = Downcall.errno();
        return Calls.failure(verb, errno == Errno.ENOENT || errno == 0 ? Errno.EINVAL : errno);
    }

    /** With type and interface if the library has {@code ibv_query_gid_ex}; an unused entry is zeros. */
    synchronized GidEntry gidEntry(int port, int index) throws VerbsException {
        if (!verbs.library.has(IbvFunction.QUERY_GID_EX)) {
            return GidEntry.builder(gid(port, index), port, index).build();
        }
        String verb = "query GID " + index + " of port " + port + " of " + device;
        requireOpen(verb);
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.GID_ENTRY_BYTES);
            int result = (int) Calls.call(verbs.function(verb, IbvFunction.QUERY_GID_EX), verbs.address, port, index, s
                    .address(), 0, Layout.GID_ENTRY_BYTES);
            if (result == Errno.ENODATA) {
                return GidEntry.builder(new Gid(0, 0), port, index).type(GidType.IB).build();
            }
            if (result != 0) {
                throw Calls.failure(verb, result > 0 ? result : Downcall.errno());
            }
            return GidEntry.builder(s.getGid(0), port, index).type(s.getInt(Layout.GID_ENTRY_TYPE)).interfaceIndex(s
                    .getInt(Layout.GID_ENTRY_IFINDEX)).build();
        }
    }

    synchronized int pkey(int port, int index) throws VerbsException {
        String verb = "query partition key " + index + " of port " + port + " of " + device;
        requireOpen(verb);
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, 8);
            if ((int) Calls.call(verbs.function(verb, IbvFunction.QUERY_PKEY), verbs.address, port, index, s
                    .address()) != 0) {
                throw failure(verb);
            }
            return Layout.networkOrder(s.getInt(0)) >>> 16; // a short in network order
        }
    }

    synchronized Values values(int mask) throws VerbsException {
        String verb = "query values of " + device;
        requireOpen(verb);
        if ((mask & ~Values.RAW_CLOCK) != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "mask 0x" + Integer.toHexString(mask)
                    + " has bits that are not supported here");
        }
        Values.Builder b = Values.builder();
        if (mask == 0) {
            return b.build();
        }
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.VALUES_BYTES);
            s.putInt(0, mask);
            Calls.zero(verb, verbs.slot(verb, Slot.QUERY_RT_VALUES), verbs.address, s.address());
            // the driver clears the bits of the mask that it does not support; ticks are a timespec of no seconds
            return ((s.getInt(0) & mask) == 0
                    ? b
                    : b.rawClock(s.getLong(Layout.VALUES_RAW_CLOCK) * 1_000_000_000 + s.getLong(
                            Layout.VALUES_RAW_CLOCK + 8))).build();
        }
    }
}
