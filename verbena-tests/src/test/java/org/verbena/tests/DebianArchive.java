// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A suite of Debian's archive, at the address in the apt configuration of the machine, with its own package lists: so
 * nothing on the machine changes, and root is not needed.
 */
public final class DebianArchive {
    /** The part of it to use: {@code deb} or {@code deb-src}. */
    public enum Kind {
        BINARIES("deb"), SOURCES("deb-src");

        private final String line;

        Kind(String line) {
            this.line = line;
        }
    }

    private final Path state;
    private final List<String> options;

    /**
     * Fetches the lists.
     *
     * @param state folder for the lists
     * @param suite codename of a release
     */
    public DebianArchive(Path state, String suite, Kind kind) throws IOException, InterruptedException, Unavailable {
        Path archive = archiveOfThisMachine();
        this.state = state;
        Files.createDirectories(state.resolve("lists/partial"));
        Path list = state.resolve("sources.list");
        Files.writeString(list, line(archive, suite, kind) + "\n");
        // Without the status of installed packages, dependencies are those of an empty machine.
        options = List.of("-qq", "-o", "Dir::Etc::SourceList=" + list, "-o", "Dir::Etc::SourceParts=/dev/null", "-o",
                "Dir::State::Lists=" + state.resolve("lists"), "-o", "Dir::Cache=" + state.resolve("cache"), "-o",
                "Dir::State::status=/dev/null", "-o", "APT::Sandbox::User=");
        get("-o", "APT::Update::Error-Mode=any", "update"); // else a missing network is only a warning
    }

    /** The output of {@code apt-get}, run in the folder for the lists. */
    public String get(String... arguments) throws IOException, InterruptedException, Unavailable {
        return run(state, command("apt-get", arguments));
    }

    /** Fetches the file with this hash; false if the archive has none. */
    public static boolean download(String uri, Path file, String sha256)
            throws IOException, InterruptedException, Unavailable {
        return output(file.toAbsolutePath().getParent(), "/usr/lib/apt/apt-helper", "-qq", "-o", "APT::Sandbox::User=",
                "download-file", uri, file.toString(), "SHA256:" + sha256).code == 0;
    }

    /** These packages and all their dependencies. */
    public List<String> withDependencies(List<String> packages)
            throws IOException, InterruptedException, Unavailable {
        List<String> arguments = new ArrayList<>(List.of("-s", "--no-install-recommends", "install"));
        arguments.addAll(packages);
        return Pattern.compile("(?m)^Inst (\\S+)").matcher(get(arguments.toArray(String[]::new))).results().map(
                m -> m.group(1)).toList();
    }

    /** The first dependency of this package with this name. */
    public String dependency(String name, String regex) throws IOException, InterruptedException, Unavailable {
        Matcher m = Pattern.compile("Depends: (" + regex + ")").matcher(run(state, command("apt-cache", "depends",
                name)));
        if (!m.find()) {
            throw new Unavailable("apt knows no " + regex + " that " + name + " depends on");
        }
        return m.group(1);
    }

    /** Fetches packages, which apt compares with the signed list. */
    public List<Path> fetch(Path folder, List<String> packages) throws IOException, InterruptedException, Unavailable {
        Files.createDirectories(folder);
        List<String> arguments = new ArrayList<>(List.of("download"));
        arguments.addAll(packages);
        run(folder, command("apt-get", arguments.toArray(String[]::new)));
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(f -> f.toString().endsWith(".deb")).sorted().toList();
        }
    }

    private String[] command(String tool, String... arguments) {
        List<String> all = new ArrayList<>(List.of(tool));
        all.addAll(options);
        all.addAll(List.of(arguments));
        return all.toArray(String[]::new);
    }

    /** The apt configuration that names Debian's own archive. */
    private static Path archiveOfThisMachine() throws IOException, Unavailable {
        Path etc = Path.of("/etc/apt");
        if (!Files.isDirectory(etc)) {
            throw new Unavailable("no apt on this machine");
        }
        try (Stream<Path> files = Files.walk(etc, 2)) {
            for (Path f : (Iterable<Path>) files.filter(p -> p.toString().matches(".*\\.(list|sources)"))
                    .sorted()::iterator) {
                if (uri(f) != null) {
                    return f;
                }
            }
        }
        throw new Unavailable("the apt configuration of this machine names no archive of Debian");
    }

    private static String uri(Path file) throws IOException {
        Matcher m = Pattern.compile("(?m)^(?:URIs:|deb(?: +\\[[^\\]]*\\])?) *(\\S+/debian/?)(?:\\s|$)")
                .matcher(Files.readString(file));
        return m.find() ? m.group(1) : null;
    }

    private static String line(Path file, String suite, Kind kind) throws IOException {
        Matcher key = Pattern.compile("(?mi)(?:^Signed-By: *|signed-by=)(/[^\\s\\]]+)").matcher(Files.readString(file));
        return kind.line + " " + (key.find() ? "[signed-by=" + key.group(1) + "] " : "") + uri(file) + " " + suite
                + " main";
    }

    /** The output of a command; a failing or missing command is {@link Unavailable}. */
    public static String run(Path where, String... command) throws IOException, InterruptedException, Unavailable {
        Output o = output(where, command);
        if (o.code != 0) {
            throw new Unavailable(String.join(" ", command) + " ended with " + o.code + ": " + o.text.strip());
        }
        return o.text;
    }

    private record Output(int code, String text) {}

    private static Output output(Path where, String... command) throws IOException, InterruptedException, Unavailable {
        Process p;
        try {
            p = new ProcessBuilder(command).directory(where.toFile()).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new Unavailable("cannot run " + command[0] + ": " + e.getMessage());
        }
        String text = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Output(p.waitFor(), text);
    }

    /** This machine cannot fetch it. */
    public static final class Unavailable extends Exception {
        private static final long serialVersionUID = 1;

        public Unavailable(String why) {
            super(why);
        }
    }
}
