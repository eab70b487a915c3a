// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.RawMemory;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Sends many datagrams in a call: sendmmsg(2), or sendto(2) for a single one. Their bytes are in one area of native
 * memory that this object owns, each with a headroom for the caller that is not sent. Used by one thread at a time;
 * sending allocates nothing and throws nothing.
 *
 * <p>With segmentation on, consecutive datagrams to one destination and of one length pass through the kernel as one
 * ({@code UDP_SEGMENT}, udp(7)); the last of them may be shorter. In IPv4, their identifications then count up from the
 * first one's.
 */
public final class UdpSendBatch {
    /** The largest number of datagrams that pass as one: the kernel's UDP_MAX_SEGMENTS of Linux before 6.9. */
    public static final int MAX_SEGMENTS = 64;
    /** The largest total length of datagrams that pass as one: the payload of an IPv4 packet. */
    public static final int MAX_SEGMENTED_BYTES = 65_535 - 20 - 8;

    private static final int CONTROL_BYTES = UdpDestination.CONTROL_BYTES + UdpHeaders.space(Integer.BYTES)
            + UdpHeaders.space(Short.BYTES);
    private static final int IOVEC_BYTES = 16;
    private static final int FLAGS = UnixMessage.MSG_DONTWAIT | UnixMessage.MSG_NOSIGNAL;

    private final int capacity;
    private final int headroom;
    private final int stride;
    private final int bytes;
    private final MemorySegment memory;
    private final MemorySegment headers;
    private final long messages;
    private final long vectors;
    private final long controls;

    private final @Nullable UdpSocket[] sockets;
    private final @Nullable UdpDestination[] destinations;
    private final int[] trafficClasses;
    private final int[] lengths;
    /** For each datagram, the number of datagrams before it in the same segmented message. */
    private final int[] positions;
    /** For each message, the number of its datagrams. */
    private final int[] datagrams;
    private boolean segmenting;
    private int begin;
    private int end;
    /** Bytes of the datagrams in the same segmented message as the last one. */
    private int runBytes;

    /**
     * A batch.
     *
     * @param capacity datagrams, 1 to 1024
     * @param headroom bytes before each datagram for the caller, 0 or more
     * @param bytes the longest datagram, 1 to 65536
     */
    public UdpSendBatch(int capacity, int headroom, int bytes) {
        Args.requireBetween(capacity, 1, 1024, "the capacity of a batch");
        Args.requireBetween(headroom, 0, 4096, "a headroom");
        Args.requireBetween(bytes, 1, 1 << 16, "the length of a datagram");
        this.capacity = capacity;
        this.headroom = (headroom + 7) & ~7;
        this.bytes = bytes;
        stride = (this.headroom + bytes + 63) & ~63;
        memory = Arena.ofAuto().allocate((long) capacity * stride, 64);
        headers = Arena.ofAuto().allocate((long) capacity * (UdpHeaders.MMSGHDR_BYTES + IOVEC_BYTES + CONTROL_BYTES),
                64);
        messages = headers.address();
        vectors = messages + (long) capacity * UdpHeaders.MMSGHDR_BYTES;
        controls = vectors + (long) capacity * IOVEC_BYTES;
        sockets = new UdpSocket[capacity];
        destinations = new UdpDestination[capacity];
        trafficClasses = new int[capacity];
        lengths = new int[capacity];
        positions = new int[capacity];
        datagrams = new int[capacity];
        for (int i = 0; i < capacity; i++) {
            RawMemory.putLong(vectors + (long) i * IOVEC_BYTES, memory.address() + offset(i));
        }
    }

    /** All the memory of the batch; {@link #next} returns the position for a datagram. */
    public MemorySegment memory() {
        return memory;
    }

    /** Sets whether datagrams may pass through the kernel as one; off at first. */
    public void setSegmenting(boolean on) {
        segmenting = on;
    }

    /** Whether {@link #setSegmenting} is on: {@link #send} switches it off for a kernel or route without support. */
    public boolean isSegmenting() {
        return segmenting;
    }

    private int offset(int i) {
        return i * stride + headroom;
    }

    /** Number of datagrams that wait to be sent. */
    public int size() {
        return end - begin;
    }

    /**
     * Where the next datagram is to be written.
     *
     * @return its offset in {@link #memory()}, with the headroom before it; -1 if the batch is full
     */
    public int next() {
        return end < capacity ? offset(end) : -1;
    }

    /**
     * Adds the datagram that was written to {@link #next()}.
     *
     * @param from a socket of the destination's family
     * @param to the destination
     * @param trafficClass IPv4's type of service or IPv6's traffic class, 0 to 255
     * @param length its bytes
     * @return the number of datagrams before it that pass through the kernel with it as one: its identification in IPv4
     * @throws IllegalStateException if the batch is full
     * @throws IllegalArgumentException if it is longer than its space
     */
    public int add(UdpSocket from, UdpDestination to, int trafficClass, int length) {
        if (end == capacity) {
            throw new IllegalStateException("a batch of " + capacity + " datagrams is full: send it first");
        }
        if (length < 0 || length > bytes) {
            throw new IllegalArgumentException("a datagram of " + length + " bytes exceeds the space of " + bytes);
        }
        int i = end;
        sockets[i] = from;
        destinations[i] = to;
        trafficClasses[i] = trafficClass & 0xFF;
        lengths[i] = length;
        boolean isSegment = isSegment(i);
        runBytes = isSegment ? runBytes + length : length;
        positions[i] = isSegment ? positions[i - 1] + 1 : 0;
        end++;
        return positions[i];
    }

    /** Whether a datagram passes together with the one before it. */
    private boolean isSegment(int i) {
        if (!segmenting || i == begin || positions[i - 1] == MAX_SEGMENTS - 1) {
            return false;
        }
        int segment = lengths[i - 1 - positions[i - 1]];
        return lengths[i] > 0 && lengths[i] <= segment && lengths[i - 1] == segment
                && runBytes + lengths[i] <= MAX_SEGMENTED_BYTES
                && sockets[i] == sockets[i - 1] && destinations[i] == destinations[i - 1]
                && trafficClasses[i] == trafficClasses[i - 1];
    }

    /**
     * Sends the waiting datagrams, as far as the kernel accepts them.
     *
     * @return 0 if none waits any more; else the errno for which the first waiting one was refused: {@code EAGAIN} (the
     *         socket's buffer is full: retry later), {@code EBADF} (the socket is closed), or an error of that datagram
     *         ({@code EMSGSIZE}, {@code ENETUNREACH}, {@code EPERM}, {@code ENOBUFS} …), see {@link #drop()}
     */
    public int send() {
        while (begin < end) {
            UdpSocket socket = sockets[begin];
            int fd = socket == null ? -1 : socket.fd().valueOrNegative();
            if (socket == null || fd < 0) {
                return Errno.EBADF;
            }
            UdpDestination single = single(socket);
            long result = single != null ? sendOne(fd, single) : sendMany(fd);
            if (result > 0) {
                for (int i = 0; i < (int) result; i++) {
                    begin += datagrams[i];
                }
            } else if (datagrams[0] > 1 && (result == -Errno.EIO || result == -Errno.EINVAL
                    || result == -Errno.EMSGSIZE || result == -Errno.EOPNOTSUPP)) {
                segmenting = false; // a device without checksums, a tunnel of IPsec, an old kernel: one by one
                Arrays.fill(positions, begin, end, 0);
            } else {
                return result == 0 ? Errno.EAGAIN : (int) -result;
            }
        }
        clear();
        return 0;
    }

    /** The destination of a single waiting datagram without options; else null. */
    private @Nullable UdpDestination single(UdpSocket socket) {
        UdpDestination to = destinations[begin];
        return end - begin == 1 && to != null && to.controlBytes() == 0
                && trafficClasses[begin] == socket.trafficClass() ? to : null;
    }

    /** Uses sendto(2), which takes as arguments what sendmmsg(2) has to read from memory. */
    private long sendOne(int fd, UdpDestination to) {
        datagrams[0] = 1;
        long result;
        do {
            result = Native.callRepeatable(memory, SyscallNumber.SENDTO, fd, memory.address() + offset(begin),
                    lengths[begin],
                    FLAGS, to.name(), to.nameBytes());
        } while (result == -Errno.EINTR);
        return result >= 0 ? 1 : result;
    }

    private long sendMany(int fd) {
        int count = build();
        long result;
        do {
            result = Native.callRepeatable(headers, SyscallNumber.SENDMMSG, fd, messages, count, FLAGS, 0, 0);
        } while (result == -Errno.EINTR);
        return result;
    }

    /** Writes the headers of the first waiting datagrams of one socket; returns the number of messages. */
    private int build() {
        int message = 0;
        UdpSocket socket = sockets[begin];
        int socketClass = socket == null ? 0 : socket.trafficClass();
        for (int i = begin; i < end && sockets[i] == sockets[begin]; message++) {
            UdpDestination to = destinations[i];
            if (to == null) {
                break; // never: add() has set it
            }
            int n = 1;
            while (i + n < end && positions[i + n] > 0) {
                n++;
            }
            for (int j = i; j < i + n; j++) {
                RawMemory.putLong(vectors + (long) j * IOVEC_BYTES + 8, lengths[j]);
            }
            long header = messages + (long) message * UdpHeaders.MMSGHDR_BYTES;
            long control = controls + (long) message * CONTROL_BYTES;
            long controlEnd = putControl(control, to, trafficClasses[i], socketClass, n > 1 ? lengths[i] : 0);
            RawMemory.putLong(header, to.name());
            RawMemory.putLong(header + 8, to.nameBytes());
            RawMemory.putLong(header + UnixMessage.MSGHDR_IOV, vectors + (long) i * IOVEC_BYTES);
            RawMemory.putLong(header + UnixMessage.MSGHDR_IOVLEN, n);
            RawMemory.putLong(header + UnixMessage.MSGHDR_CONTROL, controlEnd == control ? 0 : control);
            RawMemory.putLong(header + UnixMessage.MSGHDR_CONTROLLEN, controlEnd - control);
            datagrams[message] = n;
            i += n;
        }
        return message;
    }

    private static long putControl(long control, UdpDestination to, int trafficClass, int socketClass,
            int segment) {
        long at = control;
        if (to.controlBytes() > 0) {
            RawMemory.copy(to.control(), control, to.controlBytes());
            at += to.controlBytes();
        }
        if (trafficClass != socketClass) {
            at = UdpHeaders.control(at, to.isIp4() ? UdpHeaders.IPPROTO_IP : UdpHeaders.IPPROTO_IPV6, to.isIp4()
                    ? UdpHeaders.IP_TOS
                    : UdpHeaders.IPV6_TCLASS, Integer.BYTES, trafficClass);
        }
        if (segment > 0) {
            RawMemory.putShort(UdpHeaders.control(at, UdpHeaders.SOL_UDP, UdpHeaders.UDP_SEGMENT, Short.BYTES),
                    (short) segment);
            at += UdpHeaders.space(Short.BYTES);
        }
        return at;
    }

    /** Discards the first waiting datagram, with those that pass with it as one; does nothing if none waits. */
    public void drop() {
        if (begin < end) {
            do {
                begin++;
            } while (begin < end && positions[begin] > 0);
            if (begin == end) {
                clear();
            }
        }
    }

    /** Discards all waiting datagrams. */
    public void clear() {
        Arrays.fill(sockets, 0, end, null);
        Arrays.fill(destinations, 0, end, null);
        begin = 0;
        end = 0;
    }
}
