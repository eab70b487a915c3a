// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.GidType;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Ipv6Text;

/** The GIDs of devices in the columns of {@code show_gids}, a script of Mellanox's. */
final class GidTable {
    private static final int ALL_PORTS = 0;
    private static final long MAPPED = 0xffff;
    private static final List<String> HEADING = List.of("DEV", "PORT", "INDEX", "GID", "IPv4", "VER", "DEV");

    private final int port;
    private final List<Row> rows = new ArrayList<>();

    /**
     * A line.
     *
     * @param ipv4 empty if the GID is not that of an IPv4 address
     * @param netdev empty if it is of no network interface
     */
    private record Row(String device, int port, int index, String gid, String ipv4, String type, String netdev) {
        /** As {@code show_gids} says it, which knows of Ethernet alone. */
        String version() {
            return type.replace("RoCE ", "");
        }

        List<String> cells() {
            return List.of(device, Integer.toString(port), Integer.toString(index), gid, ipv4, version(), netdev);
        }
    }

    /** @param port the only one to show; 0 for all */
    GidTable(int port) {
        this.port = port;
    }

    /**
     * Adds the table of a device, which is opened for that; entries without a GID are left out.
     *
     * @throws VerbsException if it cannot be opened, or has no such port
     */
    void add(Device d) throws VerbsException {
        try (Context context = d.open()) {
            int last = port == ALL_PORTS ? context.queryDevice().physicalPortCount() : port;
            for (int p = port == ALL_PORTS ? 1 : port; p <= last; p++) {
                PortAttributes a = context.queryPort(p);
                for (int i = 0; i < a.gidTableLength(); i++) {
                    GidEntry e = context.queryGidEntry(p, i);
                    if (e.gid().high() != 0 || e.gid().low() != 0) {
                        rows.add(new Row(d.name(), p, i, DeviceDescription.allDigits(e.gid()), ipv4(e.gid()), type(e
                                .type(), a.linkLayer()), DeviceDescription.netdev(e.interfaceIndex())));
                    }
                }
            }
        }
    }

    /** An open set: a type that this version does not know has a number. */
    static String type(int type, String linkLayer) {
        return switch (type) {
            case GidType.ROCE_V2 -> "RoCE v2";
            case GidType.ROCE_V1 -> "RoCE v1";
            case GidType.IB -> linkLayer.equals("Ethernet")
                    ? "RoCE v1"
                    : linkLayer.equals("InfiniBand") ? "IB" : "";
            default -> GidType.toString(type);
        };
    }

    static String ipv4(Gid gid) {
        return gid.high() == 0 && gid.low() >>> 32 == MAPPED ? Ipv6Text.ipv4((int) gid.low()) : "";
    }

    /** Columns as wide as what is in them. */
    void print(PrintWriter out) {
        List<List<String>> lines = new ArrayList<>(List.of(HEADING, HEADING.stream().map(h -> "-".repeat(h.length()))
                .toList()));
        rows.forEach(r -> lines.add(r.cells()));
        int[] widths = new int[HEADING.size()];
        lines.forEach(l -> {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], l.get(i).length());
            }
        });
        for (List<String> l : lines) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                line.append(l.get(i)).append(" ".repeat(widths[i] - l.get(i).length() + 1));
            }
            out.println(line.toString().stripTrailing());
        }
        out.println("n_gids_found=" + rows.size());
    }

    /** An object a line of the table. */
    List<Map<String, Object>> json() {
        return rows.stream().map(r -> {
            Map<String, Object> m = new LinkedHashMap<>();
            m.put("device", r.device);
            m.put("port", r.port);
            m.put("index", r.index);
            m.put("gid", r.gid);
            m.put("ipv4", r.ipv4);
            m.put("type", r.type);
            m.put("netdev", r.netdev);
            return m;
        }).toList();
    }
}
