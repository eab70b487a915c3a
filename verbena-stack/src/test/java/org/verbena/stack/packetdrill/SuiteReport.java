// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** A summary of what came of a suite: of the second try, if there was one. */
public final class SuiteReport {
    private static final int SHOWN = 400;
    private static final Pattern FLAGS = Pattern.compile("^(\\S+).*$");

    private final Map<String, int[]> directories = new TreeMap<>();
    private final Map<String, List<String>> classes = new LinkedHashMap<>();

    public SuiteReport(List<Suite.Result> results) {
        for (Suite.Result r : results) {
            int[] counts = directories.computeIfAbsent(r.directory(), k -> new int[4]);
            switch (r.withSlack()) {
                case Outcome.Passed p -> counts[r.onlyWindows() ? 1 : 0]++;
                case Outcome.Failed f -> {
                    counts[2]++;
                    add(f.kind() + " " + likeOthers(f.message()), r.path() + " " + f.message());
                }
                case Outcome.Unsupported u -> {
                    counts[3]++;
                    add("UNSUPPORTED " + u.reason(), r.path());
                }
            }
        }
    }

    private void add(String like, String example) {
        classes.computeIfAbsent(like, k -> new ArrayList<>()).add(example);
    }

    /** A message without what is particular to the script: what differs of a packet, and numbers left out. */
    static String likeOthers(String message) {
        String m = message.substring(message.indexOf(": ") + 2);
        int fields = m.indexOf("; ", Math.max(0, m.indexOf("; sent")) + 1);
        if (m.contains("; sent > ") && fields > 0) {
            m = "sent " + FLAGS.matcher(m.substring(m.indexOf("; sent > ") + 9)).replaceFirst("$1")
                    + m.substring(fields);
        }
        return m.replaceAll("\\d+", "N");
    }

    @Override
    public String toString() {
        StringBuilder b = new StringBuilder();
        b.append(String.format("%-22s %7s %13s %7s %12s%n", "directory", "passed", "but windows", "failed",
                "unsupported"));
        directories.forEach((d, c) -> b.append(String.format("%-22s %7d %13d %7d %12d%n", d, c[0], c[1], c[2], c[3])));
        classes.entrySet().stream().sorted(Comparator.comparingInt(e -> -e.getValue().size())).forEach(e -> {
            b.append(String.format("%5d %s%n", e.getValue().size(), shortened(e.getKey())));
            b.append("      ").append(shortened(e.getValue().getFirst())).append('\n');
        });
        return b.toString();
    }

    private static String shortened(String s) {
        return s.length() > SHOWN ? s.substring(0, SHOWN) : s;
    }
}
