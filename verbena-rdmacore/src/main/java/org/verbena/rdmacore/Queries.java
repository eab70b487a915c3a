package org.verbena.rdmacore;

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

/** What a device says of itself. Thread-safe: whoever asks keeps the device from being closed meanwhile. */
final class Queries {
    /** As of rdma-core 65; an older library fills less of it, and the rest stays zero. */
    private static final int DEVICE_ATTR_EX_BYTES = 400;
    private static final int PORT_ATTR_BYTES = 56;
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

    /** @param maxInline which libibverbs does not know */
    DeviceAttributes device(int maxInline) throws VerbsException {
        String verb = "query " + device;
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, DEVICE_ATTR_EX_BYTES);
            boolean extended = verbs.has(Slot.QUERY_DEVICE_EX) && Calls.call(verbs.slot(verb, Slot.QUERY_DEVICE_EX),
                    verbs.address, 0, s.address(), DEVICE_ATTR_EX_BYTES) << 32 == 0;
            if (!extended) {
                s = new Struct(arena, DEVICE_ATTR_EX_BYTES);
                Calls.zero(verb, verbs.function(verb, IbvFunction.QUERY_DEVICE), verbs.address, s.address());
            }
            DeviceAttributes.Builder b = plain(s).maxInlineData(maxInline);
            if (extended) {
                extended(s, b);
            } else {
                b.capabilityFlags(s.getInt(116) & 0xffffffffL);
            }
            return b.build();
        }
    }

    /** {@code struct ibv_device_attr}. */
    private static DeviceAttributes.Builder plain(Struct s) {
        return DeviceAttributes.builder().firmwareVersion(s.getText(0, 64)).nodeGuid(s.getBigLong(64))
                .systemImageGuid(s.getBigLong(72)).maxMrSize(limit(s.getLong(80))).pageSizeCap(s.getLong(88))
                .vendor(s.getInt(96), s.getInt(100)).hardwareVersion(s.getInt(104))
                .maxQp(limit(s.getInt(108)), limit(s.getInt(112))).maxSge(limit(s.getInt(120))).maxCq(limit(s.getInt(
                        128)), limit(s.getInt(132))).maxMr(limit(s.getInt(136))).maxPd(limit(s.getInt(
                                140)))
                .maxReadAtomic(s.getInt(144), s.getInt(156)).atomicCapability(s.getInt(164)).maxMw(limit(s.getInt(
                        176)))
                .maxMulticast(limit(s.getInt(188)), limit(s.getInt(192)), limit(s.getInt(196)))
                .maxAh(limit(s.getInt(200))).maxSrq(limit(s.getInt(212)), limit(s.getInt(216)), limit(s.getInt(220)))
                .maxPkeys(s.getShort(224)).localAckDelay(s.getByte(226)).physicalPortCount(s.getByte(227));
    }

    /** What {@code struct ibv_device_attr_ex} has beyond; a zero is what the device, or its library, does not know. */
    private static void extended(Struct s, DeviceAttributes.Builder b) {
        if (s.getLong(240) != 0) {
            b.odpCapabilities(OdpCapabilities.of((int) s.getLong(240), s.getInt(248), s.getInt(252), s.getInt(256),
                    s.getInt(392)));
        }
        if (s.getLong(264) != 0) {
            b.completionTimestampMask(s.getLong(264));
        }
        if (s.getLong(272) != 0) {
            b.coreClockKilohertz(s.getLong(272));
        }
        b.capabilityFlags(s.getLong(280) != 0 ? s.getLong(280) : s.getInt(116) & 0xffffffffL);
        if (s.getInt(288) != 0) {
            b.segmentationCapabilities(SegmentationCapabilities.builder().maxBytes(s.getInt(288)).queuePairTypes(
                    s.getInt(292)).build());
        }
        if (s.getInt(300) != 0) {
            b.rssCapabilities(RssCapabilities.builder().queuePairTypes(s.getInt(296)).maxIndirectionTables(s.getInt(
                    300)).maxIndirectionTableSize(s.getInt(304)).hashFields((int) s.getLong(312)).hashFunctions(s
                            .getByte(320)).build());
        }
        if (s.getInt(328) != 0) {
            b.maxWorkQueues(s.getInt(328));
        }
        if (s.getInt(336) != 0) {
            b.packetPacingCapabilities(PacketPacingCapabilities.builder().minKilobits(s.getInt(332)).maxKilobits(s
                    .getInt(336)).queuePairTypes(s.getInt(340)).build());
        }
        if (s.getInt(344) != 0) {
            b.rawPacketCapabilities(s.getInt(344));
        }
        if (s.getShort(368) != 0) {
            b.cqModeration(s.getShort(368), s.getShort(370));
        }
        if (s.getLong(376) != 0) {
            b.maxDeviceMemory(s.getLong(376));
        }
        if (s.getInt(396) != 0) {
            b.physicalPortCount(s.getInt(396));
        }
    }

    /** An unsigned limit; what is too large for our type is as good as none. */
    private static int limit(int v) {
        return v < 0 ? Integer.MAX_VALUE : v;
    }

    private static long limit(long v) {
        return v < 0 ? Long.MAX_VALUE : v;
    }

    /** By the slot that knows the size of the structure, or by the old symbol, which fills a part of it. */
    synchronized PortAttributes port(int port) throws VerbsException {
        String verb = "query port " + port + " of " + device;
        requireOpen(verb);
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, PORT_ATTR_BYTES);
            boolean extended = verbs.has(Slot.QUERY_PORT);
            Calls.zero(verb, extended
                    ? verbs.slot(verb, Slot.QUERY_PORT)
                    : verbs.function(verb, IbvFunction.QUERY_PORT), verbs.address, port, s.address(), extended
                            ? PORT_ATTR_BYTES
                            : 0);
            PortAttributes.Builder b = PortAttributes.builder().state(s.getInt(0)).mtu(mtu(s.getInt(4)), mtu(s.getInt(
                    8))).gidTableLength(s.getInt(12)).capabilityFlags(s.getInt(16)).maxMessageSize(s.getInt(20)
                            & 0xffffffffL).badPkeyCounter(s.getInt(24)).qkeyViolationCounter(s.getInt(28))
                    .pkeyTableLength(s.getShort(32)).lid(s.getShort(34)).smLid(s.getShort(36)).lidMaskControl(s.getByte(
                            38)).maxVirtualLaneNumber(s.getByte(39)).smServiceLevel(s.getByte(40)).subnetTimeout(s
                                    .getByte(41)).initTypeReply(s.getByte(42)).activeWidth(s.getByte(43)).activeSpeed(s
                                            .getInt(52) != 0 ? s.getInt(52) : s.getByte(44)).physicalState(s.getByte(
                                                    45)).linkLayer(linkLayer(s.getByte(46)));
            if (extended) {
                b.capabilityFlags2(s.getShort(48));
            }
            return b.build();
        }
    }

    /** Unspecified is what drivers for InfiniBand say that are older than the field. */
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

    /** The {@code enum ibv_mtu} of so many bytes; 0 if there is none. */
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

    /** With type and interface if the library has {@code ibv_query_gid_ex}; an entry that is not in use is zeros. */
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
                    + " has bits that are not known here");
        }
        Values.Builder b = Values.builder();
        if (mask == 0) {
            return b.build();
        }
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.VALUES_BYTES);
            s.putInt(0, mask);
            Calls.zero(verb, verbs.slot(verb, Slot.QUERY_RT_VALUES), verbs.address, s.address());
            // what the driver does not know, it takes out of the mask; ticks are a timespec of no seconds
            return ((s.getInt(0) & mask) == 0
                    ? b
                    : b.rawClock(s.getLong(Layout.VALUES_RAW_CLOCK) * 1_000_000_000 + s.getLong(
                            Layout.VALUES_RAW_CLOCK + 8))).build();
        }
    }
}
