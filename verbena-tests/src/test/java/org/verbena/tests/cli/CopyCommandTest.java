// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Thorough;
import org.verbena.tests.CommandLane;

/** {@code verbena copy} from the command line: two processes. */
@CommandLane
class CopyCommandTest {
    private static final long MIB = 1 << 20;

    @TempDir private Path dir;
    private Path from;
    private Path to;

    @BeforeEach
    void makeDirectories() throws Exception {
        from = Files.createDirectory(dir.resolve("from"));
        to = Files.createDirectory(dir.resolve("to"));
    }

    private void assertSame() throws Exception {
        Map<String, String> expected = CopyFiles.describe(from);
        Map<String, String> found = CopyFiles.describe(to);
        assertThat(found.keySet()).isEqualTo(expected.keySet());
        found.entrySet().removeAll(expected.entrySet()); // or a failure would print them all
        assertThat(found).isEmpty();
    }

    @Test
    void treeIsCopiedWithAllContents() throws Exception {
        Path tree = Files.createDirectory(from.resolve("tree"));
        for (int i = 0; i < 300; i++) {
            Path sub = Files.createDirectories(tree.resolve("d" + i % 7));
            CopyFiles.write(sub.resolve("f" + i), i * 37L, i);
        }
        Files.createDirectories(tree.resolve("empty/deep"));
        for (String odd : List.of("a b", "-rf", "new\nline", "\u001b[2J", "*", "\\", "..x", "x".repeat(255))) {
            CopyFiles.write(tree.resolve(odd), 10, odd.hashCode());
        }
        for (long size : new long[] {MIB - 1, MIB, MIB + 1, 16 * MIB, 40 * MIB + 3}) {
            CopyFiles.write(tree.resolve("size" + size), size, size);
        }
        Files.setPosixFilePermissions(tree.resolve("a b"), PosixFilePermissions.fromString("r---w---x"));
        Files.setPosixFilePermissions(tree.resolve("d0"), PosixFilePermissions.fromString("r-xr-x---"));
        Files.setLastModifiedTime(tree.resolve("d1/f1"), FileTime.from(Instant.ofEpochSecond(1, 23456789)));
        Files.setLastModifiedTime(tree.resolve("empty"), FileTime.from(Instant.ofEpochSecond(86_400, 5)));
        Files.createSymbolicLink(tree.resolve("link"), Path.of("a b"));
        try (CopyProcess listener = CopyProcess.listener(to);
                CopyProcess sender = CopyProcess.sender("--json", tree, listener.address())) {
            sender.expect(0);
            JsonNode files = new ObjectMapper().readTree(sender.out());
            assertSame();
            assertThat(to.resolve("tree/link")).doesNotExist();
            int checked = 0;
            for (JsonNode f : files) {
                if (f.has("skipped")) {
                    assertThat(f.get("file").asText()).isEqualTo(tree + "/link");
                } else {
                    assertThat(f.get("sha256").asText()).hasSize(64);
                    assertThat(f.get("resumed_from").asLong()).isZero();
                    if (f.get("file").asText().endsWith("/size" + MIB)) {
                        assertThat(f.get("sha256").asText()).isEqualTo(CopyFiles.sha256(tree.resolve("size" + MIB)));
                        assertThat(f.get("bytes").asLong()).isEqualTo(MIB);
                        assertThat(f.get("bytes_per_second").asDouble()).isPositive();
                        checked++;
                    }
                }
            }
            assertThat(checked).isEqualTo(1);
            assertThat(files).hasSize(300 + 8 + 5 + 1);
        }
    }

    /** Like rsync and scp without -p; bits that a directory inherits stay. */
    @Test
    void droppedModeBitsAreReported() throws Exception {
        Path tree = Files.createDirectory(from.resolve("tree"));
        Path suid = CopyFiles.write(tree.resolve("suid"), 10, 1);
        CopyFiles.write(tree.resolve("plain"), 10, 2);
        Files.setAttribute(suid, "unix:mode", 06755);
        Path shared = Files.createDirectories(to.resolve("tree"));
        Files.setAttribute(shared, "unix:mode", 03775);
        try (CopyProcess listener = CopyProcess.listener(to)) {
            CopyProcess sender = CopyProcess.sender("--json", tree, listener.address()).expect(0);
            assertThat(sender.err()).contains(suid + ": its mode's setuid, setgid is not kept").doesNotContain(
                    "plain: its");
            assertThat(CopyProcess.sender("-q", tree, listener.address()).expect(0).err()).isEmpty();
            for (JsonNode f : new ObjectMapper().readTree(sender.out())) {
                assertThat(f.path("not_kept").asText()).isEqualTo(f.get("file").asText().endsWith("suid")
                        ? "setuid, setgid"
                        : "");
            }
        }
        assertThat((int) Files.getAttribute(to.resolve("tree/suid"), "unix:mode") & 07777).isEqualTo(0755);
        assertThat((int) Files.getAttribute(shared, "unix:mode") & 07000).isEqualTo(03000);
    }

    @Test
    void undecodableNamesSurviveInEveryLocale() throws Exception {
        // Made by the shell: this JVM's own locale may not be able to.
        assertThat(new ProcessBuilder("bash", "-c", "mkdir \"$1\"/t && printf x > \"$1\"/t/$'\\xff\\xfe\\xc3\\xa4'",
                "-",
                from.toString()).start().waitFor()).isZero();
        List<String> c = List.of("env", "LC_ALL=C");
        try (CopyProcess listener = CopyProcess.start(c, CopyProcess.modulePath(), "--listen", to, "--port", 0);
                CopyProcess sender = CopyProcess.start(c, CopyProcess.modulePath(), from.resolve("t"), listener
                        .address())) {
            sender.expect(0);
        }
        Process p = new ProcessBuilder("bash", "-c", "cat \"$1\"/t/$'\\xff\\xfe\\xc3\\xa4'", "-", to.toString())
                .start();
        assertThat(new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("x");
    }

    @Test
    void linkIsReplacedAndNotFollowed() throws Exception {
        Path a = CopyFiles.write(from.resolve("a"), 2 * MIB, 1);
        Path b = CopyFiles.write(from.resolve("b"), 5, 2);
        Files.writeString(to.resolve("a"), "old");
        Path precious = Files.writeString(dir.resolve("precious"), "precious");
        Files.createSymbolicLink(to.resolve("b"), precious);
        try (CopyProcess listener = CopyProcess.listener(to, "--once")) {
            CopyProcess.sender(a, b, listener.address()).expect(0);
            listener.expect(0);
        }
        assertSame();
        assertThat(to.resolve("b")).isRegularFile().hasSize(5);
        assertThat(Files.isSymbolicLink(to.resolve("b"))).isFalse();
        assertThat(precious).hasContent("precious");
    }

    /** A sender of small files, if there are any. */
    private static CopyProcess small(Object... arguments) throws Exception {
        return Thorough.ON
                ? CopyProcess.startQuickly(List.of(), CopyProcess.modulePath(), arguments)
                : CopyProcess.sender(arguments);
    }

    @Test
    void errorsAreReported() throws Exception {
        Path a = CopyFiles.write(from.resolve("a"), 10, 1);
        Path other = CopyFiles.write(Files.createDirectory(dir.resolve("other")).resolve("a"), 10, 2);
        assertThat(small(a, "127.0.0.1:18599").expect(3).err()).contains(
                "no listener on 127.0.0.1:18599");
        assertThat(small(a, other).expect(2).err()).contains("both " + a).contains(other.toString());
        assertThat(small(a, a).expect(2).err()).contains("both");
        assertThat(small().expect(2).err()).contains("Name the files");
        assertThat(small("--listen", a).expect(2).err()).contains("not a directory");
        assertThat(small("--device", "nix0", a).expect(1).err()).contains("nix0").contains("shm0");
        try (CopyProcess listener = CopyProcess.listener(to)) {
            CopyProcess missing = small(from.resolve("none"), a, "/dev/null", listener.address()).expect(1);
            assertThat(missing.err()).contains("no such file").contains("/dev/null: neither");
            assertThat(to.resolve("a")).as("the others are copied").exists();
            CopyProcess second = small("--listen", to, "--port", listener.awaitPort()).expect(1);
            assertThat(second.err()).contains("another program listens on").contains("--port");
            assertThat(small("--quiet", "--json", to.resolve("a"), listener.address()).expect(1).out())
                    .contains("are the same file").contains("SAME_FILE");
            Files.createDirectory(from.resolve("x"));
            Files.createFile(to.resolve("x"));
            Files.createDirectory(to.resolve("y"));
            Files.createFile(from.resolve("y"));
            assertThat(small(from.resolve("x"), from.resolve("y"), listener.address()).expect(1).err())
                    .contains("is not a directory").contains("is a directory");
            assertThat(small("--quiet", "/proc/version", listener.address()).expect(1).err())
                    .contains("files of /proc");
        }
        assertThat(to.resolve(CopyFiles.AREA)).doesNotExist();
    }

    /**
     * A sender of a long file that stands still when one is verified; of its name there was nothing, or this content.
     */
    private CopyProcess inTheMiddle(CopyProcess listener, Path source, @Nullable String before) throws Exception {
        Path target = to.resolve(source.getFileName());
        return CopyProcess.inTheMiddle(to, MIB, CopyFiles.LONG, null, () -> {
            Files.deleteIfExists(target);
            if (before != null) {
                Files.writeString(target, before);
            }
            return CopyProcess.startSlowly(List.of(), CopyProcess.modulePath(), source, listener.address());
        });
    }

    @Test
    void concurrentSendersOfOneFileAreSerialized() throws Exception {
        Path big = CopyFiles.write(from.resolve("big"), CopyFiles.LONG, 1);
        try (CopyProcess listener = CopyProcess.listener(to);
                CopyProcess first = inTheMiddle(listener, big, null)) { // however long the others take to start
            assertThat(CopyProcess.sender(big, listener.address()).expect(1).err()).contains("written by another copy");
            List<CopyProcess> others = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                others.add(CopyProcess.sender(CopyFiles.write(from.resolve("o" + i), 3 * MIB, i), listener.address()));
            }
            for (CopyProcess o : others) {
                o.expect(0);
            }
            first.signal("CONT");
            first.expect(0);
            assertSame();
        }
    }

    @Test
    void changingSourceIsNotCopied() throws Exception {
        Path file = CopyFiles.write(from.resolve("file"), CopyFiles.LONG, 1);
        Files.writeString(to.resolve("file"), "old");
        for (boolean shrink : new boolean[] {false, true}) {
            try (CopyProcess listener = CopyProcess.listener(to);
                    CopyProcess sender = inTheMiddle(listener, file, "old")) {
                if (shrink) {
                    CopyFiles.write(file, 5 * MIB, 1);
                } else {
                    Files.setLastModifiedTime(file, FileTime.from(Instant.now().plusSeconds(5)));
                }
                sender.signal("CONT");
                assertThat(sender.expect(6).err()).contains("while it was copied");
                assertThat(to.resolve("file")).hasContent("old");
                assertThat(to.resolve(CopyFiles.AREA)).doesNotExist();
            }
        }
    }
}
