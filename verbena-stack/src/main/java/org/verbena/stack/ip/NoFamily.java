// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;

/** A version of IP that this host does not have. */
record NoFamily(Counts counts) implements Family, Link {
    @Override
    public void received(ReceivedFrame f, boolean group, long now) {
        counts.notForUs++;
    }

    @Override
    public Link link() {
        return this;
    }

    @Override
    public int way(long high, long low) {
        return Errno.ENETUNREACH;
    }

    @Override
    public int setFilter(Object owner, int port, IpAddress group, SourceFilter filter, long now) {
        return Errno.ENETUNREACH;
    }

    @Override
    public boolean isOwn(long high, long low) {
        return false;
    }

    @Override
    public boolean isHost(long high, long low) {
        return false;
    }

    @Override
    public boolean isBroadcast(long high, long low) {
        return false;
    }

    @Override
    public boolean isMember(long high, long low) {
        return false;
    }

    @Override
    public List<IpAddress> addresses() {
        return List.of();
    }

    @Override
    public void start(long now) {
        // there is nothing to tell
    }

    @Override
    public long work(long now) {
        return Long.MAX_VALUE;
    }

    @Override
    public void route(Path p, long high, long low) {
        throw noWay();
    }

    @Override
    public int mtu(Path p) {
        throw noWay();
    }

    @Override
    public int mtu(long high, long low) {
        throw noWay();
    }

    @Override
    public int hopLimit() {
        throw noWay();
    }

    @Override
    public void transmit(SendFrame f, int bytes, long high, long low, long now) {
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

    private static IllegalStateException noWay() {
        return new IllegalStateException("there is no way, as way() says");
    }
}
