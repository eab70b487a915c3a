// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** The network interface that a socket is bound to: {@code SO_BINDTODEVICE}, socket(7). Stateless and thread-safe. */
public final class BoundDevice {
    private static final int SOL_SOCKET = 1;
    private static final int SO_BINDTODEVICE = 25;

    /** IFNAMSIZ without the zero at the end. */
    private static final int MAX_NAME = 15;

    private BoundDevice() {}

    /**
     * Binds a socket to an interface.
     *
     * @param fd a socket, which the caller keeps and closes
     * @param name of the interface; empty for any
     * @throws IllegalArgumentException if no interface can have that name
     * @throws LinuxException {@code ENODEV} if there is none; {@code EPERM} without {@code CAP_NET_RAW} if the socket
     *         was bound to another
     */
    public static void set(int fd, String name) throws LinuxException {
        byte[] bytes = Args.name(name, MAX_NAME, "the name of a network interface");
        Native.Scratch scratch = Native.scratch();
        MemorySegment.copy(bytes, 0, scratch.memory(), ValueLayout.JAVA_BYTE, 0, bytes.length);
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd, SOL_SOCKET, SO_BINDTODEVICE, scratch.address(),
                bytes.length, 0),
                "setsockopt(SO_BINDTODEVICE, '" + name + "')");
    }

    /**
     * The interface that a socket is bound to.
     *
     * @param fd a socket, which the caller keeps and closes
     * @return its name, empty for any
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}
     */
    public static String get(int fd) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // the name at 0, its length after it
        int room = MAX_NAME + 1;
        memory.set(ValueLayout.JAVA_INT, room, room);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd, SOL_SOCKET, SO_BINDTODEVICE, scratch.address(),
                scratch.address() + room, 0), "getsockopt(SO_BINDTODEVICE)");
        int length = memory.get(ValueLayout.JAVA_INT, room);
        byte[] bytes = new byte[Math.max(0, length - 1)]; // terminated by NUL
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
