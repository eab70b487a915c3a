// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.EthtoolFeatures;
import org.verbena.linux.LinuxException;
import org.verbena.linux.NetworkLinks;
import org.verbena.verbs.VerbsException;

/**
 * The device of any interface, on which AF_XDP takes packets of flows before the kernel. On interfaces without hardware
 * the program is attached in generic mode: there, native mode would switch off segmentation at the peer and slow the
 * kernel's own connections down, and could not receive packets of 64 KiB.
 */
final class XdpDevice extends RawDevice {
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
        return new QueuePairFlows(context, qp.describe(), published);
    }
}
