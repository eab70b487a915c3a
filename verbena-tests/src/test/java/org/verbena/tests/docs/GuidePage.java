// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.tests.apps.Applications;

/** A page of docs/guides that starts programs on jars which it has its reader copy. The jars are those of verbena-apps. */
record GuidePage(Markdown page) {
    private static final Pattern JAR = Pattern.compile(
            "dependency:copy -Dartifact=[^:\\s]+:([^:\\s]+):(\\S+) -DoutputDirectory=(\\S+)");
    private static final Pattern LOOP = Pattern.compile("for part in ([^;]+); do");
    private static final String PART = "$part";
    private static final Pattern JAVA = Pattern.compile("(?:.* )?java (.+?)(?:  +#.*)?");
    private static final String CLASS_PATH = "-cp";

    static GuidePage of(String name) {
        return new GuidePage(Markdown.read(Markdown.root().resolve("docs/guides").resolve(name)));
    }

    /**
     * The words behind {@code java} of the command lines with this text, which differ in nothing else: the class path and the programs
     * as they are here.
     */
    List<String> java(String text) {
        List<String> lines = page.commands().stream().filter(l -> l.contains(text)).map(JAVA::matcher)
                .filter(Matcher::matches).map(m -> m.group(1)).distinct().toList();
        if (lines.size() != 1) {
            throw new AssertionError(page.file() + " starts Java in " + lines.size() + " ways with '" + text
                    + "', not in one: " + lines);
        }
        List<String> words = new ArrayList<>(List.of(lines.getFirst().replace("'", "").split(" +", -1)));
        for (int i = 0; i < words.size(); i++) {
            if (i > 0 && words.get(i - 1).equals(CLASS_PATH)) {
                words.set(i, classPath(words.get(i)));
            } else if (words.get(i).startsWith("docs/")) {
                words.set(i, Markdown.root().resolve(words.get(i)).toString());
            }
        }
        return words;
    }

    /** What the page copies into a folder, and nothing else. */
    private String classPath(String folder) {
        List<Path> jars = JAR.matcher(page.text()).results().filter(r -> folder.equals(r.group(3) + "/*"))
                .flatMap(r -> parts(r.group(1)).map(artifact -> jar(artifact + "-" + r.group(2) + ".jar"))).toList();
        if (jars.isEmpty()) {
            throw new AssertionError(page.file() + " copies nothing to " + folder);
        }
        return jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** The artifacts of a name, one for each part of the page's loop. */
    private Stream<String> parts(String artifact) {
        if (!artifact.contains(PART)) {
            return Stream.of(artifact);
        }
        Matcher loop = LOOP.matcher(page.text());
        if (!loop.find()) {
            throw new AssertionError(page.file() + " has no loop for " + artifact);
        }
        return Arrays.stream(loop.group(1).split(" +", -1)).map(part -> artifact.replace(PART, part));
    }

    private Path jar(String name) {
        Path jar = Applications.target().resolve("lib").resolve(name);
        if (!Files.exists(jar)) {
            throw new AssertionError(page.file() + " has its reader copy " + name
                    + ", which verbena-apps does not use: take its version, or add it there");
        }
        return jar;
    }
}
