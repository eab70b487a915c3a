// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.Sys;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RawPacketCapabilities;
import org.verbena.verbs.SegmentationCapabilities;
import org.verbena.verbs.VerbsException;

/** A device of a network interface whose packets are Ethernet frames. */
abstract class RawDevice extends Device {
    private final String prefix;
    private final NetworkLinks.Link link;

    RawDevice(String prefix, NetworkLinks.Link link) {
        this.prefix = prefix;
        this.link = link;
    }

    /** The devices of the calling thread's network namespace, in the kernel's order of interfaces. */
    static List<Device> all() {
        List<Device> devices = new ArrayList<>();
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            for (NetworkLinks.Link link : NetworkLinks.list(netlink)) {
                NetworkLinks.Kind kind = kind(netlink, link.index());
                if (kind != null && kind.ethernet()) {
                    devices.add(new XdpDevice(link, kind));
                    if (TapDevice.isUsable(netlink, link, kind)) {
                        devices.add(new TapDevice(link));
                    }
                }
            }
        } catch (LinuxException e) {
            XdpLog.log(System.Logger.Level.WARNING, "cannot list the network interfaces", e);
        } catch (IllegalCallerException denied) {
            return List.of(); // without native access no device could be opened
        }
        return devices;
    }

    private static NetworkLinks.@Nullable Kind kind(Netlink netlink, int index)
            throws LinuxException {
        try {
            return NetworkLinks.kind(netlink, index);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENODEV) {
                return null; // it went meanwhile
            }
            throw e;
        }
    }

    @Override
    public String name() {
        return prefix + link.name();
    }

    String interfaceName() {
        return link.name();
    }

    int index() {
        return link.index();
    }

    @Override
    public String provider() {
        return "xdp";
    }

    /** Whether a packet may have no checksum, since its sender is on this host. */
    abstract boolean isVirtual();

    /** The number of queues that queue pairs can have. */
    abstract int queues();

    /** Whether the interface can send and receive, as far as it is not up to queue pairs. */
    abstract boolean isActive(NetworkLinks.Link now);

    /** The number of chunks that a queue pair has beside its region, by the depth of its send queue. */
    abstract int ownChunks(int sends, int mtu);

    /** Opens the way of a queue pair to the kernel. */
    abstract Wire openWire(String verb, XdpQueuePair qp, WireMemory memory) throws VerbsException;

    /**
     * The flows of a new queue pair.
     *
     * @param published its entry for readers of counters
     */
    abstract RawFlows flows(XdpQueuePair qp, XdpContext context, long published);

    /** EUI-64 of the interface's address; without one, a locally administered one of its index. */
    @Override
    public long guid() {
        return link.eui64();
    }

    /** The interface as it is now. */
    NetworkLinks.Link current(String verb) throws VerbsException {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            for (NetworkLinks.Link l : NetworkLinks.list(netlink)) {
                if (l.index() == link.index()) {
                    return l;
                }
            }
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
        throw new VerbsException(verb, Errno.ENODEV, "the interface " + link.name() + " is gone");
    }

    DeviceAttributes attributes(int mtu, int queues) {
        return baseAttributes(mtu, queues).build();
    }

    DeviceAttributes.Builder baseAttributes(int mtu, int queues) {
        return DeviceAttributes.builder()
                .capabilityFlags(DeviceCapabilityFlags.RAW_IP_CSUM | DeviceCapabilityFlags.CURR_QP_STATE_MOD)
                .firmwareVersion("1").nodeGuid(guid()).maxMrSize(XdpLimits.MAX_REGION).pageSizeCap(XdpLimits.CHUNK)
                .maxQp(queues, XdpLimits.maxRequests(mtu)).maxSge(XdpLimits.MAX_SGE)
                .maxInlineData(XdpLimits.MAX_INLINE).maxCq(XdpLimits.MAX_CQ, XdpLimits.MAX_CQE)
                .maxMr(XdpLimits.MAX_MR).maxPd(XdpLimits.MAX_PD).physicalPortCount(1)
                .rawPacketCapabilities(RawPacketCapabilities.IP_CSUM)
                .segmentationCapabilities(SegmentationCapabilities.builder().maxBytes(0xff00)
                        .queuePairTypes(1 << QueuePairType.RAW_PACKET).build())
                .rawReceive(XdpLimits.CHUNK, XdpLimits.RECEIVE_OFFSET);
    }

    @Override
    protected Context implOpen() throws VerbsException {
        Sys.requireNativeAccess();
        return XdpContext.open(this);
    }
}
