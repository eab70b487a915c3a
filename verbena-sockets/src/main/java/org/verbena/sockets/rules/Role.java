// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

/** What a socket is about to do when its transport is decided. */
public enum Role {
    /** listen(2): the local address; accepted sockets follow the listener. */
    TCP_SERVER("tcp_server"),
    /** connect(2): the remote address, then the local one. */
    TCP_CLIENT("tcp_client"),
    /** The first datagram to a destination: the remote address. */
    UDP_SENDER("udp_sender"),
    /** bind(2), or the join of a group: the local address, or the group's. */
    UDP_RECEIVER("udp_receiver"),
    /** connect(2) of a datagram socket: the remote address, then the local one. */
    UDP_CONNECT("udp_connect");

    private final String word;

    Role(String word) {
        this.word = word;
    }

    /** Whether it is of datagrams, which the kernel carries whatever the rules: their transport is not looked up. */
    public boolean isDatagram() {
        return this == UDP_SENDER || this == UDP_RECEIVER || this == UDP_CONNECT;
    }

    /** Whether the first address of a rule is the remote one. */
    boolean isRemoteFirst() {
        return this == TCP_CLIENT || this == UDP_SENDER || this == UDP_CONNECT;
    }

    /** Whether a second address of a rule is compared. */
    boolean hasSecond() {
        return this == TCP_CLIENT || this == UDP_CONNECT;
    }

    @Override
    public String toString() {
        return word;
    }
}
