// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CopyPlanTest {
    @TempDir private Path dir;

    private static List<String> targets(CopyPlan plan) {
        return plan.entries().stream().map(e -> (e.directory() ? "d " : "f ") + e.target()).sorted().toList();
    }

    @Test
    void directoriesAreWalked() throws Exception {
        Path tree = Files.createDirectories(dir.resolve("tree/empty")).getParent();
        Files.writeString(tree.resolve("one"), "1");
        Files.writeString(Files.createDirectory(tree.resolve("sub")).resolve("two"), "22");
        Files.createSymbolicLink(tree.resolve("link"), Path.of("one"));
        Files.createDirectory(tree.resolve(CopyTree.AREA));
        CopyPlan plan = CopyPlan.of(List.of(tree));
        assertThat(targets(plan)).containsExactly("d tree", "d tree/empty", "d tree/sub", "f tree/one",
                "f tree/sub/two");
        assertThat(plan.bytes()).isEqualTo(3);
        assertThat(plan.files()).isEqualTo(2);
        assertThat(plan.failed()).isEmpty();
        assertThat(plan.skipped()).extracting(CopyPlan.Omission::reason)
                .containsExactlyInAnyOrder("a symbolic link", "unfinished copies");
    }

    /** Whatever the order of the file system; the contents of a directory follow directly behind it. */
    @Test
    void filesAreSortedByName() throws Exception {
        Path tree = Files.createDirectory(dir.resolve("tree"));
        for (String name : List.of("b", "a/z", "a/b/c", "a.txt", "a-b", "c/1", "A", "a/a")) {
            Files.createDirectories(tree.resolve(name).getParent());
            Files.writeString(tree.resolve(name), name);
        }
        for (String link : List.of("y", "x", "z")) {
            Files.createSymbolicLink(tree.resolve(link), Path.of("a"));
        }
        CopyPlan plan = CopyPlan.of(List.of(tree));
        assertThat(plan.entries()).extracting(e -> e.target().toString()).containsExactly("tree", "tree/A", "tree/a",
                "tree/a/a", "tree/a/b", "tree/a/b/c", "tree/a/z", "tree/a-b", "tree/a.txt", "tree/b", "tree/c",
                "tree/c/1");
        assertThat(plan.skipped()).extracting(CopyPlan.Omission::source).containsExactly(tree.resolve("x"), tree
                .resolve("y"), tree.resolve("z"));
    }

    @Test
    void namedSymbolicLinkIsFollowed() throws Exception {
        Files.writeString(Files.createDirectory(dir.resolve("real")).resolve("x"), "1");
        Path link = Files.createSymbolicLink(dir.resolve("link"), Path.of("real"));
        CopyPlan plan = CopyPlan.of(List.of(link));
        assertThat(targets(plan)).containsExactly("d link", "f link/x");
        assertThat(plan.entries()).extracting(CopyPlan.Entry::source).containsExactly(link, link.resolve("x"));
    }

    @Test
    void duplicateTargetNameIsRefused() throws Exception {
        Path a = Files.createFile(Files.createDirectory(dir.resolve("a")).resolve("x"));
        Path b = Files.createFile(Files.createDirectory(dir.resolve("b")).resolve("x"));
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> CopyPlan.of(List.of(a, b)))
                .withMessageContaining(a.toString()).withMessageContaining(b.toString());
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> CopyPlan.of(List.of(a, a)));
    }

    @Test
    void targetNameComesFromTheResolvedPath() throws Exception {
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> CopyPlan.of(List.of(Path.of("/"))))
                .withMessageContaining("no name");
        Path a = Files.createDirectory(dir.resolve("a"));
        assertThat(targets(CopyPlan.of(List.of(a.resolve("."))))).containsExactly("d a");
    }

    @Test
    void missingAndSpecialSourcesFail() throws Exception {
        CopyPlan plan = CopyPlan.of(List.of(dir.resolve("none"), Path.of("/dev/null")));
        assertThat(plan.entries()).isEmpty();
        assertThat(plan.failed()).extracting(CopyPlan.Omission::reason)
                .containsExactly("cannot read: no such file or directory", "neither a file nor a directory");
    }
}
