// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CopyTreeTest {
    @TempDir private Path outside;
    private Path root;
    private CopyTree tree;

    @BeforeEach
    void makeTree() throws Exception {
        root = Files.createDirectory(outside.resolve("tree")).toRealPath();
        tree = new CopyTree(root);
    }

    private static CopyBytes path(String text) {
        return CopyBytes.of(text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/etc/passwd", "..", ".", "../x", "a/../../x", "a//b", "a/", "a/.", "a/..", "x\0y",
        ".verbena-copy/x", "a/.verbena-copy/x", ".verbena-copy"})
    void pathsLeavingTheTreeAreRefused(String text) {
        for (boolean directory : new boolean[] {false, true}) {
            assertRefused(text, directory);
        }
        assertThat(outside.resolve("x")).doesNotExist();
    }

    private void assertRefused(String text, boolean directory) {
        assertThatExceptionOfType(CopyFailure.class)
                .isThrownBy(() -> {
                    Object _ = directory ? tree.directory(path(text)) : tree.place(path(text));
                })
                .matches(f -> f.status() == CopyStatus.REFUSED)
                .withMessageContaining("refuses the path");
    }

    @Test
    void tooLongNamesAreRefused() throws Exception {
        assertThat(tree.place(path("x".repeat(255))).target()).isEqualTo(root.resolve("x".repeat(255)));
        assertRefused("x".repeat(256), false);
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "...", "..x", "-rf", "a\nb", "\u001b[31m", "ä", "*", "\\", "a b/c\"d/'e"})
    void unusualNamesAreAccepted(String text) throws Exception {
        assertThat(tree.place(path(text)).target()).isEqualTo(root.resolve(text));
    }

    @Test
    void bytesOutsideTheCharacterSetAreKept() throws Exception {
        byte[] name = {(byte) 0xff, 'x', (byte) 0x80};
        CopyTree.Place place = tree.place(CopyBytes.of(name));
        Files.writeString(place.target(), "x");
        try (var names = Files.list(root)) {
            assertThat(names.map(p -> org.verbena.linux.PathBytes.of(p)).findFirst().orElseThrow()).endsWith(name);
        }
    }

    @Test
    void linksInAPathAreFollowedInsideTheTreeOnly() throws Exception {
        Files.createDirectory(root.resolve("real"));
        Files.createSymbolicLink(root.resolve("in"), Path.of("real"));
        Files.createSymbolicLink(root.resolve("out"), outside);
        Files.createSymbolicLink(root.resolve("up"), Path.of(".."));
        Files.createSymbolicLink(root.resolve("nowhere"), Path.of("no/such"));
        Files.createSymbolicLink(root.resolve("loop"), Path.of("loop"));
        assertThat(tree.place(path("in/x")).target()).isEqualTo(root.resolve("real/x"));
        assertThat(tree.place(path("in/x")).key()).isEqualTo(tree.place(path("real/x")).key());
        assertRefused("out/x", false);
        assertRefused("out", true);
        assertRefused("up/tree/x", false);
        assertRefused("nowhere/x", false);
        assertThatExceptionOfType(java.io.IOException.class).isThrownBy(() -> tree.place(path("loop/x")));
        // A link at the end is replaced, never followed.
        Files.createSymbolicLink(root.resolve("last"), outside.resolve("target"));
        assertThat(tree.place(path("last")).target()).isEqualTo(root.resolve("last"));
    }

    @Test
    void fileInPlaceOfADirectoryIsNamed() throws Exception {
        Files.createFile(root.resolve("file"));
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> tree.place(path("file/x")))
                .withMessageContaining("is not a directory");
    }

    @Test
    void areaOfUnfinishedFilesMustBeADirectory() throws Exception {
        Path area = root.resolve(CopyTree.AREA);
        Files.createSymbolicLink(area, outside);
        assertThatExceptionOfType(CopyFailure.class).isThrownBy(() -> CopyTree.createArea(area))
                .withMessageContaining("not a directory");
    }
}
