// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

import org.verbena.linux.TapSettings;
import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;

/** Raw packets: which devices there are, what carries them, and what a process needs for them. Opens none. */
final class DoctorPackets {
    private static final String PROVIDER = "xdp";
    private static final String TAP = "TAP";

    /** What each capability is for. */
    private static final Map<String, String> USES = new LinkedHashMap<>(Map.of("NET_RAW", "queue pairs"));

    static {
        USES.put("NET_ADMIN", "flows");
        USES.put("BPF", "flows");
    }

    private DoctorPackets() {}

    private static List<Device> devices(boolean tap) {
        return Verbs.devices().stream().filter(d -> d.provider().equals(PROVIDER) && d.transport().equals(TAP) == tap)
                .toList();
    }

    /** The devices {@code xdp_<netdev>} by what carries them, and the capabilities that are missing. */
    static DoctorFinding xdp() {
        List<Device> devices = devices(false);
        if (devices.isEmpty()) {
            return DoctorFinding.no("no network interface has Ethernet frames", "ip link shows the interfaces");
        }
        Map<String, List<String>> byBackEnd = devices.stream().collect(Collectors.groupingBy(Device::backEnd,
                LinkedHashMap::new, Collectors.mapping(Device::name, Collectors.toList())));
        String evidence = byBackEnd.entrySet().stream().map(e -> String.join(", ", e.getValue()) + ": " + e.getKey())
                .collect(Collectors.joining(". "));
        OptionalLong set = DoctorHost.effective();
        List<String> missing = new ArrayList<>();
        USES.keySet().forEach(c -> {
            if (set.isEmpty() || !DoctorProc.has(set.getAsLong(), c)) {
                missing.add(c);
            }
        });
        if (missing.isEmpty()) {
            return DoctorFinding.ok(evidence);
        }
        String lacks = missing.stream().map(c -> "CAP_" + c + " for " + USES.get(c)).collect(Collectors.joining(", "));
        String remedy = DoctorHost.grant(missing) + "; or use a TAP interface, see tap";
        return missing.contains("NET_RAW")
                ? DoctorFinding.no("lacks " + lacks + ". " + evidence, remedy)
                : DoctorFinding.limited("lacks " + lacks + ". " + evidence, remedy);
    }

    /** The devices {@code tap_<netdev>}, or what is missing for one. */
    static DoctorFinding tap() {
        return tap(Files.exists(TapSettings.DEVICE), TapSettings.isDeviceOpen(), devices(true).stream().map(
                Device::name).toList(), System.getProperty("user.name", "NAME"));
    }

    static DoctorFinding tap(boolean exists, boolean allowed, List<String> names, String user) {
        Path file = TapSettings.DEVICE;
        if (!exists) {
            return DoctorFinding.no("there is no " + file, "modprobe tun; in a container: docker --device " + file);
        }
        if (!allowed) {
            return DoctorFinding.no("this user may not open " + file, "as root: chmod 666 " + file
                    + ", or a group's by a rule of udev");
        }
        return names.isEmpty()
                ? DoctorFinding.limited("this user may open " + file + ", and has no TAP interface",
                        "as root: ip tuntap add dev vrb0 mode tap user " + user + "; ip link set vrb0 up")
                : DoctorFinding.ok("this user may open " + file + "; " + String.join(", ", names));
    }
}
