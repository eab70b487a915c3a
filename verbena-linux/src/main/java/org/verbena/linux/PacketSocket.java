// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A socket for whole Ethernet frames of an interface, with a {@link VnetHeader} before each: packet(7),
 * {@code PACKET_VNET_HDR}. Unlike {@link Xsk} it sends frames of up to 64 KiB, which the kernel or the interface cuts
 * into segments. Calls do not wait.
 *
 * <p>One thread at a time sends, and one receives. The socket belongs to the network namespace of the thread that opened
 * it.
 */
public final class PacketSocket implements AutoCloseable {
    static final int AF_PACKET = 17;
    static final int SOL_PACKET = 263;
    static final int PACKET_VNET_HDR = 15;
    static final int PACKET_IGNORE_OUTGOING = 23;
    static final int ETH_P_ALL = 3;
    /** struct sockaddr_ll: family 0, protocol 2 (network order), ifindex 4. */
    static final int SOCKADDR_BYTES = 20;
    static final int SOCKADDR_IFINDEX = 4;
    /** The longest frame, with its headers. */
    public static final int MAX_FRAME = 65_549;

    private final Fd fd;

    private PacketSocket(Fd fd) {
        this.fd = fd;
    }

    /**
     * Opens a socket on an interface.
     *
     * @param ifindex the interface, in the calling thread's network namespace
     * @param receives false for a socket that only sends, to which the kernel copies nothing; true for all frames that
     *        the interface receives, but not those that are sent from here
     * @throws LinuxException {@code EPERM} (CAP_NET_RAW is missing), {@code ENODEV}, {@code ENETDOWN}
     */
    public static PacketSocket open(int ifindex, boolean receives) throws LinuxException {
        Args.requireBetween(ifindex, 1, Integer.MAX_VALUE, "the index of an interface");
        Fd fd = Fd.ofResult(Native.call(SyscallNumber.SOCKET, AF_PACKET, Netlink.SOCK_RAW | UnixSocket.SOCK_CLOEXEC
                | UnixSocket.SOCK_NONBLOCK, 0), "socket(AF_PACKET)");
        try {
            option(fd, PACKET_VNET_HDR, "PACKET_VNET_HDR");
            if (receives) {
                option(fd, PACKET_IGNORE_OUTGOING, "PACKET_IGNORE_OUTGOING");
            }
            Native.Scratch scratch = Native.scratch();
            MemorySegment address = scratch.memory().asSlice(0, SOCKADDR_BYTES).fill((byte) 0);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_PACKET);
            address.set(ValueLayout.JAVA_SHORT, 2, receives ? Short.reverseBytes((short) ETH_P_ALL) : 0);
            address.set(ValueLayout.JAVA_INT, SOCKADDR_IFINDEX, ifindex);
            Args.check(Native.call(SyscallNumber.BIND, fd.value(), scratch.address(), SOCKADDR_BYTES),
                    "bind(AF_PACKET, interface " + ifindex + ")");
            return new PacketSocket(fd);
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    private static void option(Fd fd, int option, String name) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, 1);
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), SOL_PACKET, option, scratch.address(), 4, 0),
                "setsockopt(" + name + ")");
    }

    /**
     * Sends a frame: writev(2).
     *
     * @param frame a {@link VnetHeader}, then the frame
     * @return the bytes of both, or minus errno: {@code EAGAIN} or {@code ENOBUFS} (no room now), {@code EMSGSIZE},
     *         {@code EINVAL} (the header does not fit the frame), {@code ENETDOWN}, {@code ENXIO} (the interface is gone),
     *         {@code EBADF} (closed)
     */
    public long send(IoVectors frame) {
        return frame.write(fd);
    }

    /**
     * Receives a frame: readv(2). What does not fit is cut off.
     *
     * @param into room for a {@link VnetHeader}, then the frame
     * @return the bytes of both, or minus errno: {@code EAGAIN} (there is none), {@code ENETDOWN}, {@code EBADF}
     *         (closed)
     */
    public long receive(IoVectors into) {
        return into.read(fd);
    }

    /** The socket's descriptor, readable when a frame has arrived; owned by this object. */
    public Fd fd() {
        return fd;
    }

    /** Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
