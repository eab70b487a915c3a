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
 * the kernel from {@link #fill} to {@link #receive} and from {@link #transmit} to {@link #completed}.
 *
 * <p>One thread at a time uses an object. The socket belongs to the network namespace of the thread that opened it.
 */
public final class Xsk implements AutoCloseable {
    /** Packets are copied between the interface and the memory. */
    public static final int XDP_COPY = 2;
    /** The interface uses the memory directly, or binding fails. */
    public static final int XDP_ZEROCOPY = 4;

    static final int AF_XDP = 44;
    static final int SOL_XDP = 283;
    static final int XDP_MMAP_OFFSETS = 1;
    static final int XDP_RX_RING = 2;
    static final int XDP_TX_RING = 3;
    static final int XDP_UMEM_REG = 4;
    static final int XDP_UMEM_FILL_RING = 5;
    static final int XDP_UMEM_COMPLETION_RING = 6;
    static final long XDP_PGOFF_RX_RING = 0;
    static final long XDP_PGOFF_TX_RING = 0x8000_0000L;
    static final long XDP_UMEM_PGOFF_FILL_RING = 0x1_0000_0000L;
    static final long XDP_UMEM_PGOFF_COMPLETION_RING = 0x1_8000_0000L;
    /** struct xdp_umem_reg: addr 0, len 8, chunk_size 16, headroom 20, flags 24. */
    static final int UMEM_REG_BYTES = 32;
    static final int UMEM_REG_LEN = 8;
    static final int UMEM_REG_CHUNK_SIZE = 16;
    /** struct xdp_mmap_offsets: rx 0, tx 32, fr 64, cr 96. */
    static final int OFFSETS_BYTES = 128;
    static final int OFFSETS_TX = 32;
    static final int OFFSETS_FILL = 64;
    static final int OFFSETS_COMPLETION = 96;
    /** struct sockaddr_xdp: family 0, flags 2, ifindex 4, queue_id 8, shared_umem_fd 12. */
    static final int SOCKADDR_BYTES = 16;
    static final int SOCKADDR_IFINDEX = 4;
    static final int SOCKADDR_QUEUE = 8;

    static final int MSG_DONTWAIT = 0x40;
    private static final int MIN_CHUNK = 2048;
    private static final int MAX_ENTRIES = 1 << 16;

    private final Fd fd;
    private final MemorySegment umem;
    private final int chunkBytes;
    private final XskRing fill;
    private final XskRing completion;
    private final XskRing receive;
    private final XskRing transmit;
    private boolean closed;

    private Xsk(Fd fd, MemorySegment umem, int chunkBytes, int entries) throws LinuxException {
        this.fd = fd;
        this.umem = umem;
        this.chunkBytes = chunkBytes;
        register();
        for (int ring : new int[] {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING}) {
            Native.Scratch scratch = Native.scratch();
            scratch.memory().set(ValueLayout.JAVA_INT, 0, entries);
            option(ring, scratch.address(), 4, "ring " + ring + ", " + entries + " entries");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment offsets = offsets(arena);
            int address = XskRing.ADDRESS_BYTES;
            int descriptor = XskRing.DESCRIPTOR_BYTES;
            receive = new XskRing(fd, XDP_PGOFF_RX_RING, offsets, 0, entries, descriptor);
            transmit = new XskRing(fd, XDP_PGOFF_TX_RING, offsets, OFFSETS_TX, entries, descriptor);
            fill = new XskRing(fd, XDP_UMEM_PGOFF_FILL_RING, offsets, OFFSETS_FILL, entries, address);
            completion = new XskRing(fd, XDP_UMEM_PGOFF_COMPLETION_RING, offsets, OFFSETS_COMPLETION, entries, address);
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
     * @throws LinuxException {@code EPERM} (CAP_NET_RAW is missing), {@code EAFNOSUPPORT} (the kernel does not have
     *         it), {@code ENOBUFS} (more than RLIMIT_MEMLOCK), {@code EOPNOTSUPP} (Linux 5.4 is needed), {@code ENOMEM}
     */
    public static Xsk open(Mapping memory, int chunkBytes, int entries) throws LinuxException {
        Args.requireBetween(chunkBytes, MIN_CHUNK, Sys.pageSize(), "the length of a chunk");
        Args.requireBetween(entries, 1, MAX_ENTRIES, "the length of a ring");
        if (Integer.bitCount(chunkBytes) != 1 || Integer.bitCount(entries) != 1 || memory.length() % chunkBytes != 0) {
            throw new IllegalArgumentException("not powers of two that divide the memory of " + memory.length()
                    + " bytes: chunks of " + chunkBytes + ", rings of " + entries);
        }
        Args.requireWritable(memory.segment(), "the memory");
        Fd fd = Fd.ofResult(Native.call(SyscallNumber.SOCKET, AF_XDP, Netlink.SOCK_RAW | UnixSocket.SOCK_CLOEXEC, 0),
                "socket(AF_XDP)");
        try {
            return new Xsk(fd, memory.segment(), chunkBytes, entries);
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    private void register() throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory().asSlice(0, UMEM_REG_BYTES).fill((byte) 0);
        memory.set(ValueLayout.JAVA_LONG, 0, umem.address());
        memory.set(ValueLayout.JAVA_LONG, UMEM_REG_LEN, umem.byteSize());
        memory.set(ValueLayout.JAVA_INT, UMEM_REG_CHUNK_SIZE, chunkBytes);
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
     * @param flags {@link #XDP_COPY}, {@link #XDP_ZEROCOPY}, or 0 for the best mode of the interface
     * @throws LinuxException {@code EBUSY} (another socket has the queue), {@code ENODEV}, {@code EINVAL} (no such
     *         queue), {@code EOPNOTSUPP} (not in that mode), {@code ENETDOWN}
     */
    public void bind(int ifindex, int queue, int flags) throws LinuxException {
        Args.requireBetween(ifindex, 1, Integer.MAX_VALUE, "the index of an interface");
        Args.requireBetween(queue, 0, Integer.MAX_VALUE, "a queue");
        Args.requireBetween(flags, 0, XDP_COPY | XDP_ZEROCOPY, "the flags of a binding");
        int number = fd.value();
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory().asSlice(0, SOCKADDR_BYTES).fill((byte) 0);
        memory.set(ValueLayout.JAVA_SHORT, 0, (short) AF_XDP);
        memory.set(ValueLayout.JAVA_SHORT, 2, (short) flags);
        memory.set(ValueLayout.JAVA_INT, SOCKADDR_IFINDEX, ifindex);
        memory.set(ValueLayout.JAVA_INT, SOCKADDR_QUEUE, queue);
        Args.check(Native.call(SyscallNumber.BIND, number, scratch.address(), SOCKADDR_BYTES),
                "bind(AF_XDP, interface " + ifindex + ", queue " + queue + ")");
    }

    private void requireChunk(long address, int length) {
        Objects.checkFromIndexSize(address, length, umem.byteSize());
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
        return fill.offer(address, 0);
    }

    /**
     * Receives the next packet that has arrived.
     *
     * @return its bytes, in a chunk that belongs to the caller again; null if there is none. The kernel's values are
     *         checked: a packet outside the memory is an {@link IndexOutOfBoundsException}
     */
    public @Nullable MemorySegment receive() {
        requireOpen();
        if (!receive.isReady()) {
            return null;
        }
        long address = receive.address();
        int length = receive.length();
        receive.release();
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
        Args.requireBetween(length, 1, chunkBytes, "the length of a packet");
        requireChunk(address, length);
        return transmit.offer(address, length);
    }

    /**
     * Lets the kernel send the queued packets.
     *
     * @return 0, or an errno: {@code EAGAIN} (call again), {@code EBUSY} (a packet was dropped), {@code ENETDOWN},
     *         {@code ENXIO} (not bound)
     */
    public int kick() {
        requireOpen();
        long result = Native.call(SyscallNumber.SENDTO, fd.value(), 0, 0, MSG_DONTWAIT, 0, 0);
        return result < 0 ? (int) -result : 0;
    }

    /**
     * Takes back a chunk whose packet was sent.
     *
     * @return the packet's address, or -1 if there is none
     */
    public long completed() {
        requireOpen();
        if (!completion.isReady()) {
            return -1;
        }
        long address = completion.address();
        completion.release();
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
                ring.close();
            } catch (LinuxException e) {
                // too many mappings: the queue is released when the garbage collector has found the ring
            }
        }
        fd.close();
    }
}
