// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.PosixFile;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterFolder;
import org.verbena.telemetry.CounterLayout;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.ReadCountersFlags;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** Malformed counter files of other processes: an error, never more. */
@Isolated("changes a property of this JVM, where it looks for counters")
class HostileCounterFileTest {
    private static final int SEEDS = Integer.getInteger("verbena.test.seeds", 300);
    private static final int CACHED = ReadCountersFlags.PREFER_CACHED;
    /** Names of invalid files. */
    private static final Set<Integer> ERRORS = Set.of(Errno.EBADMSG, Errno.EPROTONOSUPPORT);

    @TempDir private Path folder;
    private Process owner;
    private Path file;
    private byte[] good;
    private final List<Fd> locks = new ArrayList<>();

    /** A live process, and a file of it that is a copy of a real one. */
    @BeforeEach
    void copyAFile() throws Exception {
        try (Node node = Node.open()) {
            node.queuePair();
            node.allocate(4096);
            good = Files.readAllBytes(CounterFile.own().path());
        }
        owner = new ProcessBuilder("sleep", "600").start();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        System.setProperty(CounterFolder.PROPERTY, folder.toString());
        file = folder.resolve(owner.pid() + "-00c0ffee");
    }

    @AfterEach
    void end() {
        System.clearProperty(CounterFolder.PROPERTY);
        locks.forEach(Fd::close);
        owner.destroyForcibly();
    }

    private void put(byte[] content) throws Exception {
        Files.write(file, content);
        lock(file);
    }

    private void lock(Path path) throws Exception {
        Fd fd = PosixFile.open(path, PosixFile.O_RDONLY, 0);
        assertThat(PosixFile.tryLock(fd)).isTrue();
        locks.add(fd);
    }

    /** Every query of a process. */
    private void lookAtAll() throws VerbsException {
        try (RemoteProcess p = RemoteProcess.open(owner.pid())) {
            assertThat(p.pid()).isEqualTo(owner.pid());
            assertThat(p.command()).isNotNull();
            assertThat(p.created()).isNotNull();
            assertThat(p.isAlive()).isTrue();
            for (RemoteObject o : p.objects(CACHED)) {
                assertThat(o.attributes()).isNotNull();
                assertThat(o.describe() + o.state() + o.device() + o.created()).isNotEmpty();
                for (int point : o.samplePoints()) {
                    assertThat(SamplePoint.toString(point) + o.value(point)).isNotEmpty();
                }
                count(p, o);
            }
        }
    }

    private static void count(RemoteProcess p, RemoteObject o) throws VerbsException {
        for (int point : Arrays.copyOf(o.samplePoints(), Math.min(1, o.samplePoints().length))) {
            try (Counters c = p.createCounters()) {
                // asks for exact values, and no process answers for a copy
                assertThatExceptionOfType(VerbsException.class)
                        .isThrownBy(() -> c.attach(CounterAttachAttributes.of(point, 70_000), o));
            }
        }
    }

    private static void fails(Set<Integer> errors, ThrowingCallable look) {
        assertThatExceptionOfType(VerbsException.class).isThrownBy(look).satisfies(e -> {
            assertThat(errors).as(e.getMessage()).contains(e.errno());
            assertThat(e.getMessage()).hasSizeGreaterThan(30);
        });
    }

    private void listTells(Set<Integer> errors) throws VerbsException {
        List<VerbsException> problems = new ArrayList<>();
        assertThat(RemoteProcess.list(problems::add)).isEmpty();
        assertThat(problems).singleElement().satisfies(e -> assertThat(errors).contains(e.errno()));
    }

    @Test
    void unchangedCopyIsReadable() throws Exception {
        put(good);
        lookAtAll();
        try (RemoteProcess p = RemoteProcess.open(owner.pid())) {
            assertThat(p.objects(CACHED)).extracting(RemoteObject::type).contains(ObjectType.DEVICE, ObjectType.PORT,
                    ObjectType.QP, ObjectType.MR, ObjectType.CQ, ObjectType.PD);
        }
        List<RemoteProcess> all = RemoteProcess.list();
        assertThat(all).singleElement().satisfies(p -> assertThat(p.pid()).isEqualTo(owner.pid()));
        all.forEach(RemoteProcess::close);
    }

    @Test
    void truncatedFileIsAnErrorAtEveryLength() throws Exception {
        put(good);
        List<Integer> lengths = new ArrayList<>(List.of(0, 1, 7, 8, 12, 16, 31, 32, 40, 56, 255, 256, 300, 4095));
        for (int at = CounterLayout.HEADER; at < good.length; at += CounterLayout.CHUNK) {
            lengths.addAll(List.of(at, at + 1, at + 4, at + 512, at + CounterLayout.CHUNK - 1));
        }
        for (int n : lengths.reversed()) {
            try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
                f.setLength(n);
            }
            fails(Set.of(Errno.EBADMSG), this::lookAtAll);
        }
        listTells(Set.of(Errno.EBADMSG));
    }

    @Test
    void fileTruncatedDuringTheReadIsAnError() throws Exception {
        put(good);
        try (RemoteProcess p = RemoteProcess.open(owner.pid())) {
            RemoteObject port = p.objects(CACHED).stream().filter(o -> o.type() == ObjectType.PORT).findFirst()
                    .orElseThrow();
            assertThat(port.value(port.samplePoints()[0])).isNotNegative();
            try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
                f.setLength(CounterLayout.HEADER + 100);
            }
            fails(Set.of(Errno.EBADMSG), () -> p.objects(CACHED));
            try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
                f.setLength(0);
            }
            fails(Set.of(Errno.EBADMSG), () -> p.objects(CACHED));
            fails(Set.of(Errno.EBADMSG), () -> p.objects(0));
            Files.delete(file);
            fails(Set.of(Errno.ESRCH), () -> p.objects(CACHED));
            assertThat(p.isAlive()).isFalse();
        }
    }

    @Test
    void otherVersionIsNamed() throws Exception {
        ByteBuffer b = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        b.putInt((int) CounterLayout.HEADER_VERSION, 2);
        put(b.array());
        fails(Set.of(Errno.EPROTONOSUPPORT), this::lookAtAll);
        listTells(Set.of(Errno.EPROTONOSUPPORT));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 4097, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MIN_VALUE, 5, 1000})
    void falseChunkCountIsHandled(long chunks) throws Exception {
        ByteBuffer b = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        b.putLong((int) CounterLayout.HEADER_CHUNKS, chunks + (chunks == 5 ? good.length / CounterLayout.CHUNK : 0));
        put(b.array());
        fails(Set.of(Errno.EBADMSG), this::lookAtAll);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 61, 2049, 1 << 20})
    void falseLengthsAreHandled(int length) throws Exception {
        ByteBuffer b = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        b.putInt((int) CounterLayout.HEADER_COMMAND, length);
        b.putInt((int) CounterLayout.HEADER_BELL, length);
        for (int at = CounterLayout.HEADER + CounterLayout.SMALL_ENTRY; at
                + CounterLayout.SMALL_ENTRY <= good.length; at += CounterLayout.SMALL_ENTRY) {
            b.putInt(at + (int) CounterLayout.NAME, length);
        }
        put(b.array());
        assertThatNoException().isThrownBy(this::lookAtAll);
        try (RemoteProcess p = RemoteProcess.open(owner.pid())) {
            assertThat(p.command().length()).isLessThanOrEqualTo(CounterLayout.MAX_COMMAND);
            assertThat(p.objects(CACHED)).allSatisfy(
                    o -> assertThat(o.device().length()).isLessThanOrEqualTo(CounterLayout.MAX_NAME));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 16, 511, 513, 2048, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void entriesOfAnInvalidSizeAreHandled(int size) throws Exception {
        ByteBuffer b = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        b.putInt(CounterLayout.HEADER, size);
        put(b.array());
        fails(Set.of(Errno.EBADMSG), this::lookAtAll);
    }

    /** Seeded: single changed bytes, ranges of random bytes, only random bytes. */
    @Test
    void randomBytesAreAnErrorOrHarmless() throws Exception {
        put(good);
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            byte[] noise = good.clone();
            switch (seed % 3) {
                case 0 -> {
                    for (int i = random.nextInt(1, 200); i > 0; i--) {
                        noise[random.nextInt(random.nextBoolean() ? 512 : noise.length)] = (byte) random.nextInt();
                    }
                }
                case 1 -> {
                    int from = random.nextInt(8, noise.length);
                    byte[] part = new byte[Math.min(noise.length - from, random.nextInt(1, 20_000))];
                    random.nextBytes(part);
                    System.arraycopy(part, 0, noise, from, part.length);
                }
                default -> {
                    random.nextBytes(noise);
                    if (seed % 2 == 0) { // behind a header that is accepted
                        System.arraycopy(good, 0, noise, 0, 24);
                        ByteBuffer.wrap(noise).order(ByteOrder.LITTLE_ENDIAN).putLong((int) CounterLayout.HEADER_CHUNKS,
                                1).putInt(CounterLayout.HEADER, CounterLayout.SMALL_ENTRY);
                    }
                }
            }
            Files.write(file, noise);
            try {
                lookAtAll();
            } catch (VerbsException e) {
                assertThat(ERRORS).as("seed %d: %s", seed, e.getMessage()).contains(e.errno());
            }
        }
    }

    @Test
    void hugeSparseFileIsReadToItsStatedLength() throws Exception {
        put(good);
        try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
            f.setLength(1L << 40);
        }
        assertThatNoException().isThrownBy(this::lookAtAll);
        ByteBuffer b = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, 4096);
        try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
            f.seek(CounterLayout.HEADER_CHUNKS);
            f.write(b.array());
        }
        assertThatNoException().isThrownBy(this::lookAtAll);
    }

    @Test
    void pathOtherThanAFileIsAnError() throws Exception {
        Files.createDirectory(file);
        fails(Set.of(Errno.EBADMSG), this::lookAtAll);
        listTells(Set.of(Errno.EBADMSG));
        Files.delete(file);

        assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
        fails(Set.of(Errno.EBADMSG), this::lookAtAll);
        listTells(Set.of(Errno.EBADMSG));
        Files.delete(file);

        Path elsewhere = folder.resolve("elsewhere");
        Files.write(elsewhere, good);
        lock(elsewhere);
        Files.createSymbolicLink(file, elsewhere);
        fails(Set.of(Errno.EBADMSG), this::lookAtAll);
        listTells(Set.of(Errno.EBADMSG));
        Files.delete(file);
        fails(Set.of(Errno.ENOENT), this::lookAtAll);
    }

    @Test
    void fileOfAnotherUserIsNotTrusted() throws Exception {
        Users.needsRoot("give files away");
        put(good);
        Files.setAttribute(file, "unix:uid", Users.NOBODY);
        fails(Set.of(Errno.EBADMSG), this::lookAtAll);
        listTells(Set.of(Errno.EBADMSG));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxrwx---", "rwx----w-", "rwxrwxrwx"})
    void folderWritableByOthersIsRefused(String permissions) throws Exception {
        put(good);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(permissions));
        fails(Set.of(Errno.EPERM), this::lookAtAll);
        listTells(Set.of(Errno.EPERM));
        try (Child child = Child.of(CounterPeer.class).option("-D" + CounterFolder.PROPERTY + "=" + folder).start()) {
            child.await("READY");
            assertThat(child.tell("warnings").await("WARNINGS")).startsWith("1 ").contains(
                    "is not a folder that user 0 alone can write to");
            assertThat(child.tell("objects").await("OBJECTS")).contains("QP=2");
        }
    }

    @Test
    void silentProcessIsNotAwaitedForLong() throws Exception {
        put(good); // whose doorbell is this process's, which looks into its own file
        try (RemoteProcess p = RemoteProcess.open(owner.pid())) {
            fails(Set.of(Errno.ETIMEDOUT), () -> p.objects(0));
            assertThat(p.objects(CACHED)).isNotEmpty();
        }
    }

    @Test
    void missingAndSilentProcessesAreReported() throws IOException {
        fails(Set.of(Errno.ENOENT), this::lookAtAll);
        fails(Set.of(Errno.ESRCH), () -> RemoteProcess.open(1L << 22).close());
        fails(Set.of(Errno.ESRCH), () -> RemoteProcess.open(-5).close());
        fails(Set.of(Errno.ESRCH), () -> RemoteProcess.open(0).close());
        owner.destroyForcibly().onExit().join();
        fails(Set.of(Errno.ESRCH), this::lookAtAll);
    }
}
