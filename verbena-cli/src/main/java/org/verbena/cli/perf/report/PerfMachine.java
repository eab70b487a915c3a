// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.verbena.cli.perf.session.PerfCpus;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;

/**
 * Where the measuring side runs, when the run begins: without it figures cannot be compared.
 *
 * @param model of the processor, or empty
 * @param processors that the command may use
 * @param load runnable tasks on average over the last minute; negative if unknown
 * @param pinned processors of the measuring side and of its peer; empty if they are not bound
 */
public record PerfMachine(String model, int processors, double load, List<Integer> pinned, String kernel, String jdk) {
    private static final Path LOAD = Path.of("/proc/loadavg");
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    /** This one; {@code oneHost} if the peer runs on it, too. */
    public static PerfMachine here(PerfOptions options, boolean oneHost) throws CommandException {
        return new PerfMachine(readModel(), PerfCpus.allowed().cardinality(), readLoad(), PerfCpus.chosen(options,
                oneHost),
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vendor") + " " + Runtime.version());
    }

    private static String readModel() {
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(l -> l.startsWith("model name")).map(l -> l.substring(l.indexOf(':') + 1).strip())
                    .findFirst().orElse("");
        } catch (IOException | java.io.UncheckedIOException unknown) {
            return "";
        }
    }

    private static double readLoad() {
        try {
            return Double.parseDouble(Files.readString(LOAD).split(" ", 2)[0]);
        } catch (IOException | NumberFormatException unknown) {
            return -1;
        }
    }

    /** For people, a sentence a line. */
    List<String> lines() {
        String bound = pinned.isEmpty()
                ? "the measuring threads are not bound"
                : "the measuring threads are bound to CPU " + pinned.getFirst() + " and " + pinned.getLast();
        return List.of((model.isEmpty() ? "" : model + ", ") + HumanText.count(processors, "CPU") + (load < 0
                ? ""
                : String.format(Locale.ROOT, ", load %.2f", load)) + "; " + bound + ".", kernel + ", " + jdk + ".");
    }

    ObjectNode toJson() {
        ObjectNode o = JsonNodeFactory.instance.objectNode();
        o.put("cpu", model.isEmpty() ? null : model);
        o.put("cpus", processors);
        o.put("load", load < 0 ? null : load);
        if (pinned.isEmpty()) {
            o.putNull("pinned");
        } else {
            pinned.forEach(o.putArray("pinned")::add);
        }
        return o.put("kernel", kernel).put("jdk", jdk);
    }
}
