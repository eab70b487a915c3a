// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Thorough;
import org.verbena.tests.CommandLane;

/** {@code verbena copy} when one end dies, stops, or has no room. */
@CommandLane
class CopyInterruptedTest {
    private static final long MIB = 1 << 20;
    /** How much further the second of two copies goes. */
    private static final long MORE = (Thorough.ON ? 16 : 4) * MIB;
    private static final long SIZE = CopyFiles.LONG + 77;

    @TempDir private Path dir;
    private Path to;
    private Path file;

    @BeforeEach
    void makeFiles() throws Exception {
        to = Files.createDirectory(dir.resolve("to"));
        file = CopyFiles.write(dir.resolve("file"), SIZE, 1);
        Files.writeString(to.resolve("file"), "old");
    }

    /** A copy that has progressed this far, and no further until the sender or {@code held} continues. */
    private CopyProcess inTheMiddle(CopyProcess listener, long verified, @Nullable CopyProcess held, Object... options)
            throws Exception {
        List<Object> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of(file, listener.address()));
        return CopyProcess.inTheMiddle(to, verified, SIZE, held, () -> {
            Files.writeString(to.resolve("file"), "old");
            return CopyProcess.startSlowly(List.of(), CopyProcess.modulePath(), arguments.toArray());
        });
    }

    private void assertResumes() throws Exception {
        assertThat(to.resolve("file")).hasSize(3);
        long verified = CopyFiles.verified(to);
        assertThat(verified).isBetween(16 * MIB, SIZE);
        try (CopyProcess listener = CopyProcess.listener(to);
                CopyProcess sender = CopyProcess.sender("--json", file, listener.address())) {
            sender.expect(0);
            var node = new ObjectMapper().readTree(sender.out()).get(0);
            assertThat(node.get("resumed_from").asLong()).isGreaterThanOrEqualTo(verified / MIB * MIB);
            assertThat(node.get("sha256").asText()).isEqualTo(CopyFiles.sha256(file));
        }
        CopyFiles.assertSame(to.resolve("file"), file);
        assertThat(to.resolve(CopyFiles.AREA)).doesNotExist();
    }

    @Test
    void copyResumesAfterTheSenderWasKilled() throws Exception {
        try (CopyProcess listener = CopyProcess.listener(to);
                CopyProcess sender = inTheMiddle(listener, 16 * MIB, null)) {
            sender.kill();
            listener.awaitError("the peer died");
            // The same listener goes on.
            assertResumes();
        }
    }

    @Test
    void copyResumesAfterTheListenerWasKilled() throws Exception {
        try (CopyProcess listener = CopyProcess.listen(to);
                CopyProcess sender = inTheMiddle(listener, 16 * MIB, null)) {
            listener.kill();
            sender.signal("CONT");
            assertThat(sender.expect(4).err()).contains("the peer died").contains("same command continues");
        }
        assertResumes();
    }

    @Test
    void copyResumesAfterSignals() throws Exception {
        try (CopyProcess listener = CopyProcess.listen(to);
                CopyProcess sender = inTheMiddle(listener, 16 * MIB, null)) {
            listener.signal("TERM");
            listener.expect(143);
            sender.signal("CONT");
            sender.expect(4);
        }
        try (CopyProcess listener = CopyProcess.listen(to);
                CopyProcess sender = inTheMiddle(listener, CopyFiles.verified(to) + MORE, listener)) {
            sender.signal("INT");
            sender.expect(130);
            listener.signal("CONT");
            listener.awaitError("the peer died");
        }
        assertResumes();
    }

    @Test
    void changedSourceIsCopiedFromTheStart() throws Exception {
        try (CopyProcess listener = CopyProcess.listener(to);
                CopyProcess sender = inTheMiddle(listener, 16 * MIB, null)) {
            sender.kill();
            listener.awaitError("the peer died");
            // Same size and time, other contents: the hash of the prefix differs.
            var time = Files.getLastModifiedTime(file);
            CopyFiles.write(file, SIZE, 2);
            Files.setLastModifiedTime(file, time);
            CopyProcess again = CopyProcess.sender("--json", file, listener.address()).expect(0);
            assertThat(again.out()).contains("\"resumed_from\" : 0");
            CopyFiles.assertSame(to.resolve("file"), file);
        }
    }

    @Test
    void waitForAStoppedPeerTimesOut() throws Exception {
        try (CopyProcess listener = CopyProcess.listen(to);
                CopyProcess sender = inTheMiddle(listener, 16 * MIB, listener, "--timeout", 5)) {
            assertThat(sender.expect(4).err()).containsAnyOf("has not answered for 5 seconds", "the peer died");
            listener.signal("CONT");
            listener.awaitError("the peer died");
        }
    }

    @Test
    void fullDiskIsReportedBeforeTheFirstByte() throws Exception {
        Path small = Files.createDirectory(dir.resolve("small"));
        if (run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small.toString()) != 0) {
            System.out.println("SKIPPED: a full disk needs the right to mount a tmpfs");
            return;
        }
        try (CopyProcess listener = CopyProcess.listen(small)) {
            Files.writeString(small.resolve("file"), "old");
            Path fits = CopyFiles.write(dir.resolve("fits"), 3 * MIB, 3);
            CopyProcess sender = CopyProcess.sender(file, fits, listener.address()).expect(5);
            assertThat(sender.err()).contains("no space for " + CopyFiles.LONG_MIB + ".0 MiB").contains("left");
            assertThat(small.resolve("file")).hasContent("old");
            assertThat(small.resolve("fits")).as("what fits is copied").hasSize(3 * MIB);
            assertThat(small.resolve(CopyFiles.AREA)).doesNotExist();
        } finally {
            assertThat(run("umount", small.toString())).isZero();
        }
    }

    /** Bytes are free, but no directory or file can be created. */
    @Test
    void fileSystemWithoutInodesIsReported() throws Exception {
        Path small = Files.createDirectory(dir.resolve("small"));
        if (run("mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=1", "tmpfs", small.toString()) != 0) {
            System.out.println("SKIPPED: a file system without inodes needs the right to mount a tmpfs");
            return;
        }
        try (CopyProcess listener = CopyProcess.listen(small)) {
            Path tree = Files.createDirectory(dir.resolve("tree"));
            Path inIt = CopyFiles.write(tree.resolve("f"), 10, 1);
            // the directory; its own, the file's area and state, and then the file
            for (int inodes : new int[] {1, 4}) {
                assertThat(run("mount", "-o", "remount,nr_inodes=" + inodes, small.toString())).isZero();
                CopyProcess sender = CopyProcess.sender("--json", tree, listener.address()).expect(5);
                assertThat(sender.err()).contains((inodes == 1 ? tree : inIt) + ": ").contains(
                        "no inodes at the listener").contains("MiB left in its " + inodes + " inodes").doesNotContain(
                                "no space");
                assertThat(sender.out()).contains("NO_SPACE");
                assertThat(small.resolve(CopyFiles.AREA)).doesNotExist();
            }
        } finally {
            assertThat(run("umount", small.toString())).isZero();
        }
    }

    @Test
    void copyCrossesFileSystems() throws Exception {
        Path mounted = Files.createDirectories(to.resolve("d/mounted"));
        if (run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", mounted.toString()) != 0) {
            System.out.println("SKIPPED: a second file system needs the right to mount a tmpfs");
            return;
        }
        try (CopyProcess listener = CopyProcess.listen(to)) {
            Path source = Files.createDirectories(dir.resolve("d/mounted"));
            CopyFiles.write(source.resolve("x"), 2 * MIB, 3);
            CopyProcess.sender(dir.resolve("d"), listener.address()).expect(0);
            CopyFiles.assertSame(mounted.resolve("x"), source.resolve("x"));
            assertThat(mounted.resolve(CopyFiles.AREA)).doesNotExist();
        } finally {
            assertThat(run("umount", mounted.toString())).isZero();
        }
    }

    @Test
    void ordinaryUserCanCopy() throws Exception {
        if (!"root".equals(System.getProperty("user.name"))) {
            System.out.println("SKIPPED: this is an ordinary user already");
            return;
        }
        assertThat(run("chmod", "711", dir.toString())).isZero();
        assertThat(run("chown", "nobody", to.toString())).isZero();
        String modules = CopyProcess.copyModules(Files.createDirectory(dir.resolve("modules")));
        List<String> nobody = List.of("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups");
        Path secret = CopyFiles.write(dir.resolve("secret"), 10, 1);
        assertThat(run("chmod", "600", secret.toString())).isZero();
        try (CopyProcess listener = CopyProcess.start(nobody, modules, "--listen", to, "--port", 0)) {
            String address = listener.address();
            CopyProcess.start(nobody, modules, file, address).expect(0);
            CopyFiles.assertSame(to.resolve("file"), file);
            assertThat(Files.getOwner(to.resolve("file")).getName()).isEqualTo("nobody");
            assertThat(CopyProcess.start(nobody, modules, secret, address).expect(1).err()).contains(
                    "permission denied");
            assertThat(run("chown", "root", to.toString())).isZero();
            assertThat(CopyProcess.start(nobody, modules, "--quiet", file, address).expect(1).err()).contains(
                    "permission denied");
        }
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }
}
