// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.telemetry.CounterFolder;
import org.verbena.testkit.Await;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** Watched processes: killed, stopped, of another user, without room for their file. */
@Isolated("changes a property of this JVM, where it looks for counters")
class CounterProcessesTest {
    @TempDir private Path folder;

    @AfterEach
    void useTheFolderOfAll() {
        System.clearProperty(CounterFolder.PROPERTY);
    }

    /**
     * A child whose files no other process removes: each process that starts, or lists all processes, removes those of
     * dead ones.
     */
    private Child apart() throws IOException {
        Path own = folder.resolve("counters");
        if (!Files.exists(own)) {
            Files.createDirectory(own, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(
                    "rwx------")));
        }
        System.setProperty(CounterFolder.PROPERTY, own.toString());
        return Child.of(CounterPeer.class).option("-D" + CounterFolder.PROPERTY + "=" + own).start();
    }

    private static List<Path> files(long pid) throws IOException {
        try (Stream<Path> all = Files.list(CounterFolder.own().path())) {
            return all.filter(f -> f.getFileName().toString().startsWith(pid + "-")).toList();
        }
    }

    private static List<Long> listed() throws VerbsException {
        List<RemoteProcess> all = RemoteProcess.list();
        all.forEach(RemoteProcess::close);
        return all.stream().map(RemoteProcess::pid).toList();
    }

    @Test
    void processKilledWhileWatchedIsReported() throws Exception {
        try (Child child = apart()) {
            int number = child.awaitInt("READY");
            assertThat(listed()).contains(child.pid());
            try (RemoteProcess p = RemoteProcess.open(child.pid())) {
                RemoteObject qp = p.objects(0).stream()
                        .filter(o -> o.type() == ObjectType.QP && o.number() == number).findFirst().orElseThrow();
                Counters counters = p.createCounters();
                counters.attach(CounterAttachAttributes.of(SamplePoint.QP_TX_SENDS, 0), qp);
                child.tell("send 5").await("SENT");
                long[] values = new long[1];
                counters.read(values, 0);
                assertThat(values[0]).isEqualTo(5);

                child.kill();
                child.awaitExit();
                assertThat(p.isAlive()).isFalse();
                assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> p.objects(0))
                        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ESRCH));
                counters.read(values, 0);
                assertThat(values[0]).as("what was read last").isEqualTo(5);
                counters.detach(qp);
                counters.close();
            }
            assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> RemoteProcess.open(child.pid()))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ESRCH));
            assertThat(files(child.pid())).as("what was left behind").hasSize(1);
            assertThat(listed()).doesNotContain(child.pid());
            assertThat(files(child.pid())).isEmpty();
        }
    }

    @Test
    void nextProcessRemovesFilesOfAKilledOne() throws Exception {
        try (Child child = apart()) {
            child.await("READY");
            child.kill();
            child.awaitExit();
            assertThat(files(child.pid())).hasSize(1);
            try (Child next = apart()) {
                next.await("READY");
                assertThat(files(child.pid())).isEmpty();
                assertThat(files(next.pid())).hasSize(1);
            }
        }
    }

    @Test
    void normalExitRemovesTheFile() throws Exception {
        try (Child child = Child.start(CounterPeer.class)) {
            child.await("READY");
            assertThat(files(child.pid())).hasSize(1);
            assertThat(new ProcessBuilder("kill", "-TERM", String.valueOf(child.pid())).start().waitFor()).isZero();
            child.awaitExit();
            assertThat(files(child.pid())).isEmpty();
        }
    }

    @Test
    void stoppedProcessShowsItsLastCounters() throws Exception {
        try (Child child = Child.start(CounterPeer.class)) {
            int number = child.awaitInt("READY");
            child.tell("send 3").await("SENT");
            try (RemoteProcess p = RemoteProcess.open(child.pid())) {
                child.stop();
                assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> p.objects(0))
                        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT))
                        .withMessageContaining("is it stopped?");
                assertThat(p.objects(org.verbena.verbs.ReadCountersFlags.PREFER_CACHED))
                        .filteredOn(o -> o.type() == ObjectType.QP && o.number() == number).singleElement()
                        .satisfies(o -> assertThat(o.value(SamplePoint.QP_TX_SENDS)).isEqualTo(3));
                child.proceed();
                assertThat(p.objects(0)).isNotEmpty();
            }
        }
    }

    /** A running process is awaited longer than a stopped one, even before it has begun to gather. */
    @Test
    void busyProcessIsAwaited() throws Exception {
        try (Child child = Child.start(CounterPeer.class)) {
            child.await("READY");
            child.tell("hold").await("HOLDS");
            try (RemoteProcess p = RemoteProcess.open(child.pid())) {
                FutureTask<List<RemoteObject>> first = look(p);
                child.await("HELD");
                FutureTask<List<RemoteObject>> second = look(p); // for which it cannot begin
                Await.during(Duration.ofMillis(700));
                assertThat(first.isDone() || second.isDone()).isFalse();
                child.tell("release");
                assertThat(first.get(180, TimeUnit.SECONDS)).isNotEmpty();
                assertThat(second.get(180, TimeUnit.SECONDS)).isNotEmpty();
            }
        }
    }

    private static FutureTask<List<RemoteObject>> look(RemoteProcess p) {
        FutureTask<List<RemoteObject>> look = new FutureTask<>(() -> p.objects(0));
        Thread.ofPlatform().daemon().start(look);
        return look;
    }

    @Test
    void processesOfOtherUsersAreHidden() throws Exception {
        try (Node node = Node.open(); Child child = Users.nobody(folder, CounterPeer.class).start()) {
            assertThat(node.gid()).isNotEmpty();
            child.await("READY");
            assertThat(listed()).as("root sees all").contains(child.pid(), (long) Sys.pid());
            try (RemoteProcess p = RemoteProcess.open(child.pid())) {
                assertThat(p.objects(0)).isNotEmpty();
            }
            assertThat(child.tell("open " + Sys.pid()).await("ERROR")).startsWith(Errno.EACCES + " ").contains(
                    "it belongs to user root: look as that user, or as root");
            assertThat(child.tell("list").await("LIST")).isEqualTo(String.valueOf(child.pid()));
        }
    }

    /** A file system of this many bytes, in its own mount namespace. */
    private Child onSmallDisk(String size, String before) throws IOException {
        Users.needsRoot("mount a small file system");
        String script = "mount -t tmpfs -o mode=700,size=" + size + " none '" + folder + "' && " + before
                + " exec \"$@\"";
        return Child.of(CounterPeer.class).under("unshare", "--mount", "sh", "-c", script, "sh")
                .option("-D" + CounterFolder.PROPERTY + "=" + folder).start();
    }

    @Test
    void diskFillingUpIsWarnedOfOnceAndWorkContinues() throws Exception {
        try (Child child = onSmallDisk("150k", "")) {
            child.await("READY");
            child.tell("regions 300").await("REGIONS");
            child.tell("send 7").await("SENT");
            assertThat(child.tell("sends").await("SENDS")).isEqualTo("7");
            assertThat(child.tell("objects").await("OBJECTS")).contains("QP=2").contains("MR=301");
            assertThat(child.tell("warnings").await("WARNINGS")).startsWith("1 ")
                    .contains("other processes cannot see the counters of some objects of this one").contains("ENOSPC");
        }
    }

    @Test
    void fullDiskIsWarnedOfOnceAndWorkContinues() throws Exception {
        try (Child child = onSmallDisk("8k", "head -c 8192 /dev/zero >'" + folder + "/full' &&")) {
            child.await("READY");
            child.tell("regions 300").await("REGIONS");
            child.tell("send 7").await("SENT");
            assertThat(child.tell("sends").await("SENDS")).isEqualTo("7");
            assertThat(child.tell("objects").await("OBJECTS")).contains("QP=2").contains("MR=301");
            assertThat(child.tell("warnings").await("WARNINGS")).startsWith("1 ")
                    .contains("other processes cannot see the counters of this one").contains("ENOSPC");
        }
    }
}
