// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** RoCE in Java: opens each of its devices, which binds the UDP port of RoCE for a moment. */
final class DoctorRoce {
    private DoctorRoce() {}

    static DoctorFinding run() {
        List<Device> devices = Verbs.devices().stream().filter(d -> d.provider().equals("roce")).toList();
        if (devices.isEmpty()) {
            return DoctorFinding.no("no network interface is up and has an address",
                    "ip link set INTERFACE up; ip address add ADDRESS/LENGTH dev INTERFACE");
        }
        List<String> opened = new ArrayList<>();
        List<String> not = new ArrayList<>();
        boolean taken = false;
        for (Device d : devices) {
            try (Context context = d.open()) {
                opened.add(d.name() + " (MTU " + context.queryPort(1).activeMtu() + ")");
            } catch (VerbsException e) {
                taken |= e.errno() == Errno.EADDRINUSE;
                not.add(DoctorFinding.sentence(e));
            }
        }
        String evidence = (opened.isEmpty() ? "" : "opened " + String.join(", ", opened))
                + (opened.isEmpty() || not.isEmpty() ? "" : "; ") + String.join("; ", not);
        if (not.isEmpty()) {
            return DoctorFinding.ok(evidence);
        }
        String remedy = taken
                ? "who has UDP port 4791: ss -aulpn 'sport = 4791'; the kernel's own (rdma link show) goes by"
                        + " rdma link del NAME, of older kernels with modprobe -r rdma_rxe behind it"
                : "run it again with VERBENA_DEBUG=1 and report what it prints";
        return opened.isEmpty() ? DoctorFinding.no(evidence, remedy) : DoctorFinding.limited(evidence, remedy);
    }
}
