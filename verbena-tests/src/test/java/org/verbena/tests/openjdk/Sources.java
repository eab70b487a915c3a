// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.verbena.tests.DebianArchive;
import org.verbena.tests.DebianArchive.Unavailable;

/** OpenJDK's tests as Debian's source package of the JDK holds them, fetched once into a folder. */
final class Sources {
    private static final String PACKAGE = "openjdk-25";
    private static final String SUITE = "trixie";
    private static final Pattern ORIG = Pattern.compile(
            "'([^']*)' (" + PACKAGE + "_[^ ]*\\.orig\\.tar\\.xz) \\d+ SHA256:([0-9a-f]{64})");

    /** For a mirror that lists a new version before it has it: earlier versions, which mirrors keep for a while. */
    private static final List<Archive> EARLIER = List.of(
            new Archive("openjdk-25_25.0.4+7.orig.tar.xz",
                    "9deeff6ea42325d38391e5293f1ddce11a451ac383f9dd3bb197616541e9a960"),
            new Archive("openjdk-25_25.0.3+9.orig.tar.xz",
                    "2dd6c441b49705480db1ebfcd03f43d5dcb7f1d4290e98c1fa6eeefae50cfa07"));

    private record Archive(String name, String sha256) {}

    /** The part of the archive that is extracted. */
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
            DebianArchive.run(folder, Stream.concat(Stream.of("tar", "-xf", archive.toString(), "-C",
                    unpacked.toString(), "--strip-components=1", "--wildcards"), PARTS.stream()).toArray(
                            String[]::new));
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
        Path state = folder.resolve("apt");
        DebianArchive archive = new DebianArchive(state, SUITE, DebianArchive.Kind.SOURCES);
        Matcher orig = ORIG.matcher(archive.get("source", "--print-uris", PACKAGE));
        if (!orig.find()) {
            throw new Unavailable("apt knows no original archive of " + PACKAGE + " in " + SUITE);
        }
        Archive listed = new Archive(orig.group(2), orig.group(3));
        String pool = orig.group(1).substring(0, orig.group(1).lastIndexOf('/') + 1);
        List<Archive> all = Stream.concat(Stream.of(listed), EARLIER.stream()).distinct().toList();
        for (Archive a : all) {
            Path file = state.resolve(a.name());
            if (DebianArchive.download(pool + a.name().replace("+", "%2b"), file, a.sha256())) {
                return file;
            }
        }
        throw new Unavailable("the archive has none of " + all.stream().map(Archive::name).toList());
    }
}
