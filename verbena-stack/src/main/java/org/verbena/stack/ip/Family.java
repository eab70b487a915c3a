// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;

/** A version of IP on one link. */
sealed interface Family permits Ipv4, Ipv6, NoFamily {
    /** Takes a packet in a frame that has come to this host, or to a group of Ethernet. */
    void received(ReceivedFrame f, boolean group, long now) throws IOException;

    /** What this host is on its link. */
    Link link();

    /** How long a packet to the other end may be. */
    int mtu(Path p);

    /** Sends a frame whose payload is in its place; {@code hops} is 0 for as many as is usual, {@code whole} if no router may cut it into fragments. */
    void send(SendFrame f, int protocol, Path p, int tos, int hops, int length, boolean whole, long now)
            throws IOException;

    /** Into how many fragments a payload is cut. */
    int fragments(Path p, int length);

    /** Sends a payload in fragments; the buffers for them are there. */
    void sendFragments(int protocol, Path p, int hops, MemorySegment payload, int length, long now) throws IOException;

    /** Tells the sender of a datagram that nobody is at its port. */
    void noPort(Datagram d, long now) throws IOException;

    /** Does what is due; answers when to call again. */
    long work(long now) throws IOException;
}
