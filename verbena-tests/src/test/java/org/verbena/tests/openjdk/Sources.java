package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * OpenJDK's tests as Debian's source package of the JDK holds them, fetched once into a folder. The package comes from
 * the archive that the machine's own apt configuration names, with lists of its own, so that nothing of the machine's
 * changes and no root is needed.
 */
final class Sources {
    private static final String PACKAGE = "openjdk-25";
    private static final String SUITE = "trixie";
    private static final Pattern ORIG = Pattern.compile(
            "'([^']*)' (" + PACKAGE + "_[^ ]*\\.orig\\.tar\\.xz) \\d+ SHA256:([0-9a-f]{64})");
    private static final String HELPER = "/usr/lib/apt/apt-helper";

    /** For a mirror that lists a new version before it has it: those before, which mirrors keep for a while. */
    private static final List<Archive> EARLIER = List.of(
            new Archive("openjdk-25_25.0.4+7.orig.tar.xz",
                    "9deeff6ea42325d38391e5293f1ddce11a451ac383f9dd3bb197616541e9a960"),
            new Archive("openjdk-25_25.0.3+9.orig.tar.xz",
                    "2dd6c441b49705480db1ebfcd03f43d5dcb7f1d4290e98c1fa6eeefae50cfa07"));

    private record Archive(String name, String sha256) {}

    /** What is taken out of the archive. */
    private static final List<String> PARTS = List.of("*/test/lib", "*/test/jdk/java/nio/channels",
            "*/test/jdk/java/net/ServerSocket", "*/test/jdk/java/net/Socket", "*/test/jdk/java/net/SocketImpl",
            "*/test/jdk/java/net/SocketInputStream", "*/test/jdk/java/net/SocketOption", "*/test/jdk/java/net/Socks");

    private final Path folder;

    /** @param folder of the build, where everything is kept */
    Sources(Path folder) {
        this.folder = folder;
    }

    /**
     * The folder {@code test} of OpenJDK, fetched if it is not there yet.
     *
     * @throws Unavailable if this machine cannot fetch it
     */
    Path tests() throws IOException, InterruptedException, Unavailable {
        Path unpacked = folder.resolve("openjdk");
        Path done = folder.resolve("openjdk.complete");
        String parts = String.join("\n", PARTS) + "\n";
        if (!Files.exists(done) || !Files.readString(done).endsWith("\n" + parts)) {
            Path archive = fetch();
            Files.createDirectories(unpacked);
            run(with(List.of("tar", "-xf", archive.toString(), "-C", unpacked.toString(), "--strip-components=1",
                    "--wildcards"), PARTS.toArray(String[]::new)));
            Files.writeString(done, archive.getFileName() + "\n" + parts);
            Files.delete(archive);
        }
        return unpacked.resolve("test");
    }

    /** The archive that the tests are from, for the record. */
    String version() throws IOException {
        return Files.readAllLines(folder.resolve("openjdk.complete")).getFirst();
    }

    private Path fetch() throws IOException, InterruptedException, Unavailable {
        Path archive = archiveOfThisMachine();
        Path state = Files.createDirectories(folder.resolve("apt"));
        Files.createDirectories(state.resolve("lists/partial"));
        Path list = state.resolve("sources.list");
        Files.writeString(list, sourceLine(archive) + "\n");
        List<String> apt = List.of("apt-get", "-qq", "-o", "Dir::Etc::SourceList=" + list, "-o",
                "Dir::Etc::SourceParts=/dev/null", "-o", "Dir::State::Lists=" + state.resolve("lists"), "-o",
                "Dir::Cache=" + state.resolve("cache"), "-o", "APT::Sandbox::User=");
        run(with(apt, "update"));
        Matcher orig = ORIG.matcher(run(with(apt, "source", "--print-uris", PACKAGE)));
        if (!orig.find()) {
            throw new Unavailable("apt knows no original archive of " + PACKAGE + " in " + SUITE);
        }
        Archive listed = new Archive(orig.group(2), orig.group(3));
        String pool = orig.group(1).substring(0, orig.group(1).lastIndexOf('/') + 1);
        List<Archive> all = Stream.concat(Stream.of(listed), EARLIER.stream()).distinct().toList();
        for (Archive a : all) {
            Path file = state.resolve(a.name());
            Output o = output(state, HELPER, "-qq", "-o", "APT::Sandbox::User=", "download-file",
                    pool + a.name().replace("+", "%2b"), file.toString(), "SHA256:" + a.sha256());
            if (o.code == 0) {
                return file;
            }
        }
        throw new Unavailable("the archive has none of " + all.stream().map(Archive::name).toList());
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

    private static String sourceLine(Path file) throws IOException {
        Matcher key = Pattern.compile("(?mi)(?:^Signed-By: *|signed-by=)(/[^\\s\\]]+)").matcher(Files.readString(file));
        return "deb-src " + (key.find() ? "[signed-by=" + key.group(1) + "] " : "") + uri(file) + " " + SUITE + " main";
    }

    private static String[] with(List<String> command, String... more) {
        return Stream.concat(command.stream(), Stream.of(more)).toArray(String[]::new);
    }

    private String run(String... command) throws IOException, InterruptedException, Unavailable {
        Output o = output(folder, command);
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

    /** This machine cannot fetch the tests. */
    static final class Unavailable extends Exception {
        private static final long serialVersionUID = 1;

        Unavailable(String why) {
            super(why);
        }
    }
}
