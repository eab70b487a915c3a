// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.layers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.Thorough;
import org.verbena.tests.BesideOthers;
import org.verbena.tests.Repository;
import org.verbena.tests.compat.Jars;

/** {@code packaging/third-party} has what the distribution carries of others, and the program that reads it finds what is missing. */
@BesideOthers
class ThirdPartyTest {
    /** Folders of the local repository whose jars the tests alone need. */
    private static final List<String> OF_TESTS = List.of("/org/junit/", "/org/assertj/", "/com/tngtech/archunit/",
            "/org/slf4j/", "/org/opentest4j/", "/org/apiguardian/", "/net/bytebuddy/", "/org/apache/maven/");
    private static final Path SOURCE = Repository.root().resolve("packaging/ThirdParty.java");

    @TempDir static Path classes;

    @TempDir Path folder;

    @BeforeAll
    static void compileOnce() {
        assertThat(Jars.compile(List.of(SOURCE), List.of(), List.of(), classes)).isEmpty();
    }

    /** The jars of the command and of the metrics, which are on the class path of this test, too. */
    @BeforeEach
    void copyJars() throws IOException {
        Path lib = Files.createDirectories(folder.resolve("lib"));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path jar = Path.of(entry);
            if (entry.endsWith(".jar") && OF_TESTS.stream().noneMatch(entry::contains)) {
                Files.copy(jar, lib.resolve(jar.getFileName()));
            }
        }
    }

    /** From its source, as a distribution is made. */
    private Finished runSource() throws Exception {
        return Finished.run(Jvm.JAVA, "-XX:TieredStopAtLevel=1", SOURCE.toString(), folder.toString());
    }

    /** From classes that are compiled once, told where the source is, as Java's launcher tells a program that it compiles. */
    private Finished run() throws Exception {
        return Thorough.ON
                ? runSource()
                : Finished.run(Jvm.command("-Djdk.launcher.sourcefile=" + SOURCE, "-cp", classes.toString(),
                        "ThirdParty",
                        folder.toString()));
    }

    private void jar(String name, String... entries) throws IOException {
        try (ZipOutputStream jar = new ZipOutputStream(Files.newOutputStream(folder.resolve("lib").resolve(name)))) {
            for (String entry : entries) {
                jar.putNextEntry(new ZipEntry(entry));
            }
        }
    }

    private String text(String file) throws IOException {
        return Files.readString(folder.resolve(file));
    }

    @Test
    void everyLibraryHasItsLicence() throws Exception {
        Finished f = runSource();
        assertThat(f.output()).isEmpty();
        assertThat(f.code()).isZero();
        String[] jars = folder.resolve("lib").toFile().list((_, name) -> !name.startsWith("verbena-"));
        assertThat(Arrays.stream(jars)).hasSizeGreaterThan(15).anyMatch(j -> j.startsWith("picocli-")).allSatisfy(j -> {
            assertThat(text("THIRD-PARTY.md")).contains("`lib/" + j + "`");
            assertThat(text("share/doc/verbena/copyright")).contains("\nFiles: lib/" + j + "\n");
        });
        String repackaged = "| BSD-3-Clause | 2008 Google Inc. | [protobuf](licences/protobuf.txt) |";
        assertThat(text("THIRD-PARTY.md")).contains(repackaged);
        assertThat(text("licences/HdrHistogram.txt")).contains("Gil Tene", "Redistributions in binary form");
        assertThat(text("licences/jline.txt")).contains("the original author", "Redistributions in binary form");
        assertThat(text("licences/micrometer-core-NOTICE.txt")).contains("The Netty Project");
        assertThat(text("share/doc/verbena/copyright")).startsWith("Format: https://www.debian.org/").contains(
                "\nLicense: BSD-3-Clause\n Copyright", "\n /usr/share/common-licenses/Apache-2.0.\n");
    }

    @Test
    void jarWithoutALineIsRefused() throws Exception {
        jar("something-new-1.0.jar", "new/Thing.class");
        Finished f = run();
        assertThat(f.code()).isOne();
        assertThat(f.output()).contains("has no line for something-new-1.0.jar: add one");
        assertThat(folder.resolve("THIRD-PARTY.md")).doesNotExist();
    }

    @Test
    void lineWithoutAJarIsRefused() throws Exception {
        try (var jars = Files.newDirectoryStream(folder.resolve("lib"), "picocli-*.jar")) {
            Files.delete(jars.iterator().next());
        }
        Finished f = run();
        assertThat(f.code()).isOne();
        assertThat(f.output().lines()).singleElement().asString().contains("lists picocli, and no jar of that name");
    }

    /** The next version of a library may bring another one, or a text that has to go with it. */
    @Test
    void whatALibraryBringsIsRefusedUntilItIsListed() throws Exception {
        try (var jars = Files.newDirectoryStream(folder.resolve("lib"), "picocli-*.jar")) {
            Files.delete(jars.iterator().next());
        }
        jar("picocli-9.0.jar", "picocli/shaded/other/Other.class", "META-INF/Other-LICENSE.txt", "META-INF/LICENSE");
        Finished f = run();
        assertThat(f.code()).isOne();
        assertThat(f.output().lines()).hasSize(2);
        assertThat(f.output()).contains("that picocli-9.0.jar repackages",
                "text of picocli-9.0.jar: META-INF/Other-LICENSE.txt");
    }

    @Test
    void ownJarWithClassesOfOthersIsRefused() throws Exception {
        jar("verbena-new-1.0.jar", "org/verbena/A.class", "module-info.class", "org/objectweb/asm/ClassReader.class");
        Finished f = run();
        assertThat(f.code()).isOne();
        assertThat(f.output().lines()).singleElement().asString().contains(
                "verbena-new-1.0.jar has classes of others, as org/objectweb/asm/ClassReader.class");
    }
}
