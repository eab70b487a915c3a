// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

import org.verbena.linux.Errno;
import org.verbena.linux.LibIbverbs;
import org.verbena.linux.LinuxException;

/** Other devices for verbs: libibverbs, which loads its own drivers, and devices that the kernel knows. */
final class DoctorRdma {
    private static final Path INFINIBAND = Path.of("/sys/class/infiniband");

    private DoctorRdma() {}

    /** Asks in a second process: the library and its drivers are foreign code, and may end the process they run in. */
    static DoctorFinding run() throws IOException, InterruptedException {
        try {
            return DoctorChild.finding(DoctorChild.ask(List.of(), "rdma", DoctorCommand.CHILD_LIMIT));
        } catch (DoctorChild.Failed e) {
            return DoctorFinding.no(DoctorFinding.sentence(e), "update rdma-core (libibverbs1, ibverbs-providers);"
                    + " the library or one of its drivers fails");
        }
    }

    /** In the second process. */
    static DoctorFinding look() {
        List<String> kernel = DoctorProc.names(INFINIBAND);
        String sys = "/sys/class/infiniband: " + (kernel.isEmpty() ? "nothing" : String.join(", ", kernel));
        DoctorProc.Module rxe = DoctorProc.module(Path.of("/"), DoctorHost.release(), "rdma_rxe");
        String software = "rdma_rxe " + rxe.words();
        try {
            List<LibIbverbs.Device> devices = LibIbverbs.devices();
            String library = loaded() + " finds ";
            if (!devices.isEmpty()) {
                return opened(library, devices, "; " + sys);
            }
            return DoctorFinding.no(library + "no device; " + sys + "; " + software, devices(rxe));
        } catch (LinuxException e) {
            return DoctorFinding.no(loaded() + ": " + e.getMessage() + "; " + sys + "; " + software,
                    e.errno() == Errno.ENOSYS ? devices(rxe) : DoctorFinding.failed(e).remedy());
        } catch (IOException e) {
            return DoctorFinding.no(e.getMessage() + "; " + sys + "; " + software,
                    "install libibverbs1 and ibverbs-providers" + (kernel.isEmpty() ? "; " + devices(rxe) : ""));
        }
    }

    private static DoctorFinding opened(String library, List<LibIbverbs.Device> devices, String sys) {
        String evidence = library + devices.stream().map(LibIbverbs.Device::name).collect(Collectors.joining(", "));
        List<LibIbverbs.Device> closed = devices.stream().filter(d -> d.errno() != 0).toList();
        if (closed.isEmpty()) {
            return DoctorFinding.ok(evidence + sys);
        }
        boolean forbidden = closed.stream().anyMatch(d -> d.errno() == Errno.EACCES || d.errno() == Errno.EPERM);
        return DoctorFinding.limited(evidence + closed.stream().map(d -> "; ibv_open_device(" + d.name() + "): "
                + Errno.name(d.errno()) + " (" + Errno.text(d.errno()) + ")").collect(Collectors.joining()) + sys,
                forbidden
                        ? "give this user read and write access to /dev/infiniband/uverbs* (docker:"
                                + " --device=/dev/infiniband)"
                        : "modprobe ib_uverbs; is there a /dev/infiniband/uverbs* for the device (docker:"
                                + " --device=/dev/infiniband), and does rdma-core have its driver?");
    }

    /** How to create a device. */
    private static String devices(DoctorProc.Module rxe) {
        return switch (rxe) {
            case LOADED, BUILT_IN -> "rdma link add rxe0 type rxe netdev INTERFACE";
            case AVAILABLE -> "modprobe rdma_rxe; rdma link add rxe0 type rxe netdev INTERFACE";
            case ABSENT, UNKNOWN -> "an RDMA NIC, or a kernel with CONFIG_RDMA_RXE, is needed";
        };
    }

    /** The library file that this process has loaded. */
    private static String loaded() {
        Optional<String> path = DoctorProc.read(Path.of("/proc/self/maps")).lines()
                .map(l -> l.substring(l.lastIndexOf(' ') + 1)).filter(p -> p.contains("/libibverbs.so")).findFirst();
        return path.orElse(LibIbverbs.NAME);
    }
}
