// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.verbena.tests.Repository;

/** A document of the repository. */
record Markdown(Path file, String text) {
    private static final Pattern FENCE = Pattern.compile("^```(\\w*)\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ +(.*)$", Pattern.MULTILINE);

    /** The folder that holds the whole project. */
    static Path root() {
        return Repository.root();
    }

    /** All documents: those beside the README, those in {@code docs}, the decisions and the guides. */
    static List<Markdown> all() throws IOException {
        List<Markdown> documents = new ArrayList<>();
        for (Path folder : List.of(root(), root().resolve("docs"), root().resolve("docs/decisions"), root().resolve(
                "docs/guides"))) {
            try (Stream<Path> files = Files.list(folder)) {
                files.filter(f -> f.toString().endsWith(".md")).sorted().forEach(f -> documents.add(read(f)));
            }
        }
        return documents;
    }

    static Markdown read(Path file) {
        try {
            return new Markdown(file, Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The blocks of Java. */
    List<String> snippets() {
        return FENCE.matcher(text).results().filter(r -> r.group(1).equals("java")).map(r -> r.group(2)).toList();
    }

    /** The command lines of the blocks that are no Java: each in one line, without a prompt. */
    List<String> commands() {
        return FENCE.matcher(text).results().filter(r -> r.group(1).isEmpty()).flatMap(r -> r.group(2)
                .replaceAll(" *\\\\\n *", " ").lines()).map(l -> l.replaceFirst("^\\$ ", "")).toList();
    }

    /** The links that lead to files here, with their anchors. */
    List<String> links() {
        return LINK.matcher(withoutCode()).results().map(r -> r.group(1)).filter(l -> !l.contains("://")).toList();
    }

    /** The links that lead nowhere. */
    List<String> brokenLinks() {
        List<String> broken = new ArrayList<>();
        for (String link : links()) {
            String[] parts = link.split("#", 2);
            Path to = parts[0].isEmpty() ? file : file.resolveSibling(parts[0]);
            if (!Files.exists(to) || parts.length == 2 && !read(to).anchors().contains(parts[1])) {
                broken.add(link);
            }
        }
        return broken;
    }

    private String withoutCode() {
        return FENCE.matcher(text).replaceAll("").replaceAll("`[^`\n]*`", Matcher.quoteReplacement("code"));
    }

    /** Headings as anchors: lower case, hyphens for blanks, otherwise only letters and digits. */
    private List<String> anchors() {
        return HEADING.matcher(FENCE.matcher(text).replaceAll("")).results()
                .map(r -> r.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
                .toList();
    }
}
