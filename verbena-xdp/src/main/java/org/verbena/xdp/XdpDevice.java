// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.EthtoolFeatures;
import org.verbena.linux.LinuxException;
import org.verbena.linux.NetworkLinks;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RssCapabilities;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.verbs.VerbsException;

/**
 * The device of any interface, on which AF_XDP takes packets of flows before the kernel. On interfaces without hardware
 * the program is attached in generic mode: there, native mode would switch off segmentation at the peer and slow the
 * kernel's own connections down, and could not receive packets of 64 KiB.
 */
final class XdpDevice extends RawDevice {
    /** What can go into the hash of a packet. */
    static final int HASH_FIELDS = RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4 | RxHashFields.SRC_IPV6
            | RxHashFields.DST_IPV6 | RxHashFields.SRC_PORT_TCP | RxHashFields.DST_PORT_TCP | RxHashFields.SRC_PORT_UDP
            | RxHashFields.DST_PORT_UDP;

    private final NetworkLinks.Kind kind;

    XdpDevice(NetworkLinks.Link link, NetworkLinks.Kind kind) {
        super("xdp_", link);
        this.kind = kind;
    }

    @Override
    public String backEnd() {
        String why = kind.loopback()
                ? "this is the loopback interface"
                : "the interface has no hardware (" + kind.kind() + ")";
        return (kind.isVirtual()
                ? "AF_XDP in generic mode, with copies, because " + why
                : "AF_XDP in native mode, because there is hardware; without copies if its driver can")
                + "; sends in segments by AF_PACKET, because AF_XDP has none";
    }

    @Override
    boolean isVirtual() {
        return kind.isVirtual();
    }

    /** Whether programs are attached in generic mode, and packets are copied. */
    boolean isGeneric() {
        return kind.isVirtual();
    }

    @Override
    public String transport() {
        return "AF_XDP";
    }

    /** The number of queues that packets are received on. */
    @Override
    int queues() {
        try {
            return Math.max(1, EthtoolFeatures.channels(interfaceName()).receiving());
        } catch (LinuxException e) {
            return 1; // it cannot be asked: as loopback, it has one
        }
    }

    @Override
    DeviceAttributes attributes(int mtu, int queues) {
        return baseAttributes(mtu, queues).maxWorkQueues(XdpLimits.MAX_WQ).rssCapabilities(RssCapabilities.builder()
                .queuePairTypes(1 << QueuePairType.RAW_PACKET).maxIndirectionTables(XdpLimits.MAX_TABLES)
                .maxIndirectionTableSize(XdpLimits.MAX_TABLE).hashFunctions(RxHashConfiguration.TOEPLITZ)
                .hashFields(HASH_FIELDS).build()).build();
    }

    @Override
    boolean isActive(NetworkLinks.Link now) {
        return now.up();
    }

    @Override
    int ownChunks(int sends, int mtu) {
        return sends * XdpLimits.pieces(mtu);
    }

    @Override
    Wire openWire(String verb, XdpQueuePair qp, WireMemory memory) throws VerbsException {
        return XskWire.open(verb, qp, this, memory);
    }

    @Override
    RawFlows flows(XdpQueuePair qp, XdpContext context, long published) {
        XdpIndirectionTable table = qp.table();
        RxHashConfiguration hash = qp.initAttributes().rxHash();
        return table == null || hash == null
                ? new QueuePairFlows(context, qp.describe(), published)
                : new SpreadFlows(context, qp.describe(), published, hash, table.workQueues().stream().map(
                        XdpWorkQueue::number).toList());
    }
}
