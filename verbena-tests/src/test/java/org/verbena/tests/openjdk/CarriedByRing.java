package org.verbena.tests.openjdk;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** What rings have carried of each test, in all its runs, and whether that is what the expectations say. */
final class CarriedByRing {
    /** An expectation asks for such a part of what a run has seen: some connections end before they can agree. */
    private static final int MARGIN = 3;

    /** Of the runs of one test. */
    private record Runs(long leastBytes, long mostBytes, long mostEnds) {
        Runs and(Runs other) {
            return new Runs(Math.min(leastBytes, other.leastBytes), Math.max(mostBytes, other.mostBytes),
                    Math.max(mostEnds, other.mostEnds));
        }
    }

    private final Map<String, Runs> runs = new HashMap<>();

    /** One run more. */
    void add(String test, Carried carried) {
        runs.merge(test, new Runs(carried.bytes(), carried.bytes(), carried.ends()), Runs::and);
    }

    /** What is wrong, and what to do about it; null if it is as expected, or the test was not run on ours. */
    @Nullable
    String problem(String test, Expectations.Expectation expected) {
        Runs r = runs.get(test);
        if (r == null) {
            return null;
        }
        return switch (expected.kind()) {
            case STREAM -> r.leastBytes >= expected.bytesByRing()
                    ? null
                    : "rings carried " + r.leastBytes + " bytes, and the expectations say at least "
                            + expected.bytesByRing();
            case AGREES -> r.mostBytes == 0
                    ? null
                    : "rings carried " + r.mostBytes + " bytes, and the expectations say that its ends only agree. "
                            + "Change the line: " + stream(test, r);
            case PASSES -> r.mostEnds == 0
                    ? null
                    : r.mostEnds + " ends agreed upon rings, which carried " + r.mostBytes
                            + " bytes, and the expectations do not name it. Add the line: "
                            + (r.mostBytes > 0 ? stream(test, r) : test + " agrees WHY NOTHING IS WRITTEN");
            default -> null;
        };
    }

    private static String stream(String test, Runs r) {
        return test + " stream " + Math.max(1, r.leastBytes / MARGIN) + " of " + r.mostBytes;
    }
}
