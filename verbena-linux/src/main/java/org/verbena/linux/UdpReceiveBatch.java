// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.RawMemory;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Receives many datagrams in a call: recvmmsg(2). Their bytes are in one area of native memory that this object owns,
 * each with a headroom for the caller. Used by one thread at a time, for any number of sockets; receiving allocates
 * nothing and throws nothing.
 *
 * <p>Addresses are two words in network order; IPv4's are {@code ::ffff:a.b.c.d}, as in an InfiniBand GID.
 */
public final class UdpReceiveBatch {
    /**
     * After one in this many calls that fail the socket is polled for an error: usually there is nothing to receive, and
     * the poll is another call.
     */
    private static final int ASK = 64;

    private static final int CONTROL_BYTES = 128;
    private static final int HEADER_BYTES = UdpHeaders.MMSGHDR_BYTES + 16 + UdpHeaders.NAME_BYTES + CONTROL_BYTES;
    private static final int IOVEC = UdpHeaders.MMSGHDR_BYTES;
    private static final int NAME = IOVEC + 16;
    private static final int CONTROL = NAME + UdpHeaders.NAME_BYTES;

    private final int capacity;
    private final int headroom;
    private final int stride;
    private final MemorySegment memory;
    private final MemorySegment headers;
    private final long base;
    /** struct mmsghdr, one after the other; then iovec, name and control of each. */
    private final long first;
    private final long rest;

    private final long[] destinationHigh;
    private final long[] destinationLow;
    private final int[] trafficClass;
    private final int[] hopLimit;
    private final int[] segmentBytes;
    private int used;
    private int failures;
    private int count;

    /**
     * A batch.
     *
     * @param capacity datagrams in a call, 1 to 1024
     * @param headroom bytes before each datagram for the caller, 0 or more
     * @param bytes the longest datagram, 1 to 65536; the kernel truncates longer ones
     */
    public UdpReceiveBatch(int capacity, int headroom, int bytes) {
        Args.requireBetween(capacity, 1, 1024, "the capacity of a batch");
        Args.requireBetween(headroom, 0, 4096, "a headroom");
        Args.requireBetween(bytes, 1, 1 << 16, "the length of a datagram");
        this.capacity = capacity;
        this.headroom = (headroom + 7) & ~7;
        stride = (this.headroom + bytes + 63) & ~63;
        memory = Arena.ofAuto().allocate((long) capacity * stride, 64);
        headers = Arena.ofAuto().allocate((long) capacity * HEADER_BYTES, 64);
        base = memory.address();
        first = headers.address();
        rest = first + (long) capacity * UdpHeaders.MMSGHDR_BYTES;
        destinationHigh = new long[capacity];
        destinationLow = new long[capacity];
        trafficClass = new int[capacity];
        hopLimit = new int[capacity];
        segmentBytes = new int[capacity];
        for (int i = 0; i < capacity; i++) {
            long header = header(i);
            RawMemory.putLong(header, name(i));
            RawMemory.putLong(header + UnixMessage.MSGHDR_IOV, rest(i, IOVEC));
            RawMemory.putLong(header + UnixMessage.MSGHDR_IOVLEN, 1);
            RawMemory.putLong(header + UnixMessage.MSGHDR_CONTROL, rest(i, CONTROL));
            RawMemory.putLong(rest(i, IOVEC), base + offset(i));
            RawMemory.putLong(rest(i, IOVEC) + 8, bytes);
        }
        used = capacity;
    }

    private long header(int i) {
        return first + (long) i * UdpHeaders.MMSGHDR_BYTES;
    }

    private long rest(int i, int part) {
        return rest + (long) i * (HEADER_BYTES - UdpHeaders.MMSGHDR_BYTES) + part - UdpHeaders.MMSGHDR_BYTES;
    }

    private long name(int i) {
        return rest(i, NAME);
    }

    /** All the memory of the batch; {@link #offset} returns the position of a datagram. */
    public MemorySegment memory() {
        return memory;
    }

    /** The largest number of datagrams per call. */
    public int capacity() {
        return capacity;
    }

    /**
     * Receives datagrams that have arrived, without waiting.
     *
     * @param socket the socket to receive from
     * @param limit the largest number of datagrams; at most the capacity in any case
     * @return the number received, 0 if there is none; or minus an errno: {@code EBADF} (closed), {@code ENOMEM}, which
     *         one failed call in 64 reports
     */
    public int receive(UdpSocket socket, int limit) {
        int fd = socket.fd().valueOrNegative();
        int most = Math.min(limit, capacity);
        count = 0;
        for (int i = 0; i < used; i++) { // the kernel has updated the headers that it used
            long header = header(i);
            RawMemory.putInt(header + 8, UdpHeaders.NAME_BYTES);
            RawMemory.putLong(header + UnixMessage.MSGHDR_CONTROLLEN, CONTROL_BYTES);
            RawMemory.putInt(header + UnixMessage.MSGHDR_FLAGS, 0);
        }
        used = 0;
        if (most <= 0 || fd < 0) {
            return fd < 0 ? -Errno.EBADF : 0;
        }
        long result = Native.callWithoutErrno(headers, SyscallNumber.RECVMMSG, fd, first, most,
                UnixMessage.MSG_DONTWAIT, 0,
                0);
        if (result < 0 && (++failures & ASK - 1) == 0 && Poll.now(fd, Poll.IN) != 0) {
            result = Native.call(headers, SyscallNumber.RECVMMSG, fd, first, most, UnixMessage.MSG_DONTWAIT, 0, 0);
        } else if (result < 0) {
            return 0;
        }
        if (result <= 0) {
            return result == -Errno.EAGAIN || result == -Errno.EINTR ? 0 : (int) result;
        }
        count = (int) result;
        used = count;
        for (int i = 0; i < count; i++) {
            parse(i, socket);
        }
        return count;
    }

    private void parse(int i, UdpSocket socket) {
        destinationHigh[i] = socket.localHigh();
        destinationLow[i] = socket.localLow();
        trafficClass[i] = 0;
        hopLimit[i] = 0;
        segmentBytes[i] = 0;
        long at = rest(i, CONTROL);
        long end = at + Math.min(CONTROL_BYTES, RawMemory.getLong(header(i) + UnixMessage.MSGHDR_CONTROLLEN));
        while (end - at >= UnixMessage.CMSG_DATA) {
            long length = RawMemory.getLong(at);
            if (length < UnixMessage.CMSG_DATA || length > end - at) {
                return;
            }
            control(i, RawMemory.getInt(at + UnixMessage.CMSG_LEVEL), RawMemory.getInt(at + UnixMessage.CMSG_TYPE), at
                    + UnixMessage.CMSG_DATA, (int) length - UnixMessage.CMSG_DATA);
            at += (length + 7) & ~7L;
        }
    }

    private void control(int i, int level, int type, long value, int bytes) {
        if (level == UdpHeaders.IPPROTO_IP) {
            if (type == UdpHeaders.IP_TOS && bytes >= 1) {
                trafficClass[i] = RawMemory.getByte(value) & 0xFF;
            } else if (type == UdpHeaders.IP_TTL && bytes >= 4) {
                hopLimit[i] = RawMemory.getInt(value);
            } else if (type == UdpHeaders.IP_PKTINFO && bytes >= UdpHeaders.PKTINFO_BYTES) {
                destinationLow[i] = UdpHeaders.mapped(value + UdpHeaders.PKTINFO_DESTINATION);
            }
        } else if (level == UdpHeaders.IPPROTO_IPV6) {
            if (type == UdpHeaders.IPV6_TCLASS && bytes >= 4) {
                trafficClass[i] = RawMemory.getInt(value);
            } else if (type == UdpHeaders.IPV6_HOPLIMIT && bytes >= 4) {
                hopLimit[i] = RawMemory.getInt(value);
            } else if (type == UdpHeaders.IPV6_PKTINFO && bytes >= UdpHeaders.PKTINFO6_BYTES) {
                destinationHigh[i] = UdpHeaders.bigEndian(RawMemory.getLongUnaligned(value));
                destinationLow[i] = UdpHeaders.bigEndian(RawMemory.getLongUnaligned(value + 8));
            }
        } else if (level == UdpHeaders.SOL_UDP && type == UdpHeaders.UDP_GRO && bytes >= 4) {
            segmentBytes[i] = RawMemory.getInt(value);
        }
    }

    private int check(int i) {
        return Objects.checkIndex(i, count);
    }

    /** Offset of a datagram in {@link #memory()}; the headroom is before it. */
    public int offset(int i) {
        return Objects.checkIndex(i, capacity) * stride + headroom;
    }

    /** Length of a datagram, as far as it was received. */
    public int length(int i) {
        return RawMemory.getInt(header(check(i)) + UdpHeaders.MMSGHDR_LEN);
    }

    /** Whether the datagram was longer than its space. */
    public boolean truncated(int i) {
        return (RawMemory.getInt(header(check(i)) + UnixMessage.MSGHDR_FLAGS) & UnixMessage.MSG_TRUNC) != 0;
    }

    /**
     * For datagrams that the kernel has delivered as one ({@link UdpSocket#coalesce}): length of each except the last,
     * which may be shorter. 0 for one datagram.
     */
    public int segmentBytes(int i) {
        return segmentBytes[check(i)];
    }

    /** The sender's address, first word. */
    public long sourceHigh(int i) {
        return UdpHeaders.high(name(check(i)));
    }

    /** The sender's address, second word. */
    public long sourceLow(int i) {
        return UdpHeaders.low(name(check(i)));
    }

    /** The sender's port. */
    public int sourcePort(int i) {
        return UdpHeaders.port(name(check(i)));
    }

    /** The destination address, first word. */
    public long destinationHigh(int i) {
        return destinationHigh[check(i)];
    }

    /** The destination address, second word. */
    public long destinationLow(int i) {
        return destinationLow[check(i)];
    }

    /** IPv4's type of service or IPv6's traffic class; the lowest two bits are ECN (RFC 3168). */
    public int trafficClass(int i) {
        return trafficClass[check(i)];
    }

    /** IPv4's time to live or IPv6's hop limit, as it arrived; 0 without {@link UdpSocket#tellHopLimit}. */
    public int hopLimit(int i) {
        return hopLimit[check(i)];
    }
}
