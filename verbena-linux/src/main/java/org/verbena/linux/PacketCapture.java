// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A program that sees copies of all packets that an interface receives and sends, and a ring for those that it chooses:
 * packet(7), {@code SO_ATTACH_BPF}, {@code TPACKET_V3}. It changes nothing of what happens to the packets. The kernel
 * takes all of it away with the socket's last descriptor, however the process ends.
 *
 * <p>The program, of {@link Bpf#BPF_PROG_TYPE_SOCKET_FILTER}, sees the packet from its Ethernet header on and returns how
 * many bytes of it the ring gets, 0 for none. What an XDP program takes or drops does not come here, and neither does
 * what an AF_XDP socket sends. Used by one thread.
 */
public final class PacketCapture implements AutoCloseable {
    static final int PACKET_RX_RING = 5;
    static final int PACKET_STATISTICS = 6;
    static final int PACKET_VERSION = 10;
    static final int TPACKET_V3 = 2;
    /** Reserved by RFC 1701: no frame has it. */
    private static final int ETHER_TYPE_NONE = 0xFFFF;
    static final int SOL_SOCKET = 1;
    static final int SO_ERROR = 4;
    static final int SO_ATTACH_BPF = 50;
    static final int TP_STATUS_KERNEL = 0;
    static final int TP_STATUS_USER = 1;
    static final int TP_STATUS_VLAN_VALID = 16;
    static final int TP_STATUS_VLAN_TPID_VALID = 64;
    /** struct tpacket_req3: block size 0, blocks 4, frame size 8, frames 12, time-out 16, private 20, features 24. */
    static final int REQUEST_BYTES = 28;
    /** struct tpacket_stats_v3: packets 0, drops 4, freezes 8. */
    static final int STATISTICS_BYTES = 12;
    static final int BLOCK_STATUS = 8;
    static final int BLOCK_PACKETS = 12;
    static final int BLOCK_FIRST = 16;
    static final int PACKET_NEXT = 0;
    static final int PACKET_SECONDS = 4;
    static final int PACKET_NANOS = 8;
    static final int PACKET_SNAPLEN = 12;
    static final int PACKET_LENGTH = 16;
    static final int PACKET_STATUS = 20;
    static final int PACKET_MAC = 24;
    static final int PACKET_VLAN_TCI = 32;
    static final int PACKET_VLAN_TPID = 36;

    /** A ring's length is a multiple of this. */
    public static final int BLOCK_BYTES = 1 << 20;
    /** A block is handed over when it is full, or as old as this. */
    public static final int BLOCK_MILLIS = 50;
    private static final int MAX_BLOCKS = 1024;
    private static final int FRAME_BYTES = 2048;
    private static final int TPID_VLAN = 0x8100;
    private static final VarHandle STATUS = ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();

    /** Takes packets out of the ring. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * A packet.
         *
         * @param seconds when it came or went, since 1970
         * @param nanos the rest of that time
         * @param tag the VLAN tag that is kept beside the packet, in its two halves the EtherType of tags and the tag; 0
         *        for none
         * @param length how long the packet is; as much of it as the program wanted is in {@code bytes}
         * @param bytes valid during this call
         */
        void packet(long seconds, int nanos, int tag, int length, MemorySegment bytes) throws IOException;
    }

    private final Fd fd;
    private final int ifindex;
    private final @Nullable Mapping mapping;
    private final @Nullable MemorySegment ring;
    private final int blocks;
    private int block;
    private long lost;

    private PacketCapture(Fd fd, int ifindex, @Nullable Mapping mapping, int blocks) {
        this.fd = fd;
        this.ifindex = ifindex;
        this.mapping = mapping;
        ring = mapping == null ? null : mapping.segment();
        this.blocks = blocks;
    }

    /**
     * Begins.
     *
     * @param ifindex the interface, in the calling thread's network namespace; it may be down
     * @param program of {@link Bpf#BPF_PROG_TYPE_SOCKET_FILTER}; not needed afterwards
     * @param ringBytes a multiple of {@link #BLOCK_BYTES}, at most 1 GiB; 0 if the program always returns 0
     * @throws LinuxException {@code EPERM} (CAP_NET_RAW is missing), {@code ENODEV}, {@code ENOMEM}, {@code EINVAL} (a
     *         program of another type)
     */
    public static PacketCapture open(int ifindex, Fd program, int ringBytes) throws LinuxException {
        Args.requireBetween(ifindex, 1, Integer.MAX_VALUE, "the index of an interface");
        Args.requireBetween(ringBytes, 0, MAX_BLOCKS * BLOCK_BYTES, "the length of the ring");
        if (ringBytes % BLOCK_BYTES != 0) {
            throw new IllegalArgumentException("the length of the ring, " + ringBytes + ", is not a multiple of "
                    + BLOCK_BYTES);
        }
        Fd fd = Fd.ofResult(Native.call(SyscallNumber.SOCKET, PacketSocket.AF_PACKET, Netlink.SOCK_RAW
                | UnixSocket.SOCK_CLOEXEC | UnixSocket.SOCK_NONBLOCK, 0), "socket(AF_PACKET)");
        Mapping ring = null;
        try {
            ring = ringBytes == 0 ? null : ring(fd, ringBytes);
            option(fd, SOL_SOCKET, SO_ATTACH_BPF, program.value(), "SO_ATTACH_BPF");
            bind(fd, ifindex, PacketSocket.ETH_P_ALL); // only now: each packet meets the program
            return new PacketCapture(fd, ifindex, ring, ringBytes / BLOCK_BYTES);
        } catch (LinuxException | RuntimeException e) {
            close(fd, ring);
            throw e;
        }
    }

    /** A mapping keeps the socket, and with it the program, as the descriptor does. */
    private static void close(Fd fd, @Nullable Mapping ring) {
        fd.close();
        if (ring != null) {
            try {
                ring.discard();
            } catch (LinuxException e) {
                // the garbage collector unmaps it
            }
        }
    }

    private static Mapping ring(Fd fd, int bytes) throws LinuxException {
        option(fd, PacketSocket.SOL_PACKET, PACKET_VERSION, TPACKET_V3, "PACKET_VERSION");
        Native.Scratch scratch = Native.scratch();
        MemorySegment request = scratch.memory().asSlice(0, REQUEST_BYTES).fill((byte) 0);
        request.set(ValueLayout.JAVA_INT, 0, BLOCK_BYTES);
        request.set(ValueLayout.JAVA_INT, 4, bytes / BLOCK_BYTES);
        request.set(ValueLayout.JAVA_INT, 8, FRAME_BYTES);
        request.set(ValueLayout.JAVA_INT, 12, bytes / FRAME_BYTES);
        request.set(ValueLayout.JAVA_INT, 16, BLOCK_MILLIS);
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), PacketSocket.SOL_PACKET, PACKET_RX_RING, scratch
                .address(), REQUEST_BYTES, 0), "setsockopt(PACKET_RX_RING, " + bytes + " bytes)");
        return Mapping.map(fd, 0, bytes, true);
    }

    private static void bind(Fd fd, int ifindex, int type) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment address = scratch.memory().asSlice(0, PacketSocket.SOCKADDR_BYTES).fill((byte) 0);
        address.set(ValueLayout.JAVA_SHORT, 0, (short) PacketSocket.AF_PACKET);
        address.set(ValueLayout.JAVA_SHORT, 2, Short.reverseBytes((short) type));
        address.set(ValueLayout.JAVA_INT, PacketSocket.SOCKADDR_IFINDEX, ifindex);
        Args.check(Native.call(SyscallNumber.BIND, fd.value(), scratch.address(), PacketSocket.SOCKADDR_BYTES),
                "bind(AF_PACKET, interface " + ifindex + ")");
    }

    private static void option(Fd fd, int level, int option, int value, String name) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, value);
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), level, option, scratch.address(), 4, 0),
                "setsockopt(" + name + ")");
    }

    /**
     * Takes what is in the ring; each block once, so that it ends however many come.
     *
     * @return how many packets; 0 also without a ring
     * @throws IOException the visitor's, after which the rest of a block is lost
     */
    public long read(Visitor visitor) throws IOException {
        long n = 0;
        MemorySegment all = ring;
        for (int i = 0; all != null && i < blocks; i++) {
            MemorySegment b = all.asSlice((long) block * BLOCK_BYTES, BLOCK_BYTES);
            if (((int) STATUS.getAcquire(b, (long) BLOCK_STATUS) & TP_STATUS_USER) == 0) {
                break;
            }
            try {
                n += packets(b, visitor);
            } finally {
                STATUS.setRelease(b, (long) BLOCK_STATUS, TP_STATUS_KERNEL);
                block = (block + 1) % blocks;
            }
        }
        return n;
    }

    private static int packets(MemorySegment b, Visitor visitor) throws IOException {
        int count = b.get(ValueLayout.JAVA_INT, BLOCK_PACKETS);
        long at = Integer.toUnsignedLong(b.get(ValueLayout.JAVA_INT, BLOCK_FIRST));
        for (int i = 0; i < count; i++) {
            int status = b.get(ValueLayout.JAVA_INT, at + PACKET_STATUS);
            int tag = 0;
            if ((status & TP_STATUS_VLAN_VALID) != 0) {
                int type = (status & TP_STATUS_VLAN_TPID_VALID) != 0
                        ? Short.toUnsignedInt(b.get(ValueLayout.JAVA_SHORT, at + PACKET_VLAN_TPID))
                        : TPID_VLAN;
                tag = type << 16 | b.get(ValueLayout.JAVA_INT, at + PACKET_VLAN_TCI) & 0xFFFF;
            }
            long mac = Short.toUnsignedLong(b.get(ValueLayout.JAVA_SHORT, at + PACKET_MAC));
            visitor.packet(Integer.toUnsignedLong(b.get(ValueLayout.JAVA_INT, at + PACKET_SECONDS)), b.get(
                    ValueLayout.JAVA_INT, at + PACKET_NANOS), tag, b.get(ValueLayout.JAVA_INT, at + PACKET_LENGTH), b
                            .asSlice(at + mac, Integer.toUnsignedLong(b.get(ValueLayout.JAVA_INT, at
                                    + PACKET_SNAPLEN))).asReadOnly());
            at += Integer.toUnsignedLong(b.get(ValueLayout.JAVA_INT, at + PACKET_NEXT));
        }
        return count;
    }

    /**
     * Waits until the ring has packets.
     *
     * @param millis at most so long
     * @throws LinuxException {@code ENOMEM}
     */
    public void await(int millis) throws LinuxException {
        if ((Poll.await(fd, Poll.IN, millis) & Poll.ERR) != 0) {
            Native.Scratch scratch = Native.scratch(); // the interface went down: read, or each wait ends at once
            scratch.memory().set(ValueLayout.JAVA_INT, 4, 4);
            Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd.value(), SOL_SOCKET, SO_ERROR, scratch.address(),
                    scratch.address() + 4, 0), "getsockopt(SO_ERROR)");
        }
    }

    /**
     * Ends it: the program sees no more packets when this returns. What it has chosen until now can still be read, the
     * last of it {@link #BLOCK_MILLIS} later.
     *
     * @throws LinuxException {@code EBADF} (closed)
     */
    public void stop() throws LinuxException {
        try {
            bind(fd, ifindex, ETHER_TYPE_NONE);
        } catch (LinuxException e) {
            if (e.errno() != Errno.ENODEV) { // gone, which is an end, too
                throw e;
            }
        }
    }

    /**
     * How many packets found the ring full until now.
     *
     * @throws LinuxException {@code EBADF} (closed)
     */
    public long lost() throws LinuxException {
        if (ring == null) {
            return 0;
        }
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory();
        memory.set(ValueLayout.JAVA_INT, STATISTICS_BYTES, STATISTICS_BYTES);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd.value(), PacketSocket.SOL_PACKET, PACKET_STATISTICS, scratch
                .address(), scratch.address() + STATISTICS_BYTES, 0), "getsockopt(PACKET_STATISTICS)");
        lost += Integer.toUnsignedLong(memory.get(ValueLayout.JAVA_INT, 4)); // which the call sets to 0
        return lost;
    }

    /** Idempotent. */
    @Override
    public void close() {
        close(fd, mapping);
    }
}
