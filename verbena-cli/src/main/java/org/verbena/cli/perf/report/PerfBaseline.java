// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.CommandException;

/**
 * An earlier run to compare with: what {@code verbena perf --json} printed.
 *
 * @param rows by {@link PerfResult#key()}
 * @param machine where it was measured
 * @param options how it was measured; a missing node if the file does not say it
 */
public record PerfBaseline(Path file, Map<String, PerfResult> rows, JsonNode machine, JsonNode options) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ASK = "give it a file that 'verbena perf --json' has written";
    private static final int P99 = PerfResult.PERCENTILES.indexOf("p99");
    private static final double NANOS_IN_MILLI = 1e6;
    private static final int NAMED = 3;

    /** Reads a file, or says what is wrong with it. */
    public static PerfBaseline read(Path file) throws CommandException {
        JsonNode root;
        try {
            root = JSON.readTree(Files.readAllBytes(file));
        } catch (NoSuchFileException e) {
            throw bad(file, "there is no such file", e);
        } catch (JsonProcessingException e) {
            throw bad(file, "it is not JSON (line " + e.getLocation().getLineNr() + ": " + e.getOriginalMessage()
                    .replaceAll("\\s+", " ") + ")", e);
        } catch (IOException e) {
            throw bad(file, "it cannot be read: " + e, e);
        }
        if (root == null || !root.isArray()) {
            throw bad(file, "it is not a list of rows", null);
        }
        if (root.isEmpty()) {
            throw bad(file, "it has no rows", null);
        }
        Map<String, PerfResult> rows = new LinkedHashMap<>();
        for (int i = 0; i < root.size(); i++) {
            PerfResult r = row(file, i + 1, root.get(i));
            if (rows.put(r.key(), r) != null) {
                throw bad(file, "its row " + (i + 1) + " is a second one of " + name(r), null);
            }
        }
        return new PerfBaseline(file, rows, root.get(0).path("machine"), root.get(0).path("options"));
    }

    private static PerfResult row(Path file, int number, JsonNode row) throws CommandException {
        String which = "its row " + number;
        if (row.has("counting_ns")) {
            throw bad(file, "it is of --counters", null);
        }
        for (String field : List.of("test", "size")) {
            if (!row.hasNonNull(field)) {
                throw bad(file, which + " has no '" + field + "'", null);
            }
        }
        try {
            PerfResult r = PerfResult.fromJson(row);
            boolean whole = r.test().isBandwidth()
                    ? r.rtt().isEmpty() && r.bytesPerSecond() > 0
                    : !r.rtt().isEmpty() && r.rtt().stream().allMatch(t -> t > 0);
            if (!whole) {
                throw bad(file, which + ", of " + r.test() + ", has no "
                        + (r.test().isBandwidth() ? "'bytes_per_second'" : "round trips ('rtt_ns')"), null);
            }
            return r;
        } catch (CommandException e) {
            throw e.getMessage() != null && e.getMessage().startsWith("--baseline")
                    ? e
                    : bad(file, which + " has an " + e.getMessage(), e);
        }
    }

    private static CommandException bad(Path file, String what, @Nullable Exception cause) {
        String sentence = "--baseline " + file + ": " + what + "; " + ASK;
        return cause == null ? new CommandException(sentence) : new CommandException(sentence, cause);
    }

    /** The factor by which a result is faster than that of its partner; empty without one. */
    OptionalDouble faster(PerfResult r) {
        PerfResult then = rows.get(r.key());
        return then == null
                ? OptionalDouble.empty()
                : OptionalDouble.of(r.test().isBandwidth()
                        ? r.figure() / then.figure()
                        : then.figure() / r.figure());
    }

    /** Adds the factors to a row of JSON; null where there is nothing to compare with. */
    void put(PerfResult r, ObjectNode row) {
        OptionalDouble typical = faster(r);
        PerfResult then = rows.get(r.key());
        row.put("vs_baseline", typical.isPresent() ? rounded(typical.getAsDouble()) : null);
        row.put("vs_baseline_p99", then == null || r.rtt().isEmpty()
                ? null
                : rounded(then.rtt().get(P99) / r.rtt().get(P99)));
    }

    private static Double rounded(double factor) {
        return Math.round(factor * 10_000) / 10_000.0;
    }

    /**
     * Sentences for people: rows without partner on either side, and what was different.
     *
     * @param results of this run
     * @param options of this run, as {@link PerfOptions#toJson} has them
     */
    List<String> notes(Collection<PerfResult> results, PerfMachine here, ObjectNode options) {
        List<String> notes = new ArrayList<>();
        List<String> fresh = results.stream().filter(r -> !rows.containsKey(r.key())).map(PerfBaseline::name).toList();
        if (!fresh.isEmpty()) {
            notes.add("The baseline has no row of " + some(fresh) + ".");
        }
        Set<String> now = results.stream().map(PerfResult::key).collect(Collectors.toSet());
        List<String> gone = rows.values().stream().filter(r -> !now.contains(r.key())).map(PerfBaseline::name).toList();
        if (!gone.isEmpty()) {
            notes.add("Only the baseline has " + some(gone) + ".");
        }
        List<String> different = new ArrayList<>(differences(machine, here.toJson(), Set.of("load")));
        if (options().isObject()) {
            different.addAll(differences(options(), options, Set.of()));
        } else {
            different.add("its options are unknown");
        }
        if (!different.isEmpty()) {
            notes.add("The baseline was measured differently: " + String.join("; ", different) + ".");
        }
        return notes;
    }

    private static String some(List<String> names) {
        return String.join(", ", names.subList(0, Math.min(NAMED, names.size()))) + (names.size() > NAMED
                ? " and " + (names.size() - NAMED) + " more"
                : "");
    }

    private static List<String> differences(JsonNode then, JsonNode now, Set<String> but) {
        Set<String> fields = new LinkedHashSet<>();
        now.fieldNames().forEachRemaining(fields::add);
        List<String> all = new ArrayList<>();
        for (String f : fields) {
            if (!but.contains(f) && !text(then.path(f)).equals(text(now.path(f)))) {
                all.add(f.replaceFirst("_ns$", "").replace('_', '-') + " " + value(f, then.path(f)) + ", now " + value(
                        f, now.path(f)));
            }
        }
        return all;
    }

    private static String text(JsonNode value) {
        return value.isMissingNode() || value.isNull() ? "none" : value.toString();
    }

    private static String value(String field, JsonNode value) {
        if (field.endsWith("_ns") && value.isNumber()) {
            return String.format(Locale.ROOT, "%.0f ms", value.asDouble() / NANOS_IN_MILLI);
        }
        return value.isTextual() ? "'" + value.asText() + "'" : text(value);
    }

    /** A row in a sentence. */
    static String name(PerfResult r) {
        return r.test() + (r.test().isNio() || r.test().isStackTcp() ? " " + r.ends() : "") + " " + r.size() + (r
                .device().isEmpty()
                || r.device().equals("tcp") ? "" : " by " + r.device())
                + (r.connections() > 1 ? " over " + r.connections() + " connections" : "")
                + (r.rate() == null ? "" : " at " + r.rate().asked() + "/s");
    }
}
