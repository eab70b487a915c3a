// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.verbena.tests.Repository;

/**
 * Two versions of the real jars, {@link Version#OLD} being those of this build, and applications compiled against
 * either.
 */
final class Versions {
    /** Which of the two. */
    enum Version {
        /** This one. */
        OLD,
        /** The next, see {@link NextVersion}. */
        NEW
    }

    private final Path folder;
    private final Path linux;
    private final Path telemetry;
    private final Path jspecify;

    Versions(Path folder) {
        this.folder = folder;
        linux = Jars.pack(Jars.onClassPath("verbena-linux"), folder.resolve("verbena-linux.jar"));
        telemetry = Jars.pack(Jars.onClassPath("verbena-telemetry"), folder.resolve("verbena-telemetry.jar"));
        jspecify = Jars.onClassPath("jspecify");
        Jars.pack(Jars.onClassPath("verbena-verbs"), verbs(Version.OLD));
        Jars.pack(Jars.onClassPath("verbena-shm"), shm(Version.OLD));
        SourcePatch verbs = NextVersion.verbs(sources("verbena-verbs"), resource("next/verbs"), folder.resolve(
                "src-verbs"));
        Jars.build(verbs.root(), List.of(linux, telemetry, jspecify), verbs(Version.NEW));
        SourcePatch shm = NextVersion.shm(sources("verbena-shm"), resource("next/shm"), folder.resolve("src-shm"));
        Jars.build(shm.root(), List.of(linux, telemetry, jspecify, verbs(Version.NEW)), shm(Version.NEW));
    }

    private static Path sources(String module) {
        return Repository.root().resolve(module).resolve("src/main/java");
    }

    static Path resource(String name) {
        try {
            return Path.of(Versions.class.getResource("/compat/" + name).toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    Path verbs(Version v) {
        return folder.resolve(v + "/verbena-verbs.jar");
    }

    Path shm(Version v) {
        return folder.resolve(v + "/verbena-shm.jar");
    }

    /** The compile class path of a program for this version of the API. */
    List<Path> header(Version v) {
        return List.of(linux, telemetry, jspecify, verbs(v));
    }

    /** The runtime version. */
    List<Path> runtime(Version lib, Version provider) {
        return List.of(linux, telemetry, jspecify, verbs(lib), shm(provider));
    }

    /** Compiles applications; returns the errors. */
    List<String> compile(Version header, Path classes, String... names) {
        List<Path> files = new ArrayList<>();
        for (String name : names) {
            files.add(resource("apps/" + name + ".java"));
        }
        return Jars.compile(files, List.of(), header(header), classes);
    }

    /** Builds a provider for either version into a separate jar without its class {@code Missing}. */
    Path provider(String name, Version header, String moduleInfo, String source) {
        try {
            Path root = folder.resolve("src-" + name);
            Path pkg = Files.createDirectories(root.resolve("broken").resolve(name));
            Files.writeString(root.resolve("module-info.java"), moduleInfo);
            Files.writeString(pkg.resolve("Provider.java"), source);
            Path classes = folder.resolve("classes-" + name);
            assertThat(Jars.compile(root, header(header), List.of(), classes)).isEmpty();
            Files.delete(classes.resolve("broken").resolve(name).resolve("Missing.class"));
            return Jars.pack(classes, folder.resolve("broken/" + name + ".jar"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
