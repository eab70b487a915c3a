// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.example;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The example programs of a folder, each a file for Java's source launcher, and the ways in which they are started. Both are in
 * its file {@code examples.properties}, which the tests of the examples read by this class, too.
 */
public final class Examples {
    private static final String FILE = "examples.properties";
    private static final String WAY = "way.";

    /** The comment before the class. */
    private static final Pattern ABOUT = Pattern.compile("/\\*\\*(.*?)\\*/\\s*public ", Pattern.DOTALL);
    private static final Pattern SENTENCE = Pattern.compile("(.*?[.])( .*|$)", Pattern.DOTALL);
    private static final Pattern CODE = Pattern.compile("\\{@code ([^}]*)\\}");

    private final Path folder;
    private final Map<String, Example> examples = new TreeMap<>();
    private final Map<String, String> ways = new TreeMap<>();

    /**
     * A program.
     *
     * @param name that of its class
     * @param source its file
     * @param way how it is started
     * @param arguments what it takes, for people; empty if nothing
     */
    public record Example(String name, Path source, String way, String arguments) {
        /** What it shows: the first sentence of the comment before its class. */
        public String about() throws IOException {
            Matcher comment = ABOUT.matcher(Files.readString(source));
            if (!comment.find()) {
                return "";
            }
            String text = comment.group(1).replaceAll("\\s+\\* ?|\\s+", " ").strip();
            Matcher sentence = SENTENCE.matcher(CODE.matcher(text).replaceAll("$1"));
            return sentence.matches() ? sentence.group(1) : text;
        }
    }

    private Examples(Path folder) {
        this.folder = folder;
    }

    /** Those of a folder. */
    public static Examples in(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.isReadable(file)) {
            throw new FileNotFoundException("the examples are not here, " + file
                    + " cannot be read: they are in the folder docs/examples of the sources and of the distribution");
        }
        Examples all = new Examples(folder);
        Properties lines = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            lines.load(in);
        }
        for (String key : lines.stringPropertyNames()) {
            all.add(key, lines.getProperty(key).strip());
        }
        return all;
    }

    private void add(String key, String value) {
        if (key.startsWith(WAY)) {
            ways.put(key.substring(WAY.length()), value);
        } else {
            String[] words = value.split(" ", 2);
            examples.put(key, new Example(key, folder.resolve(key + ".java"), words[0], words.length == 1
                    ? ""
                    : words[1]));
        }
    }

    /** All, by name. */
    public Map<String, Example> all() {
        return examples;
    }

    /** The names of the ways. */
    public List<String> ways() {
        return List.copyOf(ways.keySet());
    }

    /**
     * The JVM's options of a way.
     *
     * @param places what stands for {@code {lib}} and {@code {agent}}, without the braces
     */
    public List<String> options(String way, Map<String, String> places) {
        String words = ways.get(way);
        if (words == null) {
            throw new IllegalArgumentException(folder.resolve(FILE) + " has no way '" + way + "', only " + ways());
        }
        return Stream.of(words.split(" +", -1)).filter(w -> !w.isEmpty()).map(w -> replaced(w, places)).toList();
    }

    /** After the split: paths may have blanks. */
    private static String replaced(String word, Map<String, String> places) {
        String done = word;
        for (Map.Entry<String, String> place : places.entrySet()) {
            done = done.replace("{" + place.getKey() + "}", place.getValue());
        }
        return done;
    }
}
