// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.OpenDevices;
import org.verbena.cli.support.Terminal;
import org.verbena.linux.Errno;
import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** {@code verbena devices}: prints the same as {@code ibv_devinfo}. */
@Command(name = "devices", description = "Shows the RDMA devices and their ports.")
final class DevicesCommand implements Callable<Integer> {
    private static final int TAB = 8;
    private static final int VALUE_COLUMN = 48;
    private static final int NAME_TABS = 5;
    private static final int MAX_PORT = 255;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "DEVICE",
            description = "Show this one only.") private @Nullable String device;

    @Option(names = {"-d", "--ib-dev"}, paramLabel = "DEVICE",
            description = "Show this one only, as ibv_devinfo has it.") private @Nullable String same;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "N",
            description = "Show this port only.") private @Nullable Integer port;

    @Option(names = {"-l", "--list"}, description = "Print the names only, and open no device.") private boolean list;

    @Option(names = {"-g", "--gids"},
            description = "Print the GID tables only, as show_gids does.") private boolean gids;

    @Option(names = {"-v", "--verbose"}, description = "Show all attributes, GIDs and P_Keys.") private boolean verbose;

    @Option(names = "--json", description = "Print JSON, with all attributes.") private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws JsonProcessingException {
        PrintWriter err = spec.commandLine().getErr();
        List<Device> devices = OpenDevices.inOrder(Verbs.devices());
        boolean well = true;
        for (String problem : Verbs.problems()) {
            if (verbose || devices.isEmpty() || !isAbsence(problem)) {
                complain(err, problem);
            }
        }
        List<Device> chosen = chosen(devices);
        if (chosen.isEmpty()) {
            complain(err, devices.isEmpty()
                    ? "there is no RDMA device: no provider found one on this machine"
                    : "there is no device '" + name() + "': " + names(devices));
            well = false;
        }
        PrintWriter out = spec.commandLine().getOut();
        if (list) {
            well &= list(out, chosen);
        } else {
            well &= gids ? gids(out, err, chosen) : describe(out, err, chosen);
        }
        out.flush();
        err.flush();
        return well ? 0 : ExitCode.FAILURE;
    }

    private @Nullable String name() {
        return device != null ? device : same;
    }

    private List<Device> chosen(List<Device> devices) {
        if (device != null && same != null && !device.equals(same)) {
            throw new ParameterException(spec.commandLine(), "one device, or all: " + device + " or -d " + same);
        }
        if (gids && list) {
            throw new ParameterException(spec.commandLine(), "--list prints names, --gids tables: choose one");
        }
        Integer p = port;
        if (p != null && (p < 1 || p > MAX_PORT)) {
            throw new ParameterException(spec.commandLine(), "--ib-port " + p + ": must be 1 to " + MAX_PORT);
        }
        String name = name();
        return name == null ? devices : devices.stream().filter(d -> d.name().equals(name)).toList();
    }

    private static String names(List<Device> devices) {
        return devices.stream().map(Device::name).collect(Collectors.joining(", "));
    }

    private boolean list(PrintWriter out, List<Device> devices) throws JsonProcessingException {
        if (json) {
            out.println(new ObjectMapper().writeValueAsString(devices.stream().map(Device::name).toList()));
        } else if (!devices.isEmpty()) {
            out.println(HumanText.count(devices.size(), "HCA") + " found:");
            devices.forEach(d -> out.println("\t" + d.name()));
            out.println();
        }
        return true;
    }

    private boolean gids(PrintWriter out, PrintWriter err, List<Device> devices) throws JsonProcessingException {
        Integer p = port;
        GidTable table = new GidTable(p == null ? 0 : p);
        boolean well = true;
        for (Device d : devices) {
            try {
                table.add(d);
            } catch (VerbsException e) {
                complain(err, String.valueOf(e.getMessage()));
                well &= e.errno() == Errno.EADDRINUSE;
            }
        }
        if (json) {
            out.println(new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(table.json()));
        } else if (!devices.isEmpty()) {
            table.print(out);
        }
        return well;
    }

    private boolean describe(PrintWriter out, PrintWriter err, List<Device> devices) throws JsonProcessingException {
        Integer p = port;
        DeviceDescription description = new DeviceDescription(verbose || json, p == null ? 0 : p);
        boolean well = true;
        List<Map<String, Object>> shown = new ArrayList<>();
        for (Device d : devices) {
            try {
                shown.add(description.of(d));
            } catch (VerbsException e) {
                String why = String.valueOf(e.getMessage());
                if (p != null && e.errno() == Errno.EINVAL) {
                    complain(err, why);
                    well = false;
                    continue;
                }
                shown.add(DeviceDescription.closed(d, why));
                well &= e.errno() == Errno.EADDRINUSE; // another program uses it, which is not a fault of the device
            }
        }
        if (json) {
            out.println(new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(shown));
        } else {
            shown.forEach(d -> print(out, d));
        }
        return well;
    }

    /** Whether a provider only reports that it has nothing to work with here: no device, no library. */
    private static boolean isAbsence(String problem) {
        return problem.contains(": ENODEV: ") || problem.contains(": ENOENT: ");
    }

    private static void complain(PrintWriter err, String sentence) {
        err.println(Terminal.ERR.colours().errorText("verbena: " + sentence));
    }

    private static void print(PrintWriter out, Map<String, Object> device) {
        device.forEach((key, value) -> {
            if (key.equals(DeviceDescription.PORTS)) {
                ((List<?>) value).forEach(p -> printPort(out, (Map<?, ?>) p));
            } else if (value instanceof List<?> names) {
                printNames(out, key, names);
            } else if (key.equals("hca_id")) {
                out.println(key + ":\t" + value);
            } else {
                line(out, "\t", key, value);
            }
        });
        out.println();
    }

    /** Below their number, or below a heading. */
    private static void printNames(PrintWriter out, String key, List<?> names) {
        if (!key.endsWith("_names")) {
            out.println("\t" + key + ":");
        }
        for (Object name : names.isEmpty() ? List.of("NO SUPPORT") : names) {
            out.println("\t".repeat(NAME_TABS) + name);
        }
    }

    private static void printPort(PrintWriter out, Map<?, ?> port) {
        port.forEach((key, value) -> {
            if (key.equals(DeviceDescription.GIDS)) {
                List<?> gids = (List<?>) value;
                for (int i = 0; i < gids.size(); i++) {
                    line(out, "\t\t\t", String.format(Locale.ROOT, "GID[%3d]", i), gids.get(i) + behind(port,
                            DeviceDescription.GID_TYPES, i) + behind(port, DeviceDescription.GID_NETDEVS, i));
                }
            } else if (key.equals(DeviceDescription.PKEYS)) {
                List<?> pkeys = (List<?>) value;
                for (int i = 0; i < pkeys.size(); i++) {
                    line(out, "\t\t\t", String.format(Locale.ROOT, "PKEY[%3d]", i), pkeys.get(i));
                }
            } else if (!(value instanceof List<?>)) {
                line(out, key.equals("port") ? "\t\t" : "\t\t\t", key, value);
            }
        });
    }

    private static String behind(Map<?, ?> port, String key, int i) {
        String text = port.get(key) instanceof List<?> all ? String.valueOf(all.get(i)) : "";
        return text.isEmpty() ? "" : ", " + text;
    }

    /** A line whose value stands in column {@value #VALUE_COLUMN}, like {@code ibv_devinfo}. */
    private static void line(PrintWriter out, String tabs, Object key, Object value) {
        int column = TAB * tabs.length() + key.toString().length() + 1;
        int gap = Math.max(1, (VALUE_COLUMN - column + TAB - 1) / TAB);
        out.println(tabs + key + ":" + "\t".repeat(gap) + value);
    }
}
