// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Runs all scripts below a directory. */
public final class Suite {
    private static final int SEGMENT = 1460;

    /**
     * What came of one script.
     *
     * @param path below the directory of the suite
     * @param outcome of the first try
     * @param withSlack of the second, for which windows may differ by a segment; the same as the first unless that failed
     */
    public record Result(String path, Outcome outcome, Outcome withSlack) {
        /** Whether it holds but for windows. */
        public boolean onlyWindows() {
            return !(outcome instanceof Outcome.Passed) && withSlack instanceof Outcome.Passed;
        }

        /** The directory that it is counted with. */
        public String directory() {
            return path.contains("/") ? path.substring(0, path.indexOf('/')) : ".";
        }
    }

    private Suite() {}

    /** The scripts below a directory, in order. */
    public static List<Path> scripts(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(f -> f.toString().endsWith(".pkt")).sorted().toList();
        }
    }

    /** Runs them. */
    public static List<Result> run(Path directory, Profile profile, TargetFactory factory) throws IOException {
        List<Result> results = new ArrayList<>();
        for (Path file : scripts(directory)) {
            results.add(run(directory, file, profile, factory));
        }
        return results;
    }

    /** Runs each over both versions of IP: what is told is of the version over which it does not hold, if there is one. */
    public static List<Result> runOverBoth(Path directory, Profile profile, TargetFactory factory)
            throws IOException {
        List<Result> results = new ArrayList<>();
        for (Path file : scripts(directory)) {
            Result r = run(directory, file, profile.over(IpVersion.IPV4), factory);
            results.add(r.withSlack() instanceof Outcome.Passed
                    ? run(directory, file, profile.over(IpVersion.IPV6), factory)
                    : r);
        }
        return results;
    }

    private static Result run(Path directory, Path file, Profile profile, TargetFactory factory) throws IOException {
        String path = directory.relativize(file).toString();
        Outcome first = outcome(file, profile, factory);
        Outcome second = first instanceof Outcome.Failed
                ? outcome(file, profile.withWindowSlack(SEGMENT), factory)
                : first;
        return new Result(path, first, second);
    }

    private static Outcome outcome(Path file, Profile profile, TargetFactory factory) throws IOException {
        try {
            return Runner.run(ScriptParser.read(file, profile.defined()), profile, factory);
        } catch (ParseException e) {
            return new Outcome.Unsupported("not to be read: " + e.getMessage());
        } catch (RuntimeException e) {
            StackTraceElement[] at = e.getStackTrace();
            return new Outcome.Failed("EXCEPTION", file.getFileName() + ":1: the stack threw " + e
                    + (at.length > 0 ? " at " + at[0] : ""));
        }
    }
}
