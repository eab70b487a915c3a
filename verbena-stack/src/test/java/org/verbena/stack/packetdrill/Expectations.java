// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Scripts that are known not to hold: lines {@code path, tab, reason}; lines with {@code #} are comments. */
public final class Expectations {
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
            if (reasons.put(parts[0], parts[1]) != null) {
                throw new IllegalArgumentException("twice: " + parts[0]);
            }
        }
    }

    /**
     * What is not as listed: scripts that fail and are not, those that hold and are, and listed ones that are not there.
     * Scripts for IPv6 are left out; those that hold but for windows that differ by less than a segment hold.
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
                case Outcome.Unsupported u when reason == null && !u.reason().equals("IPv6") -> surprises.add(r.path()
                        + " cannot be run: " + u.reason());
                default -> {
                    // as listed
                }
            }
        }
        left.keySet().forEach(p -> surprises.add(p + " is listed, and not there"));
        return surprises;
    }
}
