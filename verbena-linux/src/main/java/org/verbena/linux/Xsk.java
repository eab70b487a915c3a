// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A socket that receives and sends raw packets of one queue of an interface through memory shared with the kernel:
 * AF_XDP. Packets arrive only while an XDP program ({@link Bpf}) redirects them through a
 * {@link BpfMap#BPF_MAP_TYPE_XSKMAP}.
 *
 * <p>The memory (UMEM) is divided into chunks; an address here is an offset in it. A chunk belongs to the caller, or to
 * the kernel from {@link #fill} to {@link #receive} and from {@link #transmit} to {@link #completed}. A received packet
 * begins {@link #XDP_PACKET_HEADROOM} bytes and the {@linkplain XskConfig#headroom headroom} behind the start of its
 * chunk; one that does not fit into the rest comes in several chunks ({@link #XDP_PKT_CONTD}) if the socket was bound
 * with {@link #XDP_USE_SG} and the program can, and is dropped otherwise.
 *
 * <p>The methods for single packets check and may allocate; the four rings themselves ({@link #receiveRing} and the
 * others) are for batches, and never allocate.
 *
 * <p>One thread at a time uses an object, but each ring may have a thread of its own: FILL, RX, and TX with COMPLETION
 * and {@link #kick}. The socket belongs to the network namespace of the thread that opened it.
 */
public final class Xsk implements AutoCloseable {
    /** Packets are copied between the interface and the memory. */
    public static final int XDP_COPY = 2;
    /** The interface uses the memory directly, or binding fails. */
    public static final int XDP_ZEROCOPY = 4;

    /** The memory is that of another socket, see {@link #openShared}; set by {@link #bind} itself. */
    public static final int XDP_SHARED_UMEM = 1;
    /** The kernel says in the rings when it has to be called, see {@link XskRing#needsWakeUp}. */
    public static final int XDP_USE_NEED_WAKEUP = 8;
    /** Packets may take several chunks, both ways; needs Linux 6.6. */
    public static final int XDP_USE_SG = 16;
    /** Of a descriptor: the packet goes on in the next one. */
    public static final int XDP_PKT_CONTD = 1;
    /** Of a descriptor to send: {@link XskMetadata} are before the packet. */
    public static final int XDP_TX_METADATA = 2;
    /** Bytes that the kernel leaves free at the start of a chunk, for programs that make packets longer. */
    public static final int XDP_PACKET_HEADROOM = 256;

    static final int AF_XDP = 44;
    static final int SOL_XDP = 283;
    static final int XDP_MMAP_OFFSETS = 1;
    static final int XDP_RX_RING = 2;
    static final int XDP_TX_RING = 3;
    static final int XDP_UMEM_REG = 4;
    static final int XDP_UMEM_FILL_RING = 5;
    static final int XDP_UMEM_COMPLETION_RING = 6;
    static final int XDP_STATISTICS = 7;
    static final int XDP_OPTIONS = 8;
    static final int XDP_MAX_TX_SKB_BUDGET = 9;
    static final int XDP_OPTIONS_ZEROCOPY = 1;
    static final int XDP_UMEM_TX_METADATA_LEN = 4;
    static final long XDP_PGOFF_RX_RING = 0;
    static final long XDP_PGOFF_TX_RING = 0x8000_0000L;
    static final long XDP_UMEM_PGOFF_FILL_RING = 0x1_0000_0000L;
    static final long XDP_UMEM_PGOFF_COMPLETION_RING = 0x1_8000_0000L;
    /** struct xdp_umem_reg: addr 0, len 8, chunk_size 16, headroom 20, flags 24, tx_metadata_len 28. */
    static final int UMEM_REG_BYTES = 32;
    static final int UMEM_REG_LEN = 8;
    static final int UMEM_REG_CHUNK_SIZE = 16;
    static final int UMEM_REG_HEADROOM = 20;
    static final int UMEM_REG_FLAGS = 24;
    static final int UMEM_REG_TX_METADATA = 28;
    /** struct xdp_statistics: six u64, of which the first three are older. */
    static final int STATISTICS_BYTES = 48;
    /** struct xdp_mmap_offsets: rx 0, tx 32, fr 64, cr 96. */
    static final int OFFSETS_BYTES = 128;
    static final int OFFSETS_TX = 32;
    static final int OFFSETS_FILL = 64;
    static final int OFFSETS_COMPLETION = 96;
    /** struct sockaddr_xdp: family 0, flags 2, ifindex 4, queue_id 8, shared_umem_fd 12. */
    static final int SOCKADDR_BYTES = 16;
    static final int SOCKADDR_IFINDEX = 4;
    static final int SOCKADDR_QUEUE = 8;
    static final int SOCKADDR_SHARED_FD = 12;

    static final int MSG_DONTWAIT = 0x40;
    private static final int BIND_FLAGS = XDP_COPY | XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP | XDP_USE_SG;

    private final Fd fd;
    private final MemorySegment umem;
    private final XskConfig config;
    /** The socket that has the memory; null if it is this one. */
    private final @Nullable Xsk owner;
    private final XskRing fill;
    private final XskRing completion;
    private final XskRing receive;
    private final XskRing transmit;
    private boolean closed;

    /**
     * Counts since the socket was opened, {@code struct xdp_statistics}.
     *
     * @param rxDropped packets that were lost, too long ones and those for which the FILL ring had no chunk
     * @param rxInvalidDescriptors entries of the FILL ring with a wrong address
     * @param txInvalidDescriptors entries of the TX ring with a wrong address, length or option
     * @param rxRingFull packets that were lost as the RX ring was full
     * @param rxFillRingEmpty times that the FILL ring was found empty
     * @param txRingEmpty times that the kernel found nothing to send
     */
    public record Statistics(long rxDropped, long rxInvalidDescriptors, long txInvalidDescriptors, long rxRingFull,
            long rxFillRingEmpty, long txRingEmpty) {}

    private Xsk(Fd fd, MemorySegment umem, XskConfig config, @Nullable Xsk owner, boolean ownQueue)
            throws LinuxException {
        this.fd = fd;
        this.umem = umem;
        this.config = config;
        this.owner = owner;
        if (owner == null) {
            register();
        }
        if (ownQueue) {
            ring(XDP_UMEM_FILL_RING, config.fillEntries());
            ring(XDP_UMEM_COMPLETION_RING, config.completionEntries());
        }
        ring(XDP_RX_RING, config.receiveEntries());
        ring(XDP_TX_RING, config.transmitEntries());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment offsets = offsets(arena);
            int address = XskRing.ADDRESS_BYTES;
            int descriptor = XskRing.DESCRIPTOR_BYTES;
            receive = new XskRing(fd, XDP_PGOFF_RX_RING, offsets, 0, config.receiveEntries(), descriptor);
            transmit = new XskRing(fd, XDP_PGOFF_TX_RING, offsets, OFFSETS_TX, config.transmitEntries(), descriptor);
            fill = owner != null && !ownQueue
                    ? owner.fill
                    : new XskRing(fd, XDP_UMEM_PGOFF_FILL_RING, offsets, OFFSETS_FILL, config.fillEntries(), address);
            completion = owner != null && !ownQueue
                    ? owner.completion
                    : new XskRing(fd, XDP_UMEM_PGOFF_COMPLETION_RING, offsets, OFFSETS_COMPLETION,
                            config.completionEntries(), address);
        }
    }

    /**
     * Opens a socket, which is not yet bound to a queue.
     *
     * @param memory the UMEM, used for nothing else
     * @param chunkBytes the length of its chunks: a power of two from 2048 to the
     *        {@linkplain Sys#pageSize() page size}, a divisor of the memory's length
     * @param entries the length of each of the four rings, a power of two up to 65536
     * @return the socket
     * @throws LinuxException as {@link #open(MemorySegment, XskConfig)}
     */
    public static Xsk open(Mapping memory, int chunkBytes, int entries) throws LinuxException {
        return open(memory.segment(), XskConfig.of(chunkBytes, entries));
    }

    /**
     * Opens a socket, which is not yet bound to a queue.
     *
     * @param memory the UMEM: native, writable, aligned to a page and a multiple of the chunks' length. Its pages are
     *        pinned until the socket is closed
     * @param config lengths of chunks and rings
     * @return the socket
     * @throws LinuxException {@code EPERM} (CAP_NET_RAW is missing), {@code EAFNOSUPPORT} (the kernel does not have
     *         it), {@code ENOBUFS} (more than RLIMIT_MEMLOCK), {@code EOPNOTSUPP} (Linux 5.4 is needed), {@code EINVAL}
     *         (the kernel has no metadata), {@code ENOMEM}
     */
    public static Xsk open(MemorySegment memory, XskConfig config) throws LinuxException {
        Args.requireNative(memory, "the memory");
        Args.requireWritable(memory, "the memory");
        if (memory.byteSize() == 0 || memory.byteSize() % config.chunkBytes() != 0
                || memory.address() % Sys.pageSize() != 0) {
            throw new IllegalArgumentException("memory of " + memory.byteSize() + " bytes at 0x" + Long.toHexString(
                    memory.address()) + " is not divided into chunks of " + config.chunkBytes() + " bytes");
        }
        return open(memory, config, null, true);
    }

    /**
     * Opens a socket that uses the memory of another one, which has to be bound and stay open meanwhile.
     *
     * @param other the socket that was opened with the memory; for the same queue also one with rings of its own
     * @param config lengths of rings; that of chunks is the other socket's
     * @param ownQueue true for another queue or interface than the other socket's, for which it then has a FILL and a
     *        COMPLETION ring of its own; false for the same, where the other socket's are used for both
     * @return the socket
     * @throws LinuxException as {@link #open(MemorySegment, XskConfig)}
     */
    public static Xsk openShared(Xsk other, XskConfig config, boolean ownQueue) throws LinuxException {
        other.requireOpen();
        if (config.chunkBytes() != other.config.chunkBytes() || config.headroom() != other.config.headroom()
                || other.owner != null && (ownQueue || other.fill == other.owner.fill)) {
            throw new IllegalArgumentException("the memory is that of " + other.config + ", not of " + config);
        }
        return open(other.umem, config, other, ownQueue);
    }

    /**
     * A socket without memory and rings. In a table of sockets it is a sign of life: the kernel removes it from there when
     * its last descriptor is closed, also by the end of the process.
     *
     * @return its descriptor
     * @throws LinuxException {@code EPERM} (CAP_NET_RAW is missing), {@code EAFNOSUPPORT}, {@code EMFILE}
     */
    public static Fd socket() throws LinuxException {
        return Fd.ofResult(Native.call(SyscallNumber.SOCKET, AF_XDP, Netlink.SOCK_RAW | UnixSocket.SOCK_CLOEXEC, 0),
                "socket(AF_XDP)");
    }

    private static Xsk open(MemorySegment memory, XskConfig config, @Nullable Xsk owner, boolean ownQueue)
            throws LinuxException {
        Fd fd = socket();
        try {
            return new Xsk(fd, memory, config, owner, ownQueue);
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    private void ring(int option, int entries) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, entries);
        option(option, scratch.address(), 4, "ring " + option + ", " + entries + " entries");
    }

    private void register() throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory().asSlice(0, UMEM_REG_BYTES).fill((byte) 0);
        memory.set(ValueLayout.JAVA_LONG, 0, umem.address());
        memory.set(ValueLayout.JAVA_LONG, UMEM_REG_LEN, umem.byteSize());
        memory.set(ValueLayout.JAVA_INT, UMEM_REG_CHUNK_SIZE, config.chunkBytes());
        memory.set(ValueLayout.JAVA_INT, UMEM_REG_HEADROOM, config.headroom());
        if (config.txMetadataBytes() > 0) {
            memory.set(ValueLayout.JAVA_INT, UMEM_REG_FLAGS, XDP_UMEM_TX_METADATA_LEN);
            memory.set(ValueLayout.JAVA_INT, UMEM_REG_TX_METADATA, config.txMetadataBytes());
        }
        option(XDP_UMEM_REG, scratch.address(), UMEM_REG_BYTES, "XDP_UMEM_REG, " + umem.byteSize() + " bytes");
    }

    private void option(int option, long address, int length, String what) throws LinuxException {
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), SOL_XDP, option, address, length, 0),
                "setsockopt(AF_XDP, " + what + ")");
    }

    /** struct xdp_mmap_offsets, copied out of the scratch memory. */
    private MemorySegment offsets(Arena arena) throws LinuxException {
        String call = "getsockopt(XDP_MMAP_OFFSETS)";
        Native.Scratch scratch = Native.scratch(); // the offsets at 0, their length after them
        scratch.memory().set(ValueLayout.JAVA_INT, OFFSETS_BYTES, OFFSETS_BYTES);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd.value(), SOL_XDP, XDP_MMAP_OFFSETS, scratch.address(),
                scratch.address() + OFFSETS_BYTES, 0), call);
        if (scratch.memory().get(ValueLayout.JAVA_INT, OFFSETS_BYTES) != OFFSETS_BYTES) {
            throw new LinuxException(call, Errno.EOPNOTSUPP, "Linux 5.4 or newer is needed");
        }
        return arena.allocate(OFFSETS_BYTES, 8).copyFrom(scratch.memory().asSlice(0, OFFSETS_BYTES));
    }

    /**
     * Binds the socket to a queue.
     *
     * @param ifindex the interface, in the socket's network namespace
     * @param queue from 0
     * @param flags {@link #XDP_COPY}, {@link #XDP_ZEROCOPY}, or neither for the best mode of the interface;
     *        {@link #XDP_USE_NEED_WAKEUP}, {@link #XDP_USE_SG}. With the memory of another socket, 0: its flags apply
     * @throws LinuxException {@code EBUSY} (a socket with other memory has the queue, or had it a moment ago),
     *         {@code ENODEV}, {@code EINVAL} (no such queue), {@code EOPNOTSUPP} (not in that mode), {@code ENETDOWN}
     */
    public void bind(int ifindex, int queue, int flags) throws LinuxException {
        Args.requireBetween(ifindex, 1, Integer.MAX_VALUE, "the index of an interface");
        Args.requireBetween(queue, 0, Integer.MAX_VALUE, "a queue");
        if ((flags & ~BIND_FLAGS) != 0 || (flags & (XDP_COPY | XDP_ZEROCOPY)) == (XDP_COPY | XDP_ZEROCOPY)) {
            throw new IllegalArgumentException("not flags of a binding: 0x" + Integer.toHexString(flags));
        }
        int number = fd.value();
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory().asSlice(0, SOCKADDR_BYTES).fill((byte) 0);
        memory.set(ValueLayout.JAVA_SHORT, 0, (short) AF_XDP);
        memory.set(ValueLayout.JAVA_SHORT, 2, (short) (owner == null ? flags : flags | XDP_SHARED_UMEM));
        memory.set(ValueLayout.JAVA_INT, SOCKADDR_IFINDEX, ifindex);
        memory.set(ValueLayout.JAVA_INT, SOCKADDR_QUEUE, queue);
        if (owner != null) {
            memory.set(ValueLayout.JAVA_INT, SOCKADDR_SHARED_FD, owner.fd.value());
        }
        Args.check(Native.call(SyscallNumber.BIND, number, scratch.address(), SOCKADDR_BYTES),
                "bind(AF_XDP, interface " + ifindex + ", queue " + queue + ")");
    }

    private void requireChunk(long address, int length) {
        Objects.checkFromIndexSize(address, length, umem.byteSize());
        int chunkBytes = config.chunkBytes();
        if (address / chunkBytes != (address + Math.max(1, length) - 1) / chunkBytes) {
            throw new IndexOutOfBoundsException("a packet lies within one chunk: " + address + ", " + length);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the socket is closed");
        }
    }

    /**
     * Passes a chunk to the kernel, for a packet to receive.
     *
     * @param address any address in the chunk
     * @return false if the ring is full
     */
    public boolean fill(long address) {
        requireOpen();
        requireChunk(address, 0);
        if (!fill.reserve(1)) {
            return false;
        }
        fill.putAddress(0, address);
        fill.publish(1);
        return true;
    }

    /**
     * Receives the next packet that has arrived.
     *
     * @return its bytes, in a chunk that belongs to the caller again; null if there is none. The kernel's values are
     *         checked: a packet outside the memory is an {@link IndexOutOfBoundsException}
     */
    public @Nullable MemorySegment receive() {
        requireOpen();
        if (receive.available() == 0) {
            return null;
        }
        long address = receive.address(0);
        int length = (int) receive.lengthAndOptions(0);
        receive.release(1);
        return umem.asSlice(address, length);
    }

    /**
     * Queues a packet to be sent by {@link #kick}.
     *
     * @param address its first byte
     * @param length bytes, 1 or more, within one chunk
     * @return false if the ring is full
     */
    public boolean transmit(long address, int length) {
        requireOpen();
        Args.requireBetween(length, 1, config.chunkBytes(), "the length of a packet");
        requireChunk(address, length);
        if (!transmit.reserve(1)) {
            return false;
        }
        transmit.putDescriptor(0, address, length, 0);
        transmit.publish(1);
        return true;
    }

    /**
     * Lets the kernel send the queued packets: sendto(2). Allocates nothing. Where that copies, one call sends at most
     * 32 descriptors ({@link #setTransmitBudget}).
     *
     * @return 0, or an errno: {@code EAGAIN} (call again), {@code EBUSY} (a packet was dropped), {@code ENOBUFS} (no
     *         memory now), {@code ENETDOWN}, {@code ENXIO} (not bound, or the interface is gone), {@code EBADF} (closed)
     */
    public int kick() {
        long result = Native.callRepeatable(SyscallNumber.SENDTO, fd.valueOrNegative(), 0, 0, MSG_DONTWAIT, 0, 0);
        return result < 0 ? (int) -result : 0;
    }

    /**
     * Lets the kernel look into the FILL ring, where {@link XskRing#needsWakeUp} asks for it: recvfrom(2). Allocates
     * nothing.
     *
     * @return as {@link #kick}
     */
    public int wakeReceive() {
        long result = Native.callRepeatable(SyscallNumber.RECVFROM, fd.valueOrNegative(), 0, 0, MSG_DONTWAIT, 0, 0);
        return result < 0 ? (int) -result : 0;
    }

    /** The ring of chunks for packets to come, of which this process is the producer. */
    public XskRing fillRing() {
        return fill;
    }

    /** The ring of chunks whose packets were sent, of which this process is the consumer. */
    public XskRing completionRing() {
        return completion;
    }

    /** The ring of packets that have arrived, of which this process is the consumer. */
    public XskRing receiveRing() {
        return receive;
    }

    /** The ring of packets to send, of which this process is the producer; {@link #kick} has the kernel send them. */
    public XskRing transmitRing() {
        return transmit;
    }

    /** Whether the memory is that of another socket. */
    public boolean isShared() {
        return owner != null;
    }

    /** The lengths that the socket was opened with. */
    public XskConfig config() {
        return config;
    }

    /**
     * What the kernel has counted, {@code XDP_STATISTICS}.
     *
     * @throws LinuxException {@code EINVAL}
     */
    public Statistics statistics() throws LinuxException {
        Native.Scratch scratch = Native.scratch(); // the counts at 0, their length after them
        MemorySegment memory = scratch.memory().asSlice(0, STATISTICS_BYTES + Integer.BYTES).fill((byte) 0);
        get(XDP_STATISTICS, STATISTICS_BYTES, "getsockopt(XDP_STATISTICS)");
        long[] counts = memory.asSlice(0, STATISTICS_BYTES).toArray(ValueLayout.JAVA_LONG);
        return new Statistics(counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
    }

    /**
     * Whether the interface uses the memory directly, {@code XDP_OPTIONS}; after {@link #bind}.
     *
     * @throws LinuxException {@code EINVAL}
     */
    public boolean isZeroCopy() throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        get(XDP_OPTIONS, Integer.BYTES, "getsockopt(XDP_OPTIONS)");
        return (scratch.memory().get(ValueLayout.JAVA_INT, 0) & XDP_OPTIONS_ZEROCOPY) != 0;
    }

    private void get(int option, int length, String call) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, length, length);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd.value(), SOL_XDP, option, scratch.address(),
                scratch.address() + length, 0), call);
    }

    /**
     * How many descriptors a {@link #kick} sends at most where packets are copied, {@code XDP_MAX_TX_SKB_BUDGET}.
     *
     * @param descriptors 32 to the length of the TX ring
     * @throws LinuxException {@code EINVAL}, {@code ENOPROTOOPT} (the kernel does not have the option)
     */
    public void setTransmitBudget(int descriptors) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, descriptors);
        option(XDP_MAX_TX_SKB_BUDGET, scratch.address(), Integer.BYTES, "XDP_MAX_TX_SKB_BUDGET, " + descriptors);
    }

    /**
     * Takes back a chunk whose packet was sent.
     *
     * @return the packet's address, or -1 if there is none
     */
    public long completed() {
        requireOpen();
        if (completion.available() == 0) {
            return -1;
        }
        long address = completion.address(0);
        completion.release(1);
        return Objects.checkIndex(address, umem.byteSize());
    }

    /**
     * The socket's descriptor: a value of a {@link BpfMap#BPF_MAP_TYPE_XSKMAP}; readable when packets have arrived.
     *
     * @return owned by this object
     */
    public Fd fd() {
        return fd;
    }

    /** Releases the queue, which takes effect a little later. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (XskRing ring : new XskRing[] {fill, completion, receive, transmit}) {
            try {
                if (owner == null || ring != owner.fill && ring != owner.completion) {
                    ring.close();
                }
            } catch (LinuxException e) {
                // too many mappings: the queue is released when the garbage collector has found the ring
            }
        }
        fd.close();
    }
}
