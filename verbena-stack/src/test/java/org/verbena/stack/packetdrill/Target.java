// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.ip.IpAddress;

/**
 * A TCP under test, with its sockets and its clock. Numbers that calls return are those of Linux: 0 or more, or the
 * error number, negated.
 */
public interface Target extends AutoCloseable {
    /** A packet of IP that was sent, and when. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Sent(byte[] packet, long nanos) {}

    /** The clock, in nanoseconds. */
    long now();

    /**
     * Lets time pass until the next timer, whose work is then done, or until that many nanoseconds are over, whichever
     * is first. With 0, what is due is done.
     */
    void advance(long nanos);

    /** A packet of IP arrives. */
    void inject(byte[] packet);

    /** Takes the next packet that was sent; null if there is none. */
    @Nullable
    Sent poll();

    /**
     * Sets an option of the stack, named as FreeBSD's sysctl is.
     *
     * @return whether it has that option, and can do that value
     */
    boolean sysctl(String name, String value);

    /**
     * How many connections are in a state, named as FreeBSD's sockstat does.
     *
     * @param port the local one, or 0 for any
     * @param owned whether only those count of which somebody has the socket
     */
    long count(String state, int port, boolean owned);

    /** Aborts all connections in a state, as tcpdrop does. */
    void drop(String state);

    /** A field of TCP_INFO, such as {@code tcpi_state}, with the values of FreeBSD; empty if it is not known. */
    OptionalLong info(int socket, String field);

    /** Opens a socket of TCP, or of UDP, over IPv6, mapped addresses of IPv4 among its, or over IPv4 alone. */
    long socket(boolean ipv6, boolean stream);

    /** Sets an option whose name says its level, such as {@code SO_REUSEADDR}. */
    long setOption(int socket, String name, long value);

    /** Sets SO_LINGER. */
    long setLinger(int socket, boolean on, int seconds);

    /** The value of an option; that of SO_ERROR is an error number, which is positive. */
    long getOption(int socket, String name);

    /** Whether calls wait. */
    boolean blocking(int socket);

    long setBlocking(int socket, boolean blocking);

    long bind(int socket, IpAddress address, int port);

    long listen(int socket, int backlog);

    Answer accept(int socket);

    Answer connect(int socket, IpAddress address, int port);

    /**
     * Receives.
     *
     * @param flags of Linux, {@code MSG_PEEK} and {@code MSG_DONTWAIT} among them
     */
    Answer receive(int socket, byte[] buffer, int flags);

    Answer send(int socket, byte[] data, int flags);

    /** Shuts down: 0 for reading, 1 for writing, 2 for both. */
    long shutdown(int socket, int how);

    Answer close(int socket);

    /** What poll(2) would say at once, in its bits. */
    int ready(int socket);

    /** Bytes of the two queues of a socket, as {@code SIOCINQ} and {@code SIOCOUTQ} tell; negative for any other name. */
    default long queued(int socket, String name) {
        return -1;
    }

    @Override
    void close();

    /** What a call that may wait answers. */
    @FunctionalInterface
    interface Answer {
        /** The call waits. */
        long WAITS = Long.MIN_VALUE;

        /** Goes on with the call: what it returns, or {@link #WAITS}. */
        long poll();

        static Answer of(long result) {
            return () -> result;
        }
    }
}
