// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.verbs.AtomicCapability;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.VerbsException;

/** A device: a network interface that carries RoCEv2 packets. */
abstract class RoceDevice extends Device {
    private static final long CAPABILITIES = DeviceCapabilityFlags.UD_AV_PORT_ENFORCE
            | DeviceCapabilityFlags.CURR_QP_STATE_MOD | DeviceCapabilityFlags.RC_RNR_NAK_GEN
            | DeviceCapabilityFlags.SRQ_RESIZE | DeviceCapabilityFlags.MEM_WINDOW
            | DeviceCapabilityFlags.MEM_MGT_EXTENSIONS | DeviceCapabilityFlags.MEM_WINDOW_TYPE_2B
            | DeviceCapabilityFlags.XRC;

    /** Makes the port of a new context. */
    abstract Port openPort() throws VerbsException;

    /** False with {@code -Dverbena.roce.progress=engine}: then polls leave all progress to the context's own thread. */
    boolean progressByApplication() {
        return !"engine".equals(System.getProperty("verbena.roce.progress"));
    }

    DeviceAttributes attributes() {
        return DeviceAttributes.builder().capabilityFlags(CAPABILITIES).firmwareVersion("1").nodeGuid(guid())
                .maxMrSize(RoceLimits.MAX_REGION).pageSizeCap(4096).maxQp(RoceLimits.MAX_QP, RoceLimits.MAX_WR)
                .maxSge(RoceLimits.MAX_SGE).maxInlineData(RoceLimits.MAX_INLINE)
                .maxCq(RoceLimits.MAX_CQ, RoceLimits.MAX_CQE).maxMr(KeyTable.MAX_KEYS).maxPd(RoceLimits.MAX_PD)
                .maxSrq(RoceLimits.MAX_SRQ, RoceLimits.MAX_SRQ_WR, RoceLimits.MAX_SRQ_SGE)
                .maxReadAtomic(RoceLimits.MAX_READS, RoceLimits.MAX_READS).atomicCapability(AtomicCapability.HCA)
                .physicalPortCount(1).maxAh(Integer.MAX_VALUE)
                .maxMulticast(RoceLimits.MAX_GROUPS, RoceLimits.MAX_QP, RoceLimits.MAX_ATTACHED)
                .completionTimestampMask(-1L).coreClockKilohertz(1_000_000).cqModeration(0xffff, 0xffff)
                .maxMw(KeyTable.MAX_KEYS).maxDeviceMemory(RoceLimits.MAX_DEVICE_MEMORY).build();
    }

    @Override
    public String provider() {
        return "roce";
    }

    @Override
    public String transport() {
        return "RoCEv2";
    }

    @Override
    protected Context implOpen() throws VerbsException {
        return RoceContext.open(this);
    }
}
