// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.GenericNetlink;
import org.verbena.linux.IoUring;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Memfd;
import org.verbena.linux.Netlink;
import org.verbena.linux.Smc;
import org.verbena.linux.SockDiag;
import org.verbena.linux.Sys;
import org.verbena.linux.UdmaBuf;

/** Kernel features beyond memory: BPF programs, rings, socket diagnostics, device memory. */
final class DoctorKernel {
    private static final Path ROOT = Path.of("/");
    private static final Path CLASS_NET = Path.of("/sys/class/net");
    private static final int BIND_RX = 13;
    private static final int BIND_TX = 15;
    private static final int ETHERNET = 14;
    /** Drivers that can receive into memory of a device, and the first kernel in which they do. */
    private static final Map<String, DoctorProc.Kernel> DEVMEM_DRIVERS = Map.of(
            "gve", new DoctorProc.Kernel(6, 16), "bnxt_en", new DoctorProc.Kernel(6, 16),
            "mlx5_core", new DoctorProc.Kernel(6, 17), "fbnic", new DoctorProc.Kernel(6, 18));
    private static final DoctorProc.Kernel DEVMEM = new DoctorProc.Kernel(6, 12);

    private DoctorKernel() {}

    // ---- bpf

    /** {@code r0 = XDP_PASS; exit}. */
    static long[] passAll() {
        return new long[] {Bpf.instruction(0xb7, 0, 0, 0, Bpf.XDP_PASS), Bpf.instruction(0x95, 0, 0, 0, 0)};
    }

    static DoctorFinding bpf() {
        String setting = DoctorProc.read(Path.of("/proc/sys/kernel/unprivileged_bpf_disabled")).strip();
        String state = setting.isEmpty() ? "" : "; kernel.unprivileged_bpf_disabled " + setting;
        try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 8, 1)) {
            byte[] written = {1, 2, 3, 4, 5, 6, 7, 8};
            map.update(new byte[4], written);
            byte[] read = map.lookup(new byte[4]).orElse(new byte[0]);
            try (Fd program = Bpf.load(Bpf.BPF_PROG_TYPE_XDP, passAll(), "Apache-2.0")) {
                int returned = Bpf.testRun(program, new byte[ETHERNET]);
                return Arrays.equals(written, read) && returned == Bpf.XDP_PASS
                        ? DoctorFinding.ok("a map was made, written and read; an XDP program was loaded, and returned"
                                + " XDP_PASS" + state)
                        : DoctorFinding.no("a map or a program does not do what it should: returned " + returned,
                                "use another kernel");
            }
        } catch (LinuxException e) {
            DoctorFinding f = DoctorFinding.failed(e, e.errno() == Errno.ENOSYS
                    ? "use a kernel with CONFIG_BPF_SYSCALL, or allow bpf in the container's seccomp filter"
                    : DoctorHost.grant(List.of("BPF", "NET_ADMIN")));
            return DoctorFinding.no(f.evidence() + state, f.remedy());
        }
    }

    // ---- io_uring

    static DoctorFinding ioUring() {
        String setting = DoctorProc.read(Path.of("/proc/sys/kernel/io_uring_disabled")).strip();
        String state = setting.isEmpty() ? "" : "; kernel.io_uring_disabled " + setting;
        try (IoUring ring = IoUring.setup(8)) {
            return DoctorFinding.ok("io_uring_setup(8) made rings of " + ring.submissionEntries() + " and "
                    + ring.completionEntries() + ", features 0x" + Integer.toHexString(ring.features()) + state);
        } catch (LinuxException e) {
            return DoctorFinding.failed(e, switch (setting) {
                case "1" -> "sysctl kernel.io_uring_disabled=0, or put the user into kernel.io_uring_group";
                case "2" -> "sysctl kernel.io_uring_disabled=0";
                default -> e.errno() == Errno.ENOSYS
                        ? "use a kernel with CONFIG_IO_URING (Linux 5.1), or allow it in the container's seccomp filter"
                        : "allow io_uring_setup in the container's seccomp filter (Docker's own refuses it)";
            });
        }
    }

    // ---- sock_diag

    /** Asks the kernel for the other end of a connection, like a server that identifies its client. */
    static DoctorFinding sockDiag() throws IOException {
        try (SockDiag diag = SockDiag.open();
                ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress
                        .getLoopbackAddress(), 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress());
                SocketChannel accepted = server.accept()) {
            Optional<SockDiag.TcpSocket> found = diag.find((InetSocketAddress) accepted.getRemoteAddress(),
                    (InetSocketAddress) accepted.getLocalAddress());
            if (found.isEmpty()) {
                return DoctorFinding.no("the kernel does not know the client of a connection over the loopback ("
                        + client.getLocalAddress() + ")",
                        "modprobe tcp_diag, or use a kernel with CONFIG_INET_TCP_DIAG");
            }
            SockDiag.TcpSocket s = found.get();
            String evidence = "found the client of a connection over the loopback: uid " + s.uid() + ", inode "
                    + Integer.toUnsignedString(s.inode()) + ", cookie " + Long.toUnsignedString(s.cookie());
            return s.uid() == Sys.uid()
                    ? DoctorFinding.ok(evidence)
                    : DoctorFinding.limited(evidence + ", but this process has uid " + Sys.uid(),
                            "run both ends in the same user namespace");
        } catch (LinuxException e) {
            return DoctorFinding.failed(e, "modprobe inet_diag tcp_diag, or use a kernel with CONFIG_INET_DIAG");
        }
    }

    // ---- SMC

    static DoctorFinding smc() {
        DoctorProc.Module module = DoctorProc.module(ROOT, DoctorHost.release(), "smc");
        try (Fd socket = Smc.socket(Smc.SMCPROTO_SMC)) {
            List<String> devices = DoctorProc.names(Path.of("/sys/class/infiniband"));
            String evidence = "socket(AF_SMC) = " + socket.value() + "; RDMA devices: "
                    + (devices.isEmpty() ? "none" : String.join(", ", devices));
            return DoctorFinding.limited(evidence, "whether a connection uses it depends on both ends having a device"
                    + " (RoCE, ISM, or the loopback of CONFIG_DIBS_LO); else it is TCP");
        } catch (LinuxException e) {
            return DoctorFinding.failed(e, module == DoctorProc.Module.AVAILABLE
                    ? "modprobe smc"
                    : "use a kernel with CONFIG_SMC (module smc " + module.words() + ")");
        }
    }

    // ---- device memory

    static DoctorFinding udmabuf() throws LinuxException {
        int page = Sys.pageSize();
        try (Fd file = Memfd.create("verbena-doctor", page)) {
            Memfd.addSeals(file, Memfd.SEAL_SHRINK);
            try (Fd buffer = UdmaBuf.create(file, 0, page)) {
                return DoctorFinding.ok("made a dma-buf of a memory file: " + buffer);
            } catch (LinuxException e) {
                return DoctorFinding.failed(e, e.errno() == Errno.ENOENT
                        ? "modprobe udmabuf, or use a kernel with CONFIG_UDMABUF"
                        : "let the user read and write /dev/udmabuf (as a rule by the group kvm)");
            }
        }
    }

    static DoctorFinding devmem() {
        Optional<DoctorProc.Kernel> kernel = DoctorProc.kernel(DoctorHost.release());
        String evidence = "Linux " + DoctorHost.release();
        if (kernel.isEmpty() || !kernel.get().isAtLeast(DEVMEM.major(), DEVMEM.minor())) {
            return DoctorFinding.no(evidence, "Linux 6.12 or newer is needed");
        }
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_GENERIC)) {
            Optional<GenericNetlink.Family> family = GenericNetlink.family(netlink, "netdev");
            boolean receives = family.isPresent() && family.get().commands().contains(BIND_RX);
            boolean sends = family.isPresent() && family.get().commands().contains(BIND_TX);
            evidence += "; netlink family netdev " + (family.isEmpty()
                    ? "is absent"
                    : "(id " + family.get().id() + ") has bind-rx: " + yes(receives) + ", bind-tx: " + yes(sends));
            if (!receives) {
                return DoctorFinding.no(evidence, "use a kernel with CONFIG_NET_DEVMEM");
            }
        } catch (LinuxException e) {
            return DoctorFinding.failed(e);
        }
        List<String> able = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (String name : DoctorProc.names(CLASS_NET)) {
            String driver = driver(name);
            DoctorProc.Kernel since = DEVMEM_DRIVERS.get(driver);
            boolean can = since != null && kernel.get().isAtLeast(since.major(), since.minor());
            (can ? able : others).add(name + (driver.isEmpty() ? "" : " (" + driver + ")"));
        }
        return able.isEmpty()
                ? DoctorFinding.no(evidence + "; no interface whose driver can: " + (others.isEmpty()
                        ? "there is none"
                        : String.join(", ", others)),
                        "a NIC of the drivers bnxt_en, fbnic, gve or mlx5_core is needed")
                : DoctorFinding.limited(evidence + "; by their driver may: " + String.join(", ", able),
                        "only a bind of a queue tells, which would stop its traffic: not tried");
    }

    /** The driver of an interface; empty for one without a device. */
    private static String driver(String name) {
        try {
            return Files.readSymbolicLink(CLASS_NET.resolve(name).resolve("device/driver")).getFileName().toString();
        } catch (IOException none) {
            return "";
        }
    }

    private static String yes(boolean b) {
        return b ? "yes" : "no";
    }
}
