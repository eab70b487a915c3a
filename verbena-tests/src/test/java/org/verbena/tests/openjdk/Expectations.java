// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The tests that do not simply pass on both providers, each with its reason: a committed file. */
public final class Expectations {
    /** The expected result of a test. */
    public enum Kind {
        /** Passes on both; tests that the file does not name. */
        PASSES,
        /** Passes on both, and on ours rings carry at least as many bytes as the reason begins with. */
        STREAM,
        /** Passes on the JDK's provider and fails on ours. */
        FAILS,
        /** Fails on the provider of the JDK, so that it proves nothing about ours. */
        FAILS_ON_JDK,
        /** Takes minutes: run with {@code --full} only, and then passes on both. */
        LONG,
        /** Not run. */
        NOT_RUN
    }

    /**
     * The expected result, and the reason.
     *
     * @param bytesByRing how many bytes rings have to carry
     */
    public record Expectation(Kind kind, String reason, long bytesByRing) {
        /** Whether it passes on both. */
        boolean isToPass() {
            return kind == Kind.PASSES || kind == Kind.STREAM;
        }
    }

    private static final Expectation PASSES = new Expectation(Kind.PASSES, "", 0);

    private final Map<String, Expectation> named = new LinkedHashMap<>();

    /** Reads lines {@code test kind reason…}; {@code #} starts a comment. */
    public Expectations(Path file) throws IOException {
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            String text = line.strip();
            if (text.isEmpty() || text.startsWith("#")) {
                continue;
            }
            String[] parts = text.split("\\s+", 3);
            if (parts.length < 3) {
                throw new IOException(file + ":" + number + ": a test, a kind and a reason, not: " + line);
            }
            Kind kind = Kind.valueOf(parts[1].replace('-', '_').toUpperCase(Locale.ROOT));
            long bytes = 0;
            if (kind == Kind.STREAM) {
                try {
                    bytes = Long.parseLong(parts[2].split(" ", 2)[0]);
                } catch (NumberFormatException e) {
                    throw new IOException(file + ":" + number + ": stream, and a number of bytes, not: " + line, e);
                }
            }
            if (named.put(parts[0], new Expectation(kind, parts[2], bytes)) != null) {
                throw new IOException(file + ":" + number + ": " + parts[0] + " is named twice");
            }
        }
    }

    public Expectation of(String test) {
        return named.getOrDefault(test, PASSES);
    }

    /** All that are named. */
    public Map<String, Expectation> named() {
        return named;
    }
}
