// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.Set;

import org.verbena.stack.ip.IpAddress;

/**
 * What scripts are compared with: where they run, and how strictly. Scripts have constants of the stack that they were
 * written for; five things may be normalised, and nothing else is:
 * <ul>
 * <li>the order of TCP options and their padding ({@code nop}, {@code eol}): options are compared as a set;
 * <li>the shift of the window scale option, which follows from the largest buffer that a stack may choose;
 * <li>the rounding of SO_RCVBUF and SO_SNDBUF when they are read back: their values are not compared;
 * <li>what is sent behind the last packet of the script, at which packetdrill does not look;
 * <li>the window: exact unless told otherwise, as {@link Suite} tells in its second try. A receiver that avoids the silly
 * window syndrome (RFC 9293, 3.8.6.2.2) does not move its edge by less than a segment, and FreeBSD does.
 * </ul>
 * Scripts of Linux's dialect have three freedoms more, which packetdrill itself gives them or an RFC gives the sender: a
 * packet that is expected may come as several that follow each other, unless {@code --strict_segments} is set; the values
 * of time stamps are not compared, unless {@code --tcp_ts_tick_usecs} is; and PSH may be set or not (RFC 9293, 3.9.1.2).
 *
 * @param version whose addresses the two ends have
 * @param localPort what a socket is bound to
 * @param remotePort what a socket connects to
 * @param peerPort from which the peer connects
 * @param sequenceOffset what is added to the peer's sequence numbers of the script; near 2^32, they wrap
 * @param anyOptionOrder whether options are compared as a set
 * @param anyWindowScale whether that option only has to be there
 * @param anyBufferSize whether the buffer sizes that are read back are not compared
 * @param anyEnd whether packets that are sent behind the last of the script are left alone
 * @param windowSlack by how many bytes windows may differ
 * @param defined the names that {@code #ifdef} finds
 * @param linux whether scripts are written in Linux's dialect
 * @param tolerance by how many microseconds times may differ, if a script does not say it
 */
public record Profile(IpVersion version, int localPort, int remotePort, int peerPort, long sequenceOffset,
        boolean anyOptionOrder, boolean anyWindowScale, boolean anyBufferSize, boolean anyEnd, int windowSlack,
        Set<String> defined, boolean linux, long tolerance) {
    private static final long TOLERANCE = 4000;

    /** Everything exact, over IPv4, at packetdrill's ports. */
    public static Profile strict() {
        return new Profile(IpVersion.IPV4, 8080, 8080, 4096, 0xffff_ff00L, false, false, false, false, 0, Set.of(),
                false, TOLERANCE);
    }

    /** For the scripts of FreeBSD's suite, and what they say the standard asks for. */
    public static Profile freebsd() {
        return new Profile(IpVersion.IPV4, 8080, 8080, 4096, 0xffff_ff00L, true, true, true, true, 0, Set.of(
                "STANDARD"), false, TOLERANCE);
    }

    /** For the scripts of Linux's dialect. */
    public static Profile forLinux() {
        return new Profile(IpVersion.IPV4, 8080, 8080, 4096, 0xffff_ff00L, true, true, true, true, 0, Set.of(), true,
                TOLERANCE);
    }

    /** The same, but windows may differ so much. */
    public Profile withWindowSlack(int bytes) {
        return new Profile(version, localPort, remotePort, peerPort, sequenceOffset, anyOptionOrder, anyWindowScale,
                anyBufferSize, anyEnd, bytes, defined, linux, tolerance);
    }

    /** The same, but times may differ by so many microseconds. */
    public Profile withTolerance(long micros) {
        return new Profile(version, localPort, remotePort, peerPort, sequenceOffset, anyOptionOrder, anyWindowScale,
                anyBufferSize, anyEnd, windowSlack, defined, linux, micros);
    }

    /** The same, over another version of IP. */
    public Profile over(IpVersion other) {
        return new Profile(other, localPort, remotePort, peerPort, sequenceOffset, anyOptionOrder, anyWindowScale,
                anyBufferSize, anyEnd, windowSlack, defined, linux, tolerance);
    }

    /** The address of the stack. */
    IpAddress local() {
        return version.local();
    }

    /** That of the peer. */
    IpAddress remote() {
        return version.remote();
    }
}
