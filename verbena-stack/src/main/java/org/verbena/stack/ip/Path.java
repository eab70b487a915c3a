// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import org.verbena.stack.header.Checksum;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;

/** The two ends of packets: an address of this host and one of another, both of the same version of IP, as {@link IpAddress} has them. */
public final class Path {
    private long localHigh;
    private long localLow;
    private long remoteHigh;
    private long remoteLow;
    private long sum;
    private boolean ipv4;

    /** Between no addresses yet. */
    public Path() {}

    /** A copy, which does not change with the other. */
    public Path(Path p) {
        set(p.localHigh, p.localLow, p.remoteHigh, p.remoteLow);
    }

    /** Sets both ends. */
    public void set(long ownHigh, long ownLow, long otherHigh, long otherLow) {
        localHigh = ownHigh;
        localLow = ownLow;
        remoteHigh = otherHigh;
        remoteLow = otherLow;
        ipv4 = IpAddress.isIpv4(otherHigh, otherLow);
        sum = ipv4
                ? Checksum.sumOf((int) ownLow) + Checksum.sumOf((int) otherLow)
                : Checksum.sumOf(ownHigh, ownLow) + Checksum.sumOf(otherHigh, otherLow);
    }

    /** Whether its packets are of IPv4. */
    public boolean isIpv4() {
        return ipv4;
    }

    /** Whether both ends are one address, so that its packets never come to the link. */
    public boolean isToSelf() {
        return remoteLow == localLow && remoteHigh == localHigh;
    }

    /** The first half of this host's address. */
    public long localHigh() {
        return localHigh;
    }

    /** The second half of this host's address. */
    public long localLow() {
        return localLow;
    }

    /** The first half of the other host's address. */
    public long remoteHigh() {
        return remoteHigh;
    }

    /** The second half of the other host's address. */
    public long remoteLow() {
        return remoteLow;
    }

    /** The other host's address. */
    public IpAddress remote() {
        return new IpAddress(remoteHigh, remoteLow);
    }

    /** This host's address. */
    public IpAddress local() {
        return new IpAddress(localHigh, localLow);
    }

    /** The part of the addresses in the checksum of a pseudo-header, in either direction. */
    public long sum() {
        return sum;
    }

    /** Length of the header of IP, without options. */
    public int headerBytes() {
        return ipv4 ? Ipv4Header.BYTES : Ipv6Header.BYTES;
    }

    /** Length of the headers in front of a payload in a frame to send. */
    public int headers() {
        return EthernetHeader.BYTES + headerBytes();
    }

    /** Whether both have the same ends. */
    public boolean isSame(Path p) {
        return remoteLow == p.remoteLow && remoteHigh == p.remoteHigh && localLow == p.localLow
                && localHigh == p.localHigh;
    }

    @Override
    public String toString() {
        return IpAddress.text(localHigh, localLow) + " to " + IpAddress.text(remoteHigh, remoteLow);
    }
}
