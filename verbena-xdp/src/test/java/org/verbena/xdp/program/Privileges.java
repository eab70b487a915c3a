// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.io.IOException;

import org.junit.jupiter.api.Assumptions;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.NetworkNamespace;
import org.verbena.xdp.bpf.Assembler;
import org.verbena.xdp.bpf.Register;

/** Whether this process may load programs. */
public final class Privileges {
    private Privileges() {}

    /** Skips the tests of a class aloud where the kernel does not let this process have maps and programs. */
    public static void requireBpf() throws IOException {
        try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4, 1);
                Fd program = Bpf.load(Bpf.BPF_PROG_TYPE_XDP, new Assembler().move(Register.R0, Bpf.XDP_PASS).exit()
                        .assemble(), "Apache-2.0")) {
            requireDifferent(map.fd(), program);
        } catch (LinuxException e) {
            skip("tests of the XDP program need CAP_BPF and CAP_NET_ADMIN", e);
        }
    }

    private static void requireDifferent(Fd map, Fd program) {
        if (map.value() == program.value()) {
            throw new AssertionError("a map and a program are one descriptor");
        }
    }

    /** Skips the tests of a class aloud where this process may not have network namespaces. */
    static void requireNamespaces() throws Exception {
        try {
            NetworkNamespace.callInNew(() -> "");
        } catch (LinuxException e) {
            skip("tests of attached programs need network namespaces, and so CAP_SYS_ADMIN", e);
        }
    }

    private static void skip(String why, LinuxException e) throws LinuxException {
        if (e.errno() != Errno.EPERM && e.errno() != Errno.ENOSYS) {
            throw e;
        }
        System.out.println("SKIPPED: " + why + ": " + e.getMessage());
        Assumptions.abort(e.getMessage());
    }
}
