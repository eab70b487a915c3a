// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

/**
 * System call numbers of the running architecture (x86-64: {@code syscall_64.tbl}; AArch64: the generic table).
 *
 * <p>Where a call exists in several forms, the one of both architectures is used ({@code ppoll}, not {@code poll}).
 * Compared with {@code <sys/syscall.h>} by {@code LayoutProbeTest}.
 */
public final class SyscallNumber {
    /** True on AArch64, false on x86-64. */
    public static final boolean AARCH64 = "aarch64".equals(System.getProperty("os.arch"));

    public static final int READ = pick(0, 63);
    public static final int WRITE = pick(1, 64);
    public static final int CLOSE = pick(3, 57);
    public static final int LSEEK = pick(8, 62);
    public static final int MMAP = pick(9, 222);
    public static final int MUNMAP = pick(11, 215);
    public static final int IOCTL = pick(16, 29);
    public static final int PREAD64 = pick(17, 67);
    public static final int PWRITE64 = pick(18, 68);
    public static final int READV = pick(19, 65);
    public static final int WRITEV = pick(20, 66);
    public static final int MADVISE = pick(28, 233);
    public static final int GETPID = pick(39, 172);
    public static final int SOCKET = pick(41, 198);
    public static final int CONNECT = pick(42, 203);
    public static final int SENDTO = pick(44, 206);
    public static final int RECVFROM = pick(45, 207);
    public static final int SENDMSG = pick(46, 211);
    public static final int RECVMSG = pick(47, 212);
    public static final int SHUTDOWN = pick(48, 210);
    public static final int BIND = pick(49, 200);
    public static final int LISTEN = pick(50, 201);
    public static final int GETSOCKNAME = pick(51, 204);
    public static final int SOCKETPAIR = pick(53, 199);
    public static final int SETSOCKOPT = pick(54, 208);
    public static final int GETSOCKOPT = pick(55, 209);
    public static final int FCNTL = pick(72, 25);
    public static final int FLOCK = pick(73, 32);
    public static final int FTRUNCATE = pick(77, 46);
    public static final int GETUID = pick(102, 174);
    public static final int FSTATFS = pick(138, 44);
    public static final int MLOCK = pick(149, 228);
    public static final int MUNLOCK = pick(150, 229);
    public static final int PRCTL = pick(157, 167);
    public static final int MOUNT = pick(165, 40);
    public static final int GETTID = pick(186, 178);
    public static final int FUTEX = pick(202, 98);
    public static final int SCHED_SETAFFINITY = pick(203, 122);
    public static final int SCHED_GETAFFINITY = pick(204, 123);
    public static final int EPOLL_CTL = pick(233, 21);
    public static final int PPOLL = pick(271, 73);
    public static final int UNSHARE = pick(272, 97);
    public static final int EPOLL_PWAIT = pick(281, 22);
    public static final int FALLOCATE = pick(285, 47);
    public static final int ACCEPT4 = pick(288, 242);
    public static final int EVENTFD2 = pick(290, 19);
    public static final int EPOLL_CREATE1 = pick(291, 20);
    public static final int RECVMMSG = pick(299, 243);
    public static final int SENDMMSG = pick(307, 269);
    public static final int FUTEX_WAITV = pick(449, 449);
    public static final int PROCESS_VM_READV = pick(310, 270);
    public static final int PROCESS_VM_WRITEV = pick(311, 271);
    public static final int GETRANDOM = pick(318, 278);
    public static final int MEMFD_CREATE = pick(319, 279);
    public static final int BPF = pick(321, 280);
    public static final int MEMBARRIER = pick(324, 283);
    public static final int PREADV2 = pick(327, 286);
    public static final int STATX = pick(332, 291);
    public static final int PIDFD_SEND_SIGNAL = 424;
    public static final int IO_URING_SETUP = 425;
    public static final int PIDFD_OPEN = 434;

    private SyscallNumber() {}

    private static int pick(int x8664, int aarch64) {
        return AARCH64 ? aarch64 : x8664;
    }
}
