// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;

/** A version of IP on one link. */
sealed interface Family permits Ipv4, Ipv6, Family.None {
    /** Takes a packet in a frame that has come to this host, or to a group of Ethernet. */
    void received(ReceivedFrame f, boolean group, long now) throws IOException;

    /** As {@link Ip#way}. */
    int way(long high, long low);

    /** Whether an address is one of this host's. */
    boolean isOwn(long high, long low);

    /** Whether an address is all hosts of the link. */
    boolean isBroadcast(long high, long low);

    /** Has packets to an address that there is a way to go from the address of this host that fits. */
    void route(Path p, long high, long low);

    /** The groups that this host is in. */
    Groups groups();

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

    /** The addresses of this host. */
    List<IpAddress> addresses();

    /** Begins: tells the link of its addresses, with the next {@link #work}. */
    void start(long now);

    /** Does what is due; answers when to call again. */
    long work(long now) throws IOException;

    /** A version that this host does not have. */
    record None(Counts counts) implements Family {
        @Override
        public void received(ReceivedFrame f, boolean group, long now) {
            counts.notForUs++;
        }

        @Override
        public int way(long high, long low) {
            return Errno.ENETUNREACH;
        }

        @Override
        public boolean isOwn(long high, long low) {
            return false;
        }

        @Override
        public boolean isBroadcast(long high, long low) {
            return false;
        }

        @Override
        public void route(Path p, long high, long low) {
            throw noWay();
        }

        @Override
        public Groups groups() {
            throw noWay();
        }

        @Override
        public int mtu(Path p) {
            throw noWay();
        }

        @Override
        public void send(SendFrame f, int protocol, Path p, int tos, int hops, int length, boolean whole, long now) {
            throw noWay();
        }

        @Override
        public int fragments(Path p, int length) {
            throw noWay();
        }

        @Override
        public void sendFragments(int protocol, Path p, int hops, MemorySegment payload, int length, long now) {
            throw noWay();
        }

        @Override
        public void noPort(Datagram d, long now) {
            throw noWay();
        }

        @Override
        public List<IpAddress> addresses() {
            return List.of();
        }

        private static IllegalStateException noWay() {
            return new IllegalStateException("there is no way, as way() says");
        }

        @Override
        public void start(long now) {
            // there is nothing to tell
        }

        @Override
        public long work(long now) {
            return Long.MAX_VALUE;
        }
    }
}
