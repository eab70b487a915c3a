// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;
import org.verbena.tests.DebianArchive.Unavailable;
import org.verbena.tests.ProgramLane;

@ProgramLane
class JavaImageTest {
    private static final Path HOME = Path.of(System.getProperty("java.home"));

    @TempDir private Path folder;

    @Test
    void imageHasTheRequestedModulesAndIsMadeOnce() throws Exception {
        JavaImage image = new JavaImage(folder);
        assertThat(image.folder()).as("before it is made").isEqualTo(HOME);
        Files.createFile(Files.createDirectory(folder.resolve("jre-of-another-jdk")).resolve("release"));
        String problem = "";
        try {
            image.make();
        } catch (Unavailable e) {
            problem = String.valueOf(e.getMessage());
        }
        if (image.folder().equals(HOME)) {
            String why = "JavaImageTest: skipped, for this JDK links no image: " + (problem.isEmpty()
                    ? image.link()
                    : problem);
            System.out.println(why);
            Assumptions.abort(why);
        }
        Path made = image.folder();
        assertThat(made).startsWith(folder);
        Finished p = Finished.run(made.resolve("bin/java").toString(), "--list-modules");
        assertThat(p.code()).as(p.output()).isZero();
        List<String> modules = p.output().lines().map(l -> l.replaceFirst("@.*", "")).toList();
        assertThat(modules).contains("java.base").containsAll(JavaImage.MODULES).doesNotContain("java.desktop",
                "jdk.compiler", "jdk.jlink");
        FileTime then = Files.getLastModifiedTime(made);
        new JavaImage(folder).make();
        assertThat(Files.getLastModifiedTime(made)).isEqualTo(then);
        assertThat(folder.toFile().list()).as("nothing else is left").containsExactly(made.getFileName().toString());
    }

    private static Set<String> required(ModuleDescriptor module) {
        return module.requires().stream().filter(r -> !r.modifiers().contains(
                ModuleDescriptor.Requires.Modifier.STATIC))
                .map(ModuleDescriptor.Requires::name).collect(Collectors.toSet());
    }

    /** The list is kept by hand, and a module that is not in it is missed only when a machine runs the command. */
    @Test
    void jdkModulesRequiredByVerbenaAreRequested() throws Exception {
        Modules.copy(folder);
        Set<String> ours = new TreeSet<>();
        Set<String> required = new TreeSet<>();
        for (ModuleReference module : ModuleFinder.of(folder.resolve("modules")).findAll()) {
            ours.add(module.descriptor().name());
            required.addAll(required(module.descriptor()));
        }
        assertThat(ours).contains("org.verbena.linux", "org.verbena.cli", "info.picocli");
        required.removeAll(ours);
        Set<String> linked = new TreeSet<>();
        Deque<String> more = new ArrayDeque<>(JavaImage.MODULES);
        while (!more.isEmpty()) {
            String name = more.pop();
            if (linked.add(name)) {
                more.addAll(required(ModuleFinder.ofSystem().find(name).orElseThrow().descriptor()));
            }
        }
        assertThat(linked).containsAll(required);
    }

    @Test
    void failedImageFallsBackToTheJdk() throws Exception {
        JavaImage image = new JavaImage(Files.createFile(folder.resolve("no-folder")));
        if (HOME.resolve("conf/security/java.security").toRealPath().startsWith(HOME.toRealPath())) {
            image.make();
        } else { // as Debian's own has it, in /etc
            assertThatThrownBy(image::make).isInstanceOf(Unavailable.class).hasMessageContaining("JAVA_HOME");
        }
        assertThat(image.folder()).isEqualTo(HOME);
    }
}
