// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Scripts that are known not to hold: lines {@code path, tab, reason}; lines with {@code #} are comments. A path with {@code ipv*}
 * stands for that with {@code ipv4} and that with {@code ipv6}. A reason that begins with {@code n/a: } is that of a script which
 * does not apply to the stack: of what it does not have, or of what only the author's stack has.
 */
public final class Expectations {
    private static final String EITHER = "ipv*";
    private static final String NOT_APPLICABLE = "n/a: ";

    private final Map<String, String> reasons = new TreeMap<>();

    /**
     * Reads lines.
     *
     * @throws IllegalArgumentException if one has no reason, or a path is there twice
     */
    public Expectations(List<String> lines) {
        for (String line : lines) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] parts = line.split("\t", 2);
            if (parts.length < 2 || parts[1].isBlank()) {
                throw new IllegalArgumentException("no tab and reason: " + line);
            }
            if (parts[0].contains(EITHER)) {
                add(parts[0].replace(EITHER, "ipv4"), parts[1]);
                add(parts[0].replace(EITHER, "ipv6"), parts[1]);
            } else {
                add(parts[0], parts[1]);
            }
        }
    }

    private void add(String path, String reason) {
        if (reasons.put(path, reason) != null) {
            throw new IllegalArgumentException("twice: " + path);
        }
    }

    /**
     * What is not as listed: scripts that fail and are not, those that hold and are, and listed ones that are not there.
     * Those that hold but for windows that differ by less than a segment hold.
     */
    public List<String> surprises(List<Suite.Result> results) {
        return surprises(results, p -> true);
    }

    /** The same, if only scripts with certain paths were run. */
    public List<String> surprises(List<Suite.Result> results, Predicate<String> run) {
        List<String> surprises = new ArrayList<>();
        Map<String, String> left = new TreeMap<>(reasons);
        for (Suite.Result r : results) {
            String reason = left.remove(r.path());
            switch (r.withSlack()) {
                case Outcome.Passed p when reason != null -> surprises.add(r.path()
                        + " holds, and is listed as failing: " + reason);
                case Outcome.Failed f when reason == null -> surprises.add(r.path() + " fails: " + f.message());
                case Outcome.Unsupported u when reason == null -> surprises.add(r.path() + " cannot be run: " + u
                        .reason());
                default -> {
                    // as listed
                }
            }
        }
        left.keySet().stream().filter(run).forEach(p -> surprises.add(p + " is listed, and not there"));
        return surprises;
    }

    /** How many scripts there are, how many do not apply, and how many of the others hold. */
    public String sum(List<Suite.Result> results) {
        long outside = results.stream().filter(r -> reasons.getOrDefault(r.path(), "").startsWith(NOT_APPLICABLE))
                .count();
        long passed = results.stream().filter(r -> r.withSlack() instanceof Outcome.Passed).count();
        return String.format("%d scripts; %d do not apply; of the other %d, %d hold and %d do not", results.size(),
                outside, results.size() - outside, passed, results.size() - outside - passed);
    }
}
