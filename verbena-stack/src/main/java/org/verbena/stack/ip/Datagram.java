// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.wire.ReceivedFrame;

/** A datagram that has come, where it is; good until the method that gets it has returned. */
public final class Datagram {
    /** Headers of Ethernet, IP and TCP, each with all its options. */
    static final int LEAST_FIRST = EthernetHeader.BYTES + 60 + 60;

    MemorySegment memory = MemorySegment.NULL;
    long header;
    int headerBytes;
    int length;
    int protocol;
    boolean checked;
    boolean toMany;
    int ecn;
    int hopLimit;
    @Nullable ReceivedFrame parts;
    private final Path path = new Path();

    Datagram() {}

    /**
     * Where the payload is if it came in several parts: then {@link #memory} has no more of it than the first {@value #LEAST_FIRST} bytes of the frame, and
     * {@link #offset} is where it begins in the frame. Null if all of it is in one piece.
     */
    public @Nullable ReceivedFrame parts() {
        return parts;
    }

    /** Where the payload begins in the frame of {@link #parts}. */
    public int offset() {
        return EthernetHeader.BYTES + headerBytes;
    }

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
