// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * {@code struct msghdr} of sendmsg(2) and recvmsg(2) with one buffer and descriptors (cmsg(3)), in a thread's scratch
 * memory:
 * <pre>
 *   0  msghdr   name 0, namelen 8, iov 16, iovlen 24, control 32, controllen 40, flags 48
 *  64  iovec    base 0, length 8
 * 128  control  cmsghdr (length 0, level 8, type 12), then the descriptors, 4 bytes each, from 16
 * </pre>
 */
final class UnixMessage {
    static final int MSG_CTRUNC = 0x8;
    static final int MSG_TRUNC = 0x20;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int MSG_CMSG_CLOEXEC = 0x40000000;
    static final int SCM_RIGHTS = 1;

    static final int MSGHDR_IOV = 16;
    static final int MSGHDR_IOVLEN = 24;
    static final int MSGHDR_CONTROL = 32;
    static final int MSGHDR_CONTROLLEN = 40;
    static final int MSGHDR_FLAGS = 48;
    static final int MSGHDR_BYTES = 56;
    static final int CMSG_LEVEL = 8;
    static final int CMSG_TYPE = 12;
    static final int CMSG_DATA = 16;

    /** The kernel's SCM_MAX_FD: space for all of them, so that a peer cannot make us lose track of one. */
    static final int KERNEL_MAX_FDS = 253;

    private static final int IOV = 64;
    private static final int CONTROL = 128;
    private static final int CONTROL_BYTES = align(CMSG_DATA + 4 * KERNEL_MAX_FDS);

    private UnixMessage() {}

    private static int align(int bytes) {
        return (bytes + 7) & ~7;
    }

    static void prepareSend(Native.Scratch scratch, long address, long length, int[] fds) {
        MemorySegment memory = scratch.memory();
        for (int i = 0; i < fds.length; i++) {
            if (fds[i] < 0) {
                throw new IllegalArgumentException("not a file descriptor: " + fds[i]);
            }
            memory.setAtIndex(ValueLayout.JAVA_INT, (CONTROL + CMSG_DATA) / 4 + i, fds[i]);
        }
        memory.set(ValueLayout.JAVA_LONG, CONTROL, CMSG_DATA + 4L * fds.length);
        memory.set(ValueLayout.JAVA_INT, CONTROL + CMSG_LEVEL, UnixSocket.SOL_SOCKET);
        memory.set(ValueLayout.JAVA_INT, CONTROL + CMSG_TYPE, SCM_RIGHTS);
        int controlBytes = fds.length == 0 ? 0 : align(CMSG_DATA + 4 * fds.length);
        header(scratch, address, length, controlBytes);
    }

    static void prepareReceive(Native.Scratch scratch, long address, long length) {
        header(scratch, address, length, CONTROL_BYTES);
    }

    private static void header(Native.Scratch scratch, long address, long length, int controlBytes) {
        MemorySegment memory = scratch.memory();
        memory.set(ValueLayout.JAVA_LONG, 0, 0); // no address: the socket is connected
        memory.set(ValueLayout.JAVA_LONG, 8, 0);
        memory.set(ValueLayout.JAVA_LONG, MSGHDR_FLAGS, 0);
        memory.set(ValueLayout.JAVA_LONG, IOV, address);
        memory.set(ValueLayout.JAVA_LONG, IOV + 8, length);
        memory.set(ValueLayout.JAVA_LONG, MSGHDR_IOV, scratch.address() + IOV);
        memory.set(ValueLayout.JAVA_LONG, MSGHDR_IOVLEN, 1);
        memory.set(ValueLayout.JAVA_LONG, MSGHDR_CONTROL, controlBytes == 0 ? 0 : scratch.address() + CONTROL);
        memory.set(ValueLayout.JAVA_LONG, MSGHDR_CONTROLLEN, controlBytes);
    }

    /** True if the message was longer than its buffer. */
    static boolean truncated(Native.Scratch scratch) {
        return (scratch.memory().get(ValueLayout.JAVA_INT, MSGHDR_FLAGS) & MSG_TRUNC) != 0;
    }

    /** True if descriptors could not be installed in this process. */
    static boolean fdsLost(Native.Scratch scratch) {
        return (scratch.memory().get(ValueLayout.JAVA_INT, MSGHDR_FLAGS) & MSG_CTRUNC) != 0;
    }

    /** Moves the first {@code keep} descriptors to an array, closes the others, and returns their total number. */
    static int takeFds(Native.Scratch scratch, int keep, int[] out) {
        MemorySegment memory = scratch.memory();
        long end = CONTROL + memory.get(ValueLayout.JAVA_LONG, MSGHDR_CONTROLLEN);
        int count = 0;
        long at = CONTROL;
        while (at + CMSG_DATA <= end) {
            long length = memory.get(ValueLayout.JAVA_LONG, at);
            if (length < CMSG_DATA) {
                break;
            }
            if (memory.get(ValueLayout.JAVA_INT, at + CMSG_LEVEL) == UnixSocket.SOL_SOCKET
                    && memory.get(ValueLayout.JAVA_INT, at + CMSG_TYPE) == SCM_RIGHTS) {
                for (long i = at + CMSG_DATA; i + 4 <= at + length; i += 4) {
                    int fd = memory.get(ValueLayout.JAVA_INT, i);
                    if (count < keep) {
                        out[count] = fd;
                    } else {
                        Native.call(SyscallNumber.CLOSE, fd);
                    }
                    count++;
                }
            }
            at += (length + 7) & ~7L;
        }
        return count;
    }
}
