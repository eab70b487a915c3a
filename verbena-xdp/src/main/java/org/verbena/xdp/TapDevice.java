// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.Optional;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.TapSettings;
import org.verbena.verbs.VerbsException;

/**
 * The device of a TAP interface that this process may open: what the kernel sends on the interface is received here, and
 * the reverse. It needs no privilege once the interface was made for the user.
 */
final class TapDevice extends RawDevice {
    TapDevice(NetworkLinks.Link link) {
        super("tap_", link);
    }

    /** Whether an interface is one that stays and that this process may open. */
    static boolean isUsable(Netlink netlink, NetworkLinks.Link link, NetworkLinks.Kind kind) {
        try {
            return kind.kind().equals("tun") && TapSettings.isDeviceOpen() && TapSettings.of(netlink, link.index())
                    .filter(s -> s.tap() && s.persistent() && s.isAllowed()).isPresent();
        } catch (LinuxException e) {
            return false; // it went meanwhile
        }
    }

    @Override
    public String transport() {
        return "TAP";
    }

    @Override
    public String backEnd() {
        return "TAP with a vnet header, both ways: the kernel is at the other end of the interface, and computes checksums"
                + " and cuts segments";
    }

    @Override
    boolean isVirtual() {
        return true;
    }

    /** One, for one queue pair has the interface. */
    @Override
    int queues() {
        return 1;
    }

    /** Switched on is enough: that it has a carrier is up to the queue pair. */
    @Override
    boolean isActive(NetworkLinks.Link now) {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            return TapSettings.of(netlink, now.index()).filter(TapSettings::on).isPresent();
        } catch (LinuxException e) {
            return now.up();
        }
    }

    /** The settings as they are now. */
    TapSettings settings(String verb) throws VerbsException {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            Optional<TapSettings> s = TapSettings.of(netlink, index());
            if (s.isPresent()) {
                return s.get();
            }
        } catch (LinuxException e) {
            if (e.errno() != Errno.ENODEV) {
                throw new VerbsException(verb, e);
            }
        }
        throw new VerbsException(verb, Errno.ENODEV, "the interface " + interfaceName() + " is gone");
    }

    /** For one frame whose checksum is computed. */
    @Override
    int ownChunks(int sends, int mtu) {
        return (XdpLimits.longestFrame(mtu) + XdpLimits.CHUNK - 1) / XdpLimits.CHUNK;
    }

    @Override
    Wire openWire(String verb, XdpQueuePair qp, WireMemory memory) throws VerbsException {
        return TapWire.open(verb, qp, this, memory);
    }

    @Override
    RawFlows flows(XdpQueuePair qp, XdpContext context, long published) {
        return new TapFlows(qp, context, published);
    }
}
