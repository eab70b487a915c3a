// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.util.List;
import java.util.SplittableRandom;

import org.verbena.linux.Errno;
import org.verbena.roce.link.PortAddress;
import org.verbena.roce.link.UdpWire;
import org.verbena.roce.link.WireCounts;
import org.verbena.roce.transport.Wire;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.GidType;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.VerbsException;

/** A port whose wire is a set of UDP sockets: its GID table consists of the addresses that they are bound to. */
final class UdpPort implements Port {
    /** IPv4 loopback addresses are 2^24, less the first and the last. */
    private static final long LOOPBACK = 0xffff_7f00_0000L;
    private static final int LOOPBACK_ADDRESSES = (1 << 24) - 2;
    private static final int TRIES = 64;
    /** {@code false} sends each packet by itself. */
    private static final String SEGMENTATION = "verbena.roce.segmentation";

    private final UdpWire wire;
    private final PortAttributes attributes;

    private UdpPort(UdpWire wire) {
        this.wire = wire;
        attributes = PortAttributes.builder().state(PortAttributes.STATE_ACTIVE).mtu(4096, wire.mtu())
                .gidTableLength(wire.addresses().size()).pkeyTableLength(1).maxMessageSize(RoceLimits.MAX_MESSAGE)
                .linkLayer("Ethernet").build();
    }

    static UdpPort open(List<PortAddress> addresses, int mtu) throws VerbsException {
        return new UdpPort(UdpWire.open(addresses, mtu, !"false".equals(System.getProperty(SEGMENTATION))));
    }

    /**
     * A port on the loopback interface. All of 127.0.0.0/8 is local to it, so each context has an address of its own,
     * and many can be open at once.
     */
    static UdpPort onLoopback(int interfaceIndex, int mtu) throws VerbsException {
        SplittableRandom random = new SplittableRandom();
        for (int i = 1;; i++) {
            Gid gid = new Gid(0, LOOPBACK + 1 + random.nextInt(LOOPBACK_ADDRESSES));
            try {
                return open(List.of(new PortAddress(gid, interfaceIndex)), mtu);
            } catch (VerbsException e) {
                if (e.errno() != Errno.EADDRINUSE || i == TRIES) {
                    throw e;
                }
            }
        }
    }

    @Override
    public Wire wire() {
        return wire;
    }

    @Override
    public WireCounts counts() {
        return wire.counts();
    }

    @Override
    public PortAttributes attributes() {
        return attributes;
    }

    @Override
    public GidEntry gid(int index) {
        PortAddress a = wire.addresses().get(index);
        return GidEntry.builder(a.gid(), 1, index).type(GidType.ROCE_V2).interfaceIndex(a.interfaceIndex()).build();
    }

    @Override
    public boolean has(long gidHigh, long gidLow) {
        List<PortAddress> all = wire.addresses();
        for (int i = 0; i < all.size(); i++) {
            Gid g = all.get(i).gid();
            if (g.high() == gidHigh && g.low() == gidLow) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void join(Gid group) throws VerbsException {
        wire.join(group);
    }

    @Override
    public void leave(Gid group) {
        wire.leave(group);
    }

    @Override
    public void close() {
        wire.close();
    }
}
