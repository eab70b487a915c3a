// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Membarrier;
import org.verbena.linux.Sys;
import org.verbena.shm.datagram.Multicast;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.verbs.AtomicCapability;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.OdpCapabilities;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.VerbsException;

/** The device {@code shm0}. */
final class ShmDevice extends Device {
    static final String NAME = ShmLimits.DEVICE;
    static final ShmDevice INSTANCE = new ShmDevice();

    /** The CPU accesses the memory and faults pages in, whatever the operation. */
    private static final int ODP_RC = OdpCapabilities.SEND | OdpCapabilities.RECEIVE | OdpCapabilities.WRITE
            | OdpCapabilities.READ | OdpCapabilities.ATOMIC | OdpCapabilities.SRQ_RECEIVE | OdpCapabilities.FLUSH
            | OdpCapabilities.ATOMIC_WRITE;
    private static final int ODP_UC = OdpCapabilities.SEND | OdpCapabilities.RECEIVE | OdpCapabilities.WRITE
            | OdpCapabilities.SRQ_RECEIVE;
    private static final int ODP_UD = OdpCapabilities.SEND | OdpCapabilities.RECEIVE
            | OdpCapabilities.SRQ_RECEIVE;

    static final PortAttributes PORT = PortAttributes.builder().state(PortAttributes.STATE_ACTIVE).mtu(ShmLimits.MTU,
            ShmLimits.MTU)
            .gidTableLength(1).pkeyTableLength(1).maxMessageSize(ShmLimits.MAX_MESSAGE).linkLayer("shared memory")
            .build();

    private static final long CAPABILITIES = DeviceCapabilityFlags.UD_AV_PORT_ENFORCE
            | DeviceCapabilityFlags.CURR_QP_STATE_MOD | DeviceCapabilityFlags.RC_RNR_NAK_GEN
            | DeviceCapabilityFlags.SRQ_RESIZE | DeviceCapabilityFlags.MEM_WINDOW
            | DeviceCapabilityFlags.MEM_MGT_EXTENSIONS | DeviceCapabilityFlags.MEM_WINDOW_TYPE_2B
            | DeviceCapabilityFlags.XRC;
    private static final long GUID = 0x0200_0073_686d_0000L; // locally administered, "shm"

    private ShmDevice() {}

    static DeviceAttributes attributes() {
        return DeviceAttributes.builder().capabilityFlags(CAPABILITIES).firmwareVersion("1").nodeGuid(GUID).maxMrSize(
                1L << 40).pageSizeCap(4096)
                .maxQp(AdapterLayout.MAX_QP, ShmLimits.MAX_WR).maxSge(ShmLimits.MAX_SGE).maxInlineData(
                        ShmLimits.MAX_INLINE)
                .maxCq(AdapterLayout.MAX_CQ, 1 << 22).maxMr(AdapterLayout.MAX_KEYS).maxPd(AdapterLayout.MAX_PD)
                .maxSrq(ShmLimits.MAX_SRQ, ShmLimits.MAX_WR, ShmLimits.MAX_SGE)
                .maxReadAtomic(ShmLimits.MAX_READS, ShmLimits.MAX_READS).atomicCapability(AtomicCapability.GLOB)
                .physicalPortCount(1)
                .maxAh(Integer.MAX_VALUE)
                .maxMulticast(Multicast.MAX_ATTACHED, AdapterLayout.MAX_QP, Multicast.MAX_ATTACHED)
                .completionTimestampMask(-1L).coreClockKilohertz(1_000_000).cqModeration(0xffff, 0xffff)
                .maxMw(AdapterLayout.MAX_KEYS).maxDeviceMemory(ShmLimits.MAX_DEVICE_MEMORY)
                .odpCapabilities(OdpCapabilities.of(OdpCapabilities.SUPPORT, ODP_RC, ODP_UC,
                        ODP_UD, ODP_RC & ~OdpCapabilities.RECEIVE)).build();
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String provider() {
        return "shm";
    }

    @Override
    public String transport() {
        return "shared memory";
    }

    @Override
    public long guid() {
        return GUID;
    }

    @Override
    protected Context implOpen() throws VerbsException {
        try {
            Sys.requireNativeAccess();
            if (!Membarrier.isSupported()) {
                throw new VerbsException("open shm0", Errno.EOPNOTSUPP,
                        "the kernel has no membarrier(2) with expedited barriers: Linux 4.16 or newer is needed");
            }
            Membarrier.register();
            return ShmContext.open(this);
        } catch (LinuxException e) {
            throw e.errno() == Errno.EINVAL
                    ? new VerbsException("open shm0", Errno.EOPNOTSUPP,
                            "the kernel cannot seal memory files as shm0 needs it (" + e.getMessage()
                                    + "): Linux 5.1 or newer is needed")
                    : new VerbsException("open shm0", e);
        }
    }
}
