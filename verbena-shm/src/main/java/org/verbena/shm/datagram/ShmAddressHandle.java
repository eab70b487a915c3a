// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** An address handle: which context, or which group, and the header that datagrams to it begin with. */
public final class ShmAddressHandle extends AddressHandle {
    /** The context that the handle names: the lower half of its GID. */
    final long instance;
    public final int pd;
    private final @Nullable MulticastGroup group;

    /** The header's five words as they are written, but for the length in the first. */
    private final long versionAndHops;
    private final long sourceHigh;
    private final long sourceLow;
    private final long destinationHigh;
    private final long destinationLow;

    /**
     * Makes one.
     *
     * @param pdIndex of the protection domain
     * @param own instance of the context
     * @param group if the destination is one
     */
    public ShmAddressHandle(ProtectionDomain pd, int pdIndex, long own, AddressVector v, @Nullable MulticastGroup group)
            throws VerbsException {
        super(pd, v);
        this.pd = pdIndex;
        this.group = group;
        Gid to = v.destination();
        Gid from = PeerMapping.gid(own);
        instance = to.low();
        // version 6, traffic class, flow label; length; next header 0x1b, hop limit
        long first = 6L << 28 | (long) (v.trafficClass() & 0xff) << 20 | v.flowLabel() & 0xfffff;
        versionAndHops = first << 32 | 0x1b00L | v.hopLimit() & 0xff;
        sourceHigh = Long.reverseBytes(from.high());
        sourceLow = Long.reverseBytes(from.low());
        destinationHigh = Long.reverseBytes(to.high());
        destinationLow = Long.reverseBytes(to.low());
        opened();
    }

    /** The group that the handle names; null if it is that of a port. */
    @Nullable
    MulticastGroup group() {
        return group;
    }

    /** Writes the global routing header of a message of {@code message} bytes. */
    void writeHeader(long at, int message) {
        RawMemory.putLong(at, Long.reverseBytes(versionAndHops | (long) (message & 0xffff) << 16));
        RawMemory.putLong(at + 8, sourceHigh);
        RawMemory.putLong(at + 16, sourceLow);
        RawMemory.putLong(at + 24, destinationHigh);
        RawMemory.putLong(at + 32, destinationLow);
    }

    @Override
    public String describe() {
        return "AH to " + vector().destination() + " of " + ShmLimits.DEVICE;
    }

    @Override
    protected void implClose() {}
}
