// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.MemorySegment;

/** A datagram that has come, where it is; good until the method that gets it has returned. */
public final class Datagram {
    MemorySegment memory = MemorySegment.NULL;
    long header;
    int headerBytes;
    int length;
    int protocol;
    boolean checked;
    boolean toMany;
    int ecn;
    int hopLimit;
    private final Path path = new Path();

    Datagram() {}

    /** What the datagram is in. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where the payload begins. */
    public long at() {
        return header + headerBytes;
    }

    /** Bytes of the payload. */
    public int length() {
        return length;
    }

    /** Its ends: the remote one is the sender, one host; the local one is this host, or many receivers. It changes with the next datagram. */
    public Path path() {
        return path;
    }

    /** The bits of explicit congestion notification, {@link org.verbena.stack.header.Ipv4Header#ecn}; 0 for one that came in fragments. */
    public int ecn() {
        return ecn;
    }

    /** Whether the checksum of TCP or UDP needs no look. */
    public boolean isChecked() {
        return checked;
    }

    /** Whether it went to many receivers, by its addresses of IP or of Ethernet: no error is sent in answer. */
    public boolean isToMany() {
        return toMany;
    }
}
