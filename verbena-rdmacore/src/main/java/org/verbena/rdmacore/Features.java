// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.AtomicCapability;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.Feature;

/**
 * The features of a device, as far as library, slots, attributes and {@link Probe} show them; for the rest, the verb
 * itself returns an error.
 */
final class Features {
    /** Bits of {@code device_cap_flags_ex}, {@code enum ib_uverbs_device_cap_flags} of Linux 6.2. */
    private static final long FLUSH_GLOBAL = 1L << 38;
    private static final long FLUSH_PERSISTENT = 1L << 39;
    private static final long ATOMIC_WRITE = 1L << 40;

    private Features() {}

    static boolean supports(NativeContext verbs, Probe probe, DeviceAttributes a, String feature) {
        long flags = a.capabilityFlags();
        return switch (feature) {
            case Feature.RC, Feature.UC, Feature.UD, Feature.ALLOCATE, Feature.CQ_RESIZE, Feature.ZERO_BASED -> true;
            case Feature.MULTICAST -> a.maxMulticastGroups() > 0;
            case Feature.ATOMICS -> a.atomicCapability() != AtomicCapability.NONE;
            case Feature.COMPLETION_TIMESTAMP -> verbs.has(Slot.CREATE_CQ_EX) && a.completionTimestampMask()
                    .isPresent();
            case Feature.COMPLETION_TIMESTAMP_WALLCLOCK -> verbs.has(Slot.CREATE_CQ_EX) && a.coreClockKilohertz()
                    .isPresent();
            case Feature.QUERY_VALUES -> probe.values;
            case Feature.RAW_PACKET -> a.rawPacketCapabilities().isPresent();
            case Feature.FLOW -> verbs.has(Slot.CREATE_FLOW) && (flags
                    & DeviceCapabilityFlags.MANAGED_FLOW_STEERING) != 0;
            case Feature.WORK_QUEUE -> verbs.has(Slot.CREATE_WQ) && a.maxWorkQueues().isPresent();
            case Feature.RSS -> verbs.has(Slot.CREATE_RWQ_IND_TABLE) && a.rssCapabilities() != null;
            case Feature.IP_CHECKSUM -> (flags & (DeviceCapabilityFlags.UD_IP_CSUM | DeviceCapabilityFlags.RC_IP_CSUM
                    | DeviceCapabilityFlags.RAW_IP_CSUM)) != 0;
            case Feature.SEGMENTATION -> a.segmentationCapabilities() != null;
            case Feature.CQ_MODERATION -> verbs.has(Slot.MODIFY_CQ) && a.maxCqModerationCount().isPresent();
            case Feature.THREAD_DOMAIN -> probe.threadDomain;
            case Feature.PARENT_DOMAIN -> probe.parentDomain;
            case Feature.IOVA -> verbs.library.has(IbvFunction.REG_MR_IOVA);
            case Feature.DMABUF -> verbs.library.has(IbvFunction.REG_DMABUF_MR);
            case Feature.ON_DEMAND -> a.odpCapabilities() != null;
            case Feature.ADVISE -> verbs.has(Slot.ADVISE_MR) && a.odpCapabilities() != null;
            case Feature.REREGISTER -> probe.reregister;
            case Feature.NULL_REGION -> probe.nullRegion;
            case Feature.MEMORY_WINDOW_TYPE_1 -> (flags & DeviceCapabilityFlags.MEM_WINDOW) != 0;
            case Feature.MEMORY_WINDOW_TYPE_2 -> (flags & (DeviceCapabilityFlags.MEM_WINDOW_TYPE_2A
                    | DeviceCapabilityFlags.MEM_WINDOW_TYPE_2B)) != 0;
            case Feature.SEND_INVALIDATE -> (flags & DeviceCapabilityFlags.MEM_MGT_EXTENSIONS) != 0;
            case Feature.DEVICE_MEMORY -> verbs.has(Slot.ALLOC_DM) && a.maxDeviceMemory().isPresent();
            case Feature.SHARED_RECEIVE_QUEUE -> a.maxSrq() > 0;
            case Feature.SHARED_RECEIVE_QUEUE_RESIZE -> (flags & DeviceCapabilityFlags.SRQ_RESIZE) != 0;
            case Feature.XRC -> verbs.has(Slot.OPEN_XRCD) && (flags & DeviceCapabilityFlags.XRC) != 0;
            case Feature.RATE_LIMIT -> verbs.has(Slot.MODIFY_QP_RATE_LIMIT) && a.packetPacingCapabilities() != null;
            case Feature.ENHANCED_CONNECTION -> probe.enhancedConnection;
            case Feature.COUNTERS -> probe.counters;
            case Feature.FLUSH -> hasExtendedPosts(verbs) && (flags & FLUSH_GLOBAL) != 0;
            case Feature.FLUSH_PERSISTENT -> hasExtendedPosts(verbs) && (flags & FLUSH_PERSISTENT) != 0;
            case Feature.ATOMIC_WRITE -> hasExtendedPosts(verbs) && (flags & ATOMIC_WRITE) != 0;
            default -> false;
        };
    }

    private static boolean hasExtendedPosts(NativeContext verbs) {
        return verbs.has(Slot.CREATE_QP_EX) && verbs.library.has(IbvFunction.QP_TO_QP_EX);
    }
}
