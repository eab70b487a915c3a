package org.verbena.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaImageTest {
    @TempDir private Path folder;

    @Test
    void anImageHasTheModulesThatAreAskedForAndIsMadeOnce() throws Exception {
        JavaImage image = new JavaImage(folder);
        assertThat(image.folder()).as("before it is made").isEqualTo(Path.of(System.getProperty("java.home")));
        image.make();
        Path made = image.folder();
        assertThat(made).startsWith(folder);
        Process p = new ProcessBuilder(made.resolve("bin/java").toString(), "--list-modules").redirectErrorStream(true)
                .start();
        String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(p.waitFor()).as(said).isZero();
        List<String> modules = said.lines().map(l -> l.replaceFirst("@.*", "")).toList();
        assertThat(modules).contains("java.base").containsAll(JavaImage.MODULES).doesNotContain("java.desktop",
                "jdk.compiler", "jdk.jlink");
        FileTime then = Files.getLastModifiedTime(made);
        new JavaImage(folder).make();
        assertThat(Files.getLastModifiedTime(made)).isEqualTo(then);
        assertThat(folder.toFile().list()).as("nothing else is left").containsExactly(made.getFileName().toString());
    }

    @Test
    void whereNoImageCanBeMadeMachinesSeeTheJdk() throws Exception {
        JavaImage image = new JavaImage(Files.createFile(folder.resolve("no-folder")));
        image.make();
        assertThat(image.folder()).isEqualTo(Path.of(System.getProperty("java.home")));
    }
}
