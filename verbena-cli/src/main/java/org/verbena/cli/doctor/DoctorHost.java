// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Membarrier;
import org.verbena.linux.Memfd;
import org.verbena.linux.MemoryLock;
import org.verbena.linux.Sys;

/** The JVM, the kernel, memory and limits. */
final class DoctorHost {
    private static final Path SELF = Path.of("/proc/self");
    private static final long LOCKED = 16L << 20;
    private static final long SCARCE = 512L << 20;
    private static final long TOO_LITTLE = 32L << 20;
    private static final long FEW_FILES = 1024;
    private static final String OPEN = "Max open files";

    /** Read once, since reading it takes a descriptor. */
    private static final Optional<DoctorProc.Limit> OPEN_FILES = limit(OPEN);

    private static final List<String> WANTED = List.of("NET_RAW", "NET_ADMIN", "BPF", "PERFMON", "SYS_ADMIN",
            "SYS_PTRACE", "IPC_LOCK");

    private DoctorHost() {}

    static String release() {
        return System.getProperty("os.version", "");
    }

    static DoctorFinding java() {
        String os = System.getProperty("os.name", "?");
        String arch = System.getProperty("os.arch", "?");
        String evidence = "Java " + Runtime.version() + " (" + System.getProperty("java.vendor", "?") + "), " + os
                + " on " + arch;
        if (!os.equals("Linux") || !(arch.equals("amd64") || arch.equals("aarch64"))) {
            return DoctorFinding.no(evidence, "use Linux on x86-64 (amd64) or AArch64, 64 bit");
        }
        return arch.equals("aarch64")
                ? DoctorFinding.limited(evidence, "Verbena is written for AArch64 and not tested on it")
                : DoctorFinding.ok(evidence);
    }

    /** {@code granted}: the answer of the JVM before any call. */
    static DoctorFinding nativeAccess(boolean granted) {
        try {
            Sys.requireNativeAccess();
        } catch (IllegalCallerException denied) {
            return DoctorFinding.no(denied.getClass().getSimpleName() + ": " + denied.getMessage(),
                    DoctorFinding.NATIVE_ACCESS);
        }
        String evidence = "getpid() = " + Sys.pid();
        if (Sys.pid() != ProcessHandle.current().pid()) {
            return DoctorFinding.no(evidence + ", but this is process " + ProcessHandle.current().pid(),
                    "use a JDK and a C library of the same architecture");
        }
        return granted
                ? DoctorFinding.ok(evidence + "; granted to org.verbena.linux")
                : DoctorFinding.limited(evidence + "; not granted, allowed with a warning",
                        DoctorFinding.NATIVE_ACCESS + "; later JDKs deny what is not granted");
    }

    static DoctorFinding kernel() {
        String evidence = "Linux " + release();
        Optional<DoctorProc.Kernel> version = DoctorProc.kernel(release());
        if (version.isPresent() && !version.get().isAtLeast(5, 1)) {
            return DoctorFinding.no(evidence, "Linux 5.1 or newer is needed");
        }
        return Membarrier.isSupported()
                ? DoctorFinding.ok(evidence + "; membarrier: expedited barriers")
                : DoctorFinding.no(evidence + "; membarrier(2) has no expedited barriers",
                        "use a kernel with CONFIG_MEMBARRIER, or allow the call in the container's seccomp filter");
    }

    static DoctorFinding memfd() throws LinuxException {
        int page = Sys.pageSize();
        try (Fd fd = Memfd.create("verbena-doctor", page)) {
            Memfd.allocate(fd, 0, page);
            Mapping own = Mapping.map(fd, 0, page, true);
            int seals = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_FUTURE_WRITE;
            Memfd.addSeals(fd, seals);
            MemorySegment memory = own.segment();
            memory.set(ValueLayout.JAVA_LONG, 0, 42);
            long seen = Mapping.map(fd, 0, page, false).segment().get(ValueLayout.JAVA_LONG, 0);
            if (seen != 42 || (Memfd.seals(fd) & seals) != seals) {
                return DoctorFinding.no("a second mapping of a memory file shows " + seen + ", its seals are 0x"
                        + Integer.toHexString(Memfd.seals(fd)), "use another kernel");
            }
            return sealed(mapsWritable(fd, page));
        }
    }

    /** {@code writable}: whether a sealed file can still be mapped for writing. */
    static DoctorFinding sealed(boolean writable) {
        String evidence = "memfd_create, two mappings, sealed against shrinking, growing and writing";
        return writable
                ? DoctorFinding.limited(evidence + ", but a sealed file can be mapped to be written",
                        "use a Linux kernel that keeps F_SEAL_FUTURE_WRITE (5.1 or newer, no emulation): a peer can"
                                + " write what it was given to read")
                : DoctorFinding.ok(evidence);
    }

    private static boolean mapsWritable(Fd fd, int page) {
        try {
            Mapping.map(fd, 0, page, true).discard();
            return true;
        } catch (LinuxException refused) {
            return false;
        }
    }

    static DoctorFinding memory() {
        long available = Sys.availableMemory();
        String evidence = (available == Long.MAX_VALUE ? "unknown" : bytes(available))
                + " can be taken (MemAvailable, control groups); /dev/shm: " + devShm();
        String remedy = "free memory, or raise the control group's limit (memory.max, docker --memory)";
        return available < TOO_LITTLE
                ? DoctorFinding.no(evidence, remedy)
                : available < SCARCE ? DoctorFinding.limited(evidence, remedy) : DoctorFinding.ok(evidence);
    }

    /** Allocated memory is in memory files, which are in no directory; counter files are. */
    private static String devShm() {
        Path path = Path.of("/dev/shm");
        try {
            FileStore store = Files.getFileStore(path);
            return bytes(store.getUnallocatedSpace()) + " free of " + bytes(store.getTotalSpace()) + ", "
                    + store.type() + (Files.isWritable(path) ? "" : ", not writable") + " (for counters only)";
        } catch (IOException e) {
            return "none (for counters only)";
        }
    }

    private static Optional<DoctorProc.Limit> limit(String name) {
        return DoctorProc.limit(DoctorProc.read(SELF.resolve("limits")), name);
    }

    /** Whether a process may have so few descriptors that they are the likely cause of any failure. */
    static boolean hasFewFiles() {
        return OPEN_FILES.filter(l -> l.soft() < FEW_FILES).isPresent();
    }

    static DoctorFinding files() {
        return files(SELF, OPEN_FILES);
    }

    /** The same of another process. */
    static DoctorFinding files(Path proc) {
        return files(proc, DoctorProc.limit(DoctorProc.read(proc.resolve("limits")), OPEN));
    }

    private static DoctorFinding files(Path proc, Optional<DoctorProc.Limit> known) {
        int open = DoctorProc.names(proc.resolve("fd")).size();
        if (known.isEmpty()) {
            return DoctorFinding.limited(proc + "/limits does not say how many", "mount /proc");
        }
        DoctorProc.Limit limit = known.get();
        String evidence = (open == 0 ? "unknown how many" : Integer.toString(open)) + " open of " + count(limit.soft())
                + " (hard limit " + count(limit.hard()) + ")";
        return limit.soft() < FEW_FILES
                ? DoctorFinding.limited(evidence, "each peer takes some descriptors: ulimit -n 4096 (systemd:"
                        + " LimitNOFILE=)")
                : DoctorFinding.ok(evidence);
    }

    static DoctorFinding memlock() throws LinuxException {
        Optional<DoctorProc.Limit> limit = limit("Max locked memory");
        boolean exempt = effective().stream().anyMatch(set -> DoctorProc.has(set, "IPC_LOCK"));
        String evidence = "RLIMIT_MEMLOCK " + limit.map(l -> size(l.soft())).orElse("unknown")
                + (exempt ? ", which CAP_IPC_LOCK lifts" : "");
        Mapping memory = Mapping.anonymous(LOCKED);
        try {
            MemoryLock.lock(memory.segment());
            return DoctorFinding.ok("mlock(16 MiB) done; " + evidence);
        } catch (LinuxException e) {
            return DoctorFinding.limited(e.getMessage() + "; " + evidence, "ulimit -l unlimited (systemd:"
                    + " LimitMEMLOCK=infinity; docker: --ulimit memlock=-1), or CAP_IPC_LOCK");
        } finally {
            memory.discard();
        }
    }

    /** The set of this process's effective capabilities. */
    static OptionalLong effective() {
        return DoctorProc.capabilities(DoctorProc.read(SELF.resolve("status")), "CapEff");
    }

    static DoctorFinding capabilities() {
        OptionalLong set = effective();
        if (set.isEmpty()) {
            return DoctorFinding.limited("/proc/self/status does not say", "mount /proc");
        }
        String status = DoctorProc.read(SELF.resolve("status"));
        List<String> missing = new ArrayList<>();
        List<String> there = new ArrayList<>();
        WANTED.forEach(c -> (DoctorProc.has(set.getAsLong(), c) ? there : missing).add(c));
        String seccomp = DoctorProc.field(status, "Seccomp").orElse("0").equals("0")
                ? ""
                : "; a seccomp filter is in force";
        String evidence = "CapEff has " + (there.isEmpty()
                ? "none of " + String.join(", ", WANTED)
                : String.join(", ",
                        there)) + seccomp;
        if (missing.isEmpty()) {
            return DoctorFinding.ok(evidence);
        }
        String remedy = grant(missing);
        return there.isEmpty() ? DoctorFinding.no(evidence, remedy) : DoctorFinding.limited(evidence, remedy);
    }

    /** How a process gets capabilities. */
    static String grant(List<String> capabilities) {
        return "run as root, or with CAP_" + String.join(", CAP_", capabilities)
                + " (systemd: AmbientCapabilities=; docker: --cap-add)";
    }

    private static String count(long n) {
        return n == DoctorProc.UNLIMITED ? "unlimited" : Long.toString(n);
    }

    private static String size(long n) {
        return n == DoctorProc.UNLIMITED ? "unlimited" : bytes(n);
    }

    /** Bytes in the largest unit that they fill, with one digit after the point. */
    static String bytes(long n) {
        List<String> units = List.of("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB");
        int unit = n < 1024 ? 0 : (63 - Long.numberOfLeadingZeros(n)) / 10;
        return unit == 0
                ? n + " bytes"
                : String.format(Locale.ROOT, "%.1f %s", n / (double) (1L << (10 * unit)), units.get(unit))
                        .replace(".0 ", " ");
    }

    /** Whether a call is refused for lack of a right. */
    static boolean isForbidden(LinuxException e) {
        return e.errno() == Errno.EPERM || e.errno() == Errno.EACCES;
    }
}
