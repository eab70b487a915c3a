// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One {@code @run} of an OpenJDK test, from the jtreg comment at its head.
 *
 * @param name     its file below {@code java/nio/channels}, or {@code net/} and its file below {@code java/net}, without the
 *     ending; a second run of a file ends in {@code #2}
 * @param file     its source
 * @param action   {@code main}, {@code junit} or {@code testng}
 * @param fails    whether it passes by ending with an exit code other than 0
 * @param nativeLibrary whether it needs the C library of jtreg's own test library
 * @param jvm      options of its JVM
 * @param command  its class and arguments
 * @param libraries folders of sources that it uses, relative to its own or absolute below the folder {@code test}
 * @param build    classes that it needs and that the compiler does not find by itself
 * @param modules  packages of modules that it must have access to
 * @param requires what it wants of the machine
 * @param timeoutSeconds how long it may take
 */
record JtregTest(String name, Path file, String action, boolean fails, boolean nativeLibrary, List<String> jvm,
        List<String> command,
        List<String> libraries, List<String> build, List<String> modules, String requires, int timeoutSeconds) {
    private static final Pattern COMMENT = Pattern.compile("/\\*(.*?)\\*/", Pattern.DOTALL);
    private static final Pattern TAG = Pattern.compile("^@([a-z]+)\\b(.*)$", Pattern.DOTALL);
    private static final int DEFAULT_SECONDS = 120;
    private static final int LONGEST_SECONDS = 300;

    /** The runs that a source file asks for; none if it is no test. */
    static List<JtregTest> of(Path root, String prefix, Path file) throws IOException {
        String source = Files.readString(file, StandardCharsets.ISO_8859_1);
        String name = prefix + root.relativize(file).toString().replaceAll("\\.java$", "");
        List<JtregTest> found = new ArrayList<>();
        Matcher comments = COMMENT.matcher(source);
        while (comments.find()) {
            List<String[]> tags = tags(comments.group(1));
            if (tags.stream().anyMatch(t -> t[0].equals("test"))) {
                block(name, file, tags, found);
            }
        }
        return found;
    }

    private static void block(String name, Path file, List<String[]> tags, List<JtregTest> found) {
        String main = file.getFileName().toString().replaceAll("\\.java$", "");
        List<String> runs = new ArrayList<>(all(tags, "run"));
        if (runs.isEmpty()) {
            runs.add("main " + main);
        }
        for (String run : runs) {
            List<String> words = words(List.of(run));
            String[] action = words.get(0).split("/", -1);
            int i = 1;
            while (i < words.size() && words.get(i).startsWith("-")) {
                // options such as --add-opens take the word after them, unless it comes with =
                i += words.get(i).matches("--(add|limit|patch|enable)-[a-z-]+|-cp") ? 2 : 1;
            }
            List<String> command = new ArrayList<>(words.subList(Math.min(i, words.size()), words.size()));
            if (command.isEmpty()) {
                command.add(main);
            }
            int seconds = DEFAULT_SECONDS;
            for (String a : action) {
                if (a.startsWith("timeout=")) {
                    seconds = Math.clamp(Integer.parseInt(a.substring("timeout=".length())), DEFAULT_SECONDS,
                            LONGEST_SECONDS);
                }
            }
            found.add(new JtregTest(found.isEmpty() ? name : name + "#" + (found.size() + 1), file, action[0],
                    List.of(action).contains("fail"), List.of(action).contains("native"), List.copyOf(words.subList(1,
                            Math.min(i, words.size()))),
                    List.copyOf(command), words(all(tags, "library")), words(all(tags, "build")),
                    words(all(tags, "modules")), String.join(" ", all(tags, "requires")), seconds));
        }
    }

    /** Whether this Linux machine meets the requirements of the test. */
    boolean fits() {
        String r = requires.toLowerCase(Locale.ROOT);
        boolean os = !r.contains("os.family ==") || r.contains("\"linux\"");
        return os && !r.contains("os.maxmemory");
    }

    private static List<String[]> tags(String comment) {
        List<String[]> found = new ArrayList<>();
        for (String line : comment.lines().toList()) {
            String text = line.strip().replaceFirst("^\\*+ ?", "").strip();
            Matcher m = TAG.matcher(text);
            if (m.matches()) {
                found.add(new String[] {m.group(1), m.group(2).strip()});
            } else if (!found.isEmpty()) {
                found.getLast()[1] += " " + text;
            }
        }
        return found;
    }

    private static List<String> all(List<String[]> tags, String name) {
        return tags.stream().filter(t -> t[0].equals(name)).map(t -> t[1]).toList();
    }

    private static List<String> words(List<String> texts) {
        return texts.stream().flatMap(t -> Pattern.compile("\\s+").splitAsStream(t)).filter(w -> !w.isEmpty()).toList();
    }
}
