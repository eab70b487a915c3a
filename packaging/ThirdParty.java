// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Writes what a distribution says of the libraries that it carries, from {@code third-party} beside this file:
 *
 * <pre>java ThirdParty.java FOLDER</pre>
 *
 * {@code FOLDER} has {@code lib}, {@code lib/metrics} and {@code agent}, and gets {@code THIRD-PARTY.md}, the texts in
 * {@code licences}, and {@code share/doc/verbena/copyright}, which is Debian's. Ends with status 1, and says for which jar, if the list
 * lacks something that is there, or has something that is not.
 */
final class ThirdParty {
    private static final Pattern JAR = Pattern.compile("(.+?)-([0-9][^/]*)\\.jar");
    /** Where libraries put what they repackage. */
    private static final Pattern SHADED = Pattern.compile(".*/(shaded|repackaged|shadow|relocated)/.*\\.class");
    private static final Pattern OWN_CLASS = Pattern.compile(
            "(META-INF/modules/org\\.verbena\\.[a-z]+/)?(org/verbena/.*|module-info)\\.class");
    private static final Pattern TEXT = Pattern.compile("META-INF/[^/]*(LICEN[CS]E|NOTICE|COPYING)[^/]*",
            Pattern.CASE_INSENSITIVE);
    private static final String APACHE = "Apache-2.0";

    /** A line of the list. */
    private record Entry(String jar, String part, String folder, String licence, String copyright, String address,
            List<String> texts) {
        static Entry parse(String line) {
            String[] cells = Arrays.stream(line.split("\\|", -1)).map(String::strip).toArray(String[]::new);
            if (cells.length != 6) {
                throw new IllegalArgumentException("packaging/third-party: six cells are needed: " + line);
            }
            String[] part = cells[1].isEmpty() ? new String[] {"", ""} : cells[1].split("=", 2);
            return new Entry(cells[0], part[0], part[1], cells[2], cells[3], cells[4], cells[5].isEmpty()
                    ? List.of()
                    : List.of(cells[5].split(",\\s*")));
        }

        String name() {
            return part.isEmpty() ? jar : part;
        }
    }

    private final Path root;
    private final Path sources;
    private final Map<String, List<Entry>> listed = new LinkedHashMap<>();
    private final List<String> wrong = new ArrayList<>();
    private final StringBuilder table = new StringBuilder("""
            # What this distribution carries of others

            Verbena itself is under the [Apache License 2.0](LICENSE). So is what says Apache-2.0 here, unless it has a text of its own.

            | what | version | in | licence | copyright | texts |
            |---|---|---|---|---|---|
            """);
    private final StringBuilder debian = new StringBuilder("""
            Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
            Upstream-Name: Verbena
            Source: https://verbena.org/

            Files: *
            Copyright: the Verbena project
            License: Apache-2.0
            """);

    private ThirdParty(Path root, Path sources) throws IOException {
        this.root = root;
        this.sources = sources;
        for (String line : Files.readAllLines(sources.resolve("third-party"))) {
            if (!line.isBlank() && !line.startsWith("#")) {
                Entry entry = Entry.parse(line);
                listed.computeIfAbsent(entry.jar, _ -> new ArrayList<>()).add(entry);
            }
        }
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: ThirdParty FOLDER");
            System.exit(2);
        }
        // the launcher names the source file that it compiles
        Path sources = Path.of(System.getProperty("jdk.launcher.sourcefile")).toAbsolutePath().getParent();
        List<String> wrong = new ThirdParty(Path.of(args[0]), sources).write();
        wrong.forEach(w -> System.err.println("packaging/third-party: " + w));
        System.exit(wrong.isEmpty() ? 0 : 1);
    }

    private List<String> write() throws IOException {
        Map<String, Path> jars = new TreeMap<>();
        for (String folder : List.of("agent", "lib", "lib/metrics")) {
            if (Files.isDirectory(root.resolve(folder))) {
                try (DirectoryStream<Path> all = Files.newDirectoryStream(root.resolve(folder), "*.jar")) {
                    all.forEach(jar -> jars.put(jar.getFileName().toString(), jar));
                }
            }
        }
        for (Path jar : jars.values()) {
            if (jar.getFileName().toString().startsWith("verbena-")) {
                requireOwnClasses(jar);
            } else {
                describe(jar);
            }
        }
        listed.keySet().forEach(gone -> wrong.add("lists " + gone + ", and no jar of that name is in the distribution"));
        describePages();
        debian.append("""

                License: Apache-2.0
                 On Debian systems the text of the licence is in
                 /usr/share/common-licenses/Apache-2.0.
                """);
        if (wrong.isEmpty()) {
            Files.writeString(root.resolve("THIRD-PARTY.md"), table);
            Path copyright = root.resolve("share/doc/verbena/copyright");
            Files.createDirectories(copyright.getParent());
            Files.writeString(copyright, debian);
        }
        return wrong;
    }

    /** Checks that a jar of Verbena has no classes of another library, which would need a line of its own. */
    private void requireOwnClasses(Path jar) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            zip.stream().map(ZipEntry::getName).filter(n -> n.endsWith(".class") && !OWN_CLASS.matcher(n).matches())
                    .findFirst().ifPresent(n -> wrong.add(jar.getFileName() + " has classes of others, as " + n));
        }
    }

    private void describe(Path jar) throws IOException {
        Matcher name = JAR.matcher(jar.getFileName().toString());
        List<Entry> entries = name.matches() ? listed.remove(name.group(1)) : null;
        if (entries == null) {
            wrong.add("has no line for " + jar.getFileName() + ": add one, with its licence (SPDX), copyright, address and texts");
            return;
        }
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            List<String> files = zip.stream().map(ZipEntry::getName).toList();
            requireAll(jar, entries, files);
            for (Entry entry : entries) {
                describe(jar, entry, entry.part.isEmpty() ? name.group(2) : "", texts(zip, entry));
            }
        }
    }

    private void requireAll(Path jar, List<Entry> entries, List<String> files) {
        List<Entry> parts = entries.stream().filter(e -> !e.part.isEmpty()).toList();
        if (parts.size() != entries.size() - 1) {
            wrong.add("has to have one line for " + jar.getFileName() + " itself");
        }
        files.stream().filter(f -> SHADED.matcher(f).matches() && parts.stream().noneMatch(p -> f.contains(p.folder)))
                .findFirst().ifPresent(f -> wrong.add("has no line for a library that " + jar.getFileName()
                        + " repackages, with its licence, version and folder: " + f));
        parts.stream().filter(p -> files.stream().noneMatch(f -> f.startsWith(p.folder)))
                .forEach(p -> wrong.add("says that " + jar.getFileName() + " has " + p.part + " in " + p.folder
                        + ", which it has not"));
        boolean apache = entries.stream().allMatch(e -> e.part.isEmpty() ? e.licence.equals(APACHE) : true);
        files.stream().filter(f -> TEXT.matcher(f).matches() && !(apache && f.matches("META-INF/LICENSE(\\.txt)?")))
                .filter(f -> entries.stream().noneMatch(e -> e.texts.contains(f)))
                .forEach(f -> wrong.add("does not name a text of " + jar.getFileName() + ": " + f));
    }

    /** The texts of an entry by name. */
    private Map<String, String> texts(ZipFile zip, Entry entry) throws IOException {
        Map<String, String> texts = new LinkedHashMap<>();
        for (String file : entry.texts) {
            if (!file.startsWith("META-INF/")) {
                texts.put(file, Files.readString(sources.resolve("licences").resolve(file)));
                continue;
            }
            ZipEntry in = zip.getEntry(file);
            if (in == null) {
                wrong.add("names a text that " + Path.of(zip.getName()).getFileName() + " has not: " + file);
                continue;
            }
            try (InputStream bytes = zip.getInputStream(in)) {
                String name = file.substring("META-INF/".length()).replaceFirst("\\.txt$", "");
                texts.put(entry.jar + (name.equals("LICENSE") ? "" : "-" + name) + ".txt", new String(bytes
                        .readAllBytes(), StandardCharsets.UTF_8).replace("\r", ""));
            }
        }
        if (texts.isEmpty() && !entry.licence.equals(APACHE)) {
            wrong.add("names no text for " + entry.name() + ", which is under " + entry.licence);
        }
        return texts;
    }

    private void describe(Path jar, Entry entry, String version, Map<String, String> texts) throws IOException {
        String file = root.relativize(jar).toString();
        table.append("| [").append(entry.name()).append("](").append(entry.address).append(") | ").append(version)
                .append(" | `").append(file).append("` | ").append(entry.licence).append(" | ").append(entry.copyright)
                .append(" | ");
        debian.append("\nFiles: ").append(file).append("\nCopyright: ").append(entry.copyright);
        String licence = "\nLicense: " + entry.licence.replace(" AND ", " and ").replace(" OR ", " or ");
        String comment = "\nComment: " + entry.name() + (entry.part.isEmpty() ? "" : ", in " + entry.folder);
        debian.append(entry.licence.equals(APACHE) ? licence + comment : comment + licence).append('\n');
        Files.createDirectories(root.resolve("licences"));
        String separator = "";
        for (Map.Entry<String, String> text : texts.entrySet()) {
            Files.writeString(root.resolve("licences").resolve(text.getKey()), text.getValue());
            table.append(separator).append('[').append(text.getKey().replace(".txt", "")).append("](licences/").append(
                    text.getKey()).append(')');
            separator = ", ";
            text.getValue().strip().lines().forEach(l -> debian.append(l.isBlank() ? " ." : " " + l.stripTrailing())
                    .append('\n'));
        }
        table.append(" |\n");
    }

    /** The pages that javadoc writes have scripts, styles and fonts, and what is to be said of them. */
    private void describePages() throws IOException {
        Path legal = root.resolve("docs/api/legal");
        if (!Files.isDirectory(legal)) {
            return;
        }
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(legal)) {
            all.forEach(f -> names.add(f.getFileName().toString()));
        }
        names.sort(null);
        table.append("\nThe pages in `docs/api` have scripts, styles and fonts that the JDK's javadoc put there: ").append(
                String.join(", ", names.stream().map(n -> "[" + n + "](docs/api/legal/" + n + ")").toList())).append(
                        ".\n");
        debian.append("\nFiles: docs/api/*\nCopyright: the Verbena project; of scripts, styles and fonts as below\n"
                + "License: Apache-2.0 and others\n");
        for (String name : names) {
            debian.append(" .\n ").append(name).append(":\n");
            Files.readString(legal.resolve(name)).strip().lines().forEach(l -> debian.append(l.isBlank()
                    ? " ."
                    : " " + l.stripTrailing()).append('\n'));
        }
    }
}
