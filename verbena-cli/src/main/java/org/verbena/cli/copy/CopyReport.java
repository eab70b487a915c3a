// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.Json;

/** The result of each file of a run: for people, as JSON, and as exit code. Used by one thread at a time. */
final class CopyReport {
    /**
     * The result of one file or directory.
     *
     * @param file its name for people
     * @param bytes its size, or 0 for a directory
     * @param seconds from its first message to its last
     * @param sha256 hexadecimal digits; null if it was not copied
     * @param resumedFrom the first byte that was sent in this run
     * @param status how it ended
     * @param text why, if not {@link CopyStatus#OK}
     */
    record Outcome(String file, boolean directory, long bytes, double seconds, @Nullable String sha256,
            long resumedFrom,
            CopyStatus status, String text) {
        /** Something that was not copied because the whole run has failed. */
        static Outcome notCopied(CopyPlan.Entry e, CopyFailure why) {
            return new Outcome(e.name(), e.directory(), e.size(), 0, null, 0, why.status(), why.sentence());
        }

        double bytesPerSecond() {
            return seconds > 0 ? (bytes - resumedFrom) / seconds : 0;
        }
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    private final List<Outcome> outcomes = new ArrayList<>();
    private final List<CopyPlan.Omission> skipped = new ArrayList<>();
    private final Map<String, String> notKept = new HashMap<>();
    private final long started = System.nanoTime();
    private @Nullable CopyStatus failure;
    private @Nullable CopyFailure end;

    void add(Outcome outcome) {
        outcomes.add(outcome);
        if (outcome.status() != CopyStatus.OK) {
            fail(outcome.status());
        }
    }

    /** Records which mode bits of a file or directory its copy lacks. */
    void addNotKept(String file, String bits) {
        notKept.put(file, bits);
    }

    void addSkipped(CopyPlan.Omission omission) {
        skipped.add(omission);
    }

    /** Records the failure of the whole run. */
    void fail(CopyStatus status) {
        // The failure that ended everything says more than an earlier one of a single file.
        if (failure == null || (status.isFatal() && !failure.isFatal())) {
            failure = status;
        }
    }

    /** Records the failure that ended a run whose other files are unknown here. */
    void fail(CopyFailure why) {
        end = why;
        fail(why.status());
    }

    /** 0, or the code of the first failure. */
    int exitCode() {
        CopyStatus f = failure;
        return f == null ? 0 : f.exitCode();
    }

    /** One line for a file that has ended. */
    static String line(Outcome o) {
        if (o.status() != CopyStatus.OK) {
            return o.file() + ": " + o.text();
        }
        return o.file() + "  " + HumanText.size(o.bytes())
                + (o.resumedFrom() > 0 ? ", resumed at " + HumanText.size(o.resumedFrom()) : "")
                + (o.bytes() > 0 ? "  " + HumanText.size(o.bytesPerSecond()) + "/s" : "");
    }

    /** One sentence about the whole run. */
    String summary() {
        double seconds = (System.nanoTime() - started) / 1e9;
        List<Outcome> good = outcomes.stream().filter(o -> o.status() == CopyStatus.OK && !o.directory()).toList();
        long bytes = good.stream().mapToLong(Outcome::bytes).sum();
        long resumed = good.stream().mapToLong(Outcome::resumedFrom).sum();
        long bad = outcomes.size() - outcomes.stream().filter(o -> o.status() == CopyStatus.OK).count();
        String what = good.isEmpty() && failure != null
                ? "nothing was copied"
                : "copied " + HumanText.count(good.size(), "file") + ", " + HumanText.size(bytes) + " in "
                        + String.format(Locale.ROOT, "%.1f s (%s/s), SHA-256 verified", seconds,
                                HumanText.size((bytes - resumed) / Math.max(seconds, 1e-3)));
        return what + (resumed > 0 ? "; " + HumanText.size(resumed) + " were there already" : "")
                + (skipped.isEmpty() ? "" : "; " + skipped.size() + " skipped")
                + (notKept.isEmpty() ? "" : "; " + notKept.size() + " without setuid, setgid or sticky")
                + (bad == 0 ? "" : "; " + bad + " FAILED");
    }

    /** Prints all files as an array of objects, and what ended the run. */
    void printJson(PrintWriter out) {
        ArrayNode array = JSON.createArrayNode();
        for (Outcome o : outcomes) {
            String bits = notKept.get(o.file());
            if (o.directory() && o.status() == CopyStatus.OK && bits == null) {
                continue;
            }
            ObjectNode n = array.addObject().put("file", o.file());
            if (o.status() == CopyStatus.OK) {
                n.put("bytes", o.bytes()).put("seconds", Json.seconds(o.seconds()))
                        .put("bytes_per_second", Json.rate(o.bytesPerSecond()))
                        .put("sha256", o.sha256()).put("resumed_from", o.resumedFrom());
            } else {
                putError(n, o.status(), o.text());
            }
            if (bits != null) {
                n.put("not_kept", bits);
            }
        }
        for (CopyPlan.Omission s : skipped) {
            array.addObject().put("file", s.name()).put("skipped", s.reason());
        }
        CopyFailure e = end;
        if (e != null) {
            putError(array.addObject(), e.status(), e.sentence());
        }
        out.println(Json.text(array));
        out.flush();
    }

    private static void putError(ObjectNode n, CopyStatus status, String text) {
        n.put("error", text).put("status", status.name()).put("exit_code", status.exitCode());
    }
}
