// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Scripts that are known not to hold: lines {@code path, tab, reason}; lines with {@code #} are comments. A path with {@code ipv*}
 * stands for that with {@code ipv4} and that with {@code ipv6}.
 */
public final class Expectations {
    private static final String EITHER = "ipv*";

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
        left.keySet().forEach(p -> surprises.add(p + " is listed, and not there"));
        return surprises;
    }
}
