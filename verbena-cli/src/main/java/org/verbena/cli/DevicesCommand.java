package org.verbena.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import org.verbena.linux.Errno;
import org.verbena.verbs.AtomicCapability;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** {@code verbena devices}: what {@code ibv_devinfo} prints. */
@Command(name = "devices", description = "Shows the RDMA devices and their ports.")
final class DevicesCommand implements Callable<Integer> {
    private static final int TAB = 8;
    private static final int VALUE_COLUMN = 48;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = {"-v", "--verbose"}, description = "Show all attributes.") private boolean verbose;

    @Option(names = "--json", description = "Print JSON, with all attributes.") private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws JsonProcessingException {
        PrintWriter err = spec.commandLine().getErr();
        List<Device> devices = PerfDevices.inOrder(Verbs.devices());
        boolean well = true;
        for (String problem : Verbs.problems()) {
            if (verbose || devices.isEmpty() || !isAbsence(problem)) {
                complain(err, problem);
            }
        }
        if (devices.isEmpty()) {
            complain(err, "there is no RDMA device: no provider found one on this machine");
            well = false;
        }
        List<Map<String, Object>> shown = new ArrayList<>();
        for (Device d : devices) {
            try {
                shown.add(describe(d));
            } catch (VerbsException e) {
                shown.add(closed(d, String.valueOf(e.getMessage())));
                well &= e.errno() == Errno.EADDRINUSE; // another program uses it, which is no fault of the device's
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(shown));
        } else {
            shown.forEach(d -> print(out, d));
        }
        out.flush();
        err.flush();
        return well ? 0 : Main.FAILURE;
    }

    /** Whether a provider only says that there is nothing for it here: no device, no library. */
    private static boolean isAbsence(String problem) {
        return problem.contains(": ENODEV: ") || problem.contains(": ENOENT: ");
    }

    private static void complain(PrintWriter err, String sentence) {
        err.println(Terminal.ERR.colours().errorText("verbena: " + sentence));
    }

    private Map<String, Object> describe(Device d) throws VerbsException {
        try (Context context = d.open()) {
            DeviceAttributes a = context.queryDevice();
            Map<String, Object> m = new LinkedHashMap<>();
            m.put("hca_id", d.name());
            m.put("provider", d.provider());
            m.put("transport", d.transport());
            m.put("fw_ver", a.firmwareVersion());
            m.put("node_guid", guid(a.nodeGuid()));
            if (verbose || json) {
                details(m, a);
            }
            m.put("phys_port_cnt", a.physicalPortCount());
            List<Map<String, Object>> ports = new ArrayList<>();
            for (int port = 1; port <= a.physicalPortCount(); port++) {
                ports.add(port(context, port));
            }
            m.put("ports", ports);
            return m;
        }
    }

    /** What is known of a device that cannot be opened. */
    private static Map<String, Object> closed(Device d, String reason) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("hca_id", d.name());
        m.put("provider", d.provider());
        m.put("transport", d.transport());
        m.put("node_guid", guid(d.guid()));
        m.put("not_opened", reason);
        return m;
    }

    private static void details(Map<String, Object> m, DeviceAttributes a) {
        m.put("vendor_id", hex(a.vendorId()));
        m.put("vendor_part_id", a.vendorPartId());
        m.put("max_mr_size", a.maxMrSize());
        m.put("page_size_cap", hex(a.pageSizeCap()));
        m.put("max_qp", a.maxQp());
        m.put("max_qp_wr", a.maxQpWr());
        m.put("max_sge", a.maxSge());
        m.put("max_inline_data", a.maxInlineData());
        m.put("max_cq", a.maxCq());
        m.put("max_cqe", a.maxCqe());
        m.put("max_mr", a.maxMr());
        m.put("max_pd", a.maxPd());
        m.put("max_qp_rd_atom", a.maxQpRdAtom());
        m.put("max_qp_init_rd_atom", a.maxQpInitRdAtom());
        m.put("atomic_cap", "ATOMIC_" + AtomicCapability.toString(a.atomicCapability()));
        a.completionTimestampMask().ifPresent(v -> m.put("completion_timestamp_mask", hex(v)));
        a.coreClockKilohertz().ifPresent(v -> m.put("hca_core_clock", v));
    }

    private Map<String, Object> port(Context context, int number) throws VerbsException {
        PortAttributes p = context.queryPort(number);
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("port", number);
        m.put("state", p.stateName());
        m.put("max_mtu", p.maxMtu());
        m.put("active_mtu", p.activeMtu());
        m.put("link_layer", p.linkLayer());
        if (verbose || json) {
            m.put("max_msg_sz", p.maxMessageSize());
            m.put("pkey_tbl_len", p.pkeyTableLength());
            m.put("gid_tbl_len", p.gidTableLength());
            List<String> gids = new ArrayList<>();
            for (int i = 0; i < p.gidTableLength(); i++) {
                gids.add(context.queryGid(number, i).toString());
            }
            m.put("gids", gids);
        }
        return m;
    }

    private static void print(PrintWriter out, Map<String, Object> device) {
        device.forEach((key, value) -> {
            if (value instanceof List<?> ports) {
                ports.forEach(p -> printPort(out, (Map<?, ?>) p));
            } else if (key.equals("hca_id")) {
                out.println(key + ":\t" + value);
            } else {
                line(out, "\t", key, value);
            }
        });
        out.println();
    }

    private static void printPort(PrintWriter out, Map<?, ?> port) {
        port.forEach((key, value) -> {
            if (value instanceof List<?> gids) {
                for (int i = 0; i < gids.size(); i++) {
                    line(out, "\t\t\t", String.format(Locale.ROOT, "GID[%3d]", i), gids.get(i));
                }
            } else {
                line(out, key.equals("port") ? "\t\t" : "\t\t\t", key, value);
            }
        });
    }

    /** A line whose value stands in column {@value #VALUE_COLUMN}, as {@code ibv_devinfo} has it. */
    private static void line(PrintWriter out, String tabs, Object key, Object value) {
        int column = TAB * tabs.length() + key.toString().length() + 1;
        int gap = Math.max(1, (VALUE_COLUMN - column + TAB - 1) / TAB);
        out.println(tabs + key + ":" + "\t".repeat(gap) + value);
    }

    private static String guid(long guid) {
        String s = String.format(Locale.ROOT, "%016x", guid);
        return s.substring(0, 4) + ":" + s.substring(4, 8) + ":" + s.substring(8, 12) + ":" + s.substring(12);
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }
}
