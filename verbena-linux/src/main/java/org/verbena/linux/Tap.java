// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A network interface whose other end is this process: TAP for Ethernet frames, TUN for IP packets, each behind a
 * {@link VnetHeader}; {@code /dev/net/tun}. What the kernel sends on the interface is received here, and the reverse.
 * Calls do not wait.
 *
 * <p>To make an interface needs CAP_NET_ADMIN; to use one that was made for the user before
 * ({@code ip tuntap add dev NAME mode tap user USER}) needs nothing but access to {@code /dev/net/tun}.
 *
 * <p>One thread at a time sends, and one receives. The interface is in the network namespace of the thread that opened
 * it.
 */
public final class Tap implements AutoCloseable {
    static final int TUNSETIFF = 0x400454ca;
    static final int TUNSETPERSIST = 0x400454cb;
    static final int TUNSETOFFLOAD = 0x400454d0;
    static final int TUNSETVNETHDRSZ = 0x400454d8;
    static final int IFF_TUN = 0x0001;
    static final int IFF_TAP = 0x0002;
    static final int IFF_NO_PI = 0x1000;
    static final int IFF_VNET_HDR = 0x4000;
    static final int TUN_F_CSUM = 0x01;
    static final int TUN_F_TSO4 = 0x02;
    static final int TUN_F_TSO6 = 0x04;
    static final int TUN_F_TSO_ECN = 0x08;
    private static final int IFREQ_FLAGS = 16;
    private static final int MAX_NAME = 15;

    private final Fd fd;
    private final String name;

    private Tap(Fd fd, String name) {
        this.fd = fd;
        this.name = name;
    }

    /**
     * Opens an interface for Ethernet frames, or makes it: it then exists until it is closed.
     *
     * @param name at most 15 bytes; a {@code %d} in it is replaced by a free number
     * @return the interface, switched off if it is new
     * @throws LinuxException {@code EPERM} (it is not the user's, or CAP_NET_ADMIN is missing), {@code EACCES}
     *         ({@code /dev/net/tun}), {@code EBUSY} (another process has it), {@code EINVAL} (it is of another kind),
     *         {@code ENOENT} (the kernel has none)
     */
    public static Tap openTap(String name) throws LinuxException {
        return open(name, IFF_TAP);
    }

    /**
     * The same for IP packets.
     *
     * @throws LinuxException as {@link #openTap}
     */
    public static Tap openTun(String name) throws LinuxException {
        return open(name, IFF_TUN);
    }

    private static Tap open(String name, int kind) throws LinuxException {
        byte[] bytes = Args.name(name, MAX_NAME, "the name of an interface");
        Fd fd = PosixFile.open(TapSettings.DEVICE, PosixFile.O_RDWR | PosixFile.O_NONBLOCK, 0);
        try {
            Native.Scratch scratch = Native.scratch();
            MemorySegment request = scratch.memory().asSlice(0, EthtoolFeatures.IFREQ_BYTES).fill((byte) 0);
            MemorySegment.copy(bytes, 0, request, ValueLayout.JAVA_BYTE, 0, bytes.length);
            request.set(ValueLayout.JAVA_SHORT, IFREQ_FLAGS, (short) (kind | IFF_NO_PI | IFF_VNET_HDR));
            Args.check(Native.call(SyscallNumber.IOCTL, fd.value(), TUNSETIFF, scratch.address()),
                    "ioctl(TUNSETIFF, \"" + name + "\")");
            byte[] given = request.asSlice(0, MAX_NAME).toArray(ValueLayout.JAVA_BYTE);
            int length = 0;
            while (length < given.length && given[length] != 0) {
                length++;
            }
            request.set(ValueLayout.JAVA_INT, 0, VnetHeader.BYTES);
            Args.check(Native.call(SyscallNumber.IOCTL, fd.value(), TUNSETVNETHDRSZ, scratch.address()),
                    "ioctl(TUNSETVNETHDRSZ)");
            return new Tap(fd, new String(given, 0, length, StandardCharsets.UTF_8));
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    /**
     * Says what this process takes off the kernel: packets without a checksum ({@link VnetHeader#NEEDS_CSUM}) and, only
     * with that, TCP data of up to 64 KiB that are not cut into segments.
     *
     * @throws LinuxException {@code EINVAL}
     */
    public void setOffloads(boolean checksums, boolean segments) throws LinuxException {
        int flags = checksums ? TUN_F_CSUM | (segments ? TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN : 0) : 0;
        Args.check(Native.call(SyscallNumber.IOCTL, fd.value(), TUNSETOFFLOAD, flags), "ioctl(TUNSETOFFLOAD)");
    }

    /**
     * Whether the interface stays when it is closed.
     *
     * @throws LinuxException {@code EPERM}
     */
    public void setPersistent(boolean stays) throws LinuxException {
        Args.check(Native.call(SyscallNumber.IOCTL, fd.value(), TUNSETPERSIST, stays ? 1 : 0), "ioctl(TUNSETPERSIST)");
    }

    /**
     * Gives the kernel a packet: writev(2).
     *
     * @param packet a {@link VnetHeader}, then the packet
     * @return the bytes of both, or minus errno: {@code EAGAIN} (no room now), {@code EINVAL} (the header does not fit
     *         the packet, or that is too short), {@code EIO} (the interface is down), {@code EBADF} (closed)
     */
    public long send(IoVectors packet) {
        return packet.write(fd);
    }

    /**
     * Takes a packet that the kernel has sent: readv(2). What does not fit is cut off.
     *
     * @param into room for a {@link VnetHeader}, then the packet
     * @return the bytes of both, or minus errno: {@code EAGAIN} (there is none), {@code EBADFD} (the interface is gone),
     *         {@code EBADF} (closed)
     */
    public long receive(IoVectors into) {
        return into.read(fd);
    }

    /** The interface's name. */
    public String name() {
        return name;
    }

    /** The descriptor, readable when a packet has come; owned by this object. */
    public Fd fd() {
        return fd;
    }

    /** Takes the interface away, unless it is persistent. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
