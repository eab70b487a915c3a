// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.testkit.Await;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Refusals by the machine or other processes: each is reported clearly, and everything else keeps working. */
@Isolated("counts descriptors of this JVM")
class BadInputTest {
    private static final String NOBODY = String.valueOf(Users.NOBODY);
    private static final Duration QUICKLY = Duration.ofSeconds(1);
    /** For instant operations, on a machine that may be busy. */
    private static final Duration AT_ONCE = Duration.ofSeconds(30);
    private static final int PAIRS = 6;

    @TempDir Path classes;

    private static void assertFails(int errno, ThrowingCallable action, String... words) {
        VerbsException e = catchThrowableOfType(VerbsException.class, action);
        assertThat(e).as("an exception").isNotNull();
        assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
        assertThat(e.getMessage()).contains(words);
    }

    private static void assertError(Child child, int errno, String... words) throws Exception {
        String error = child.await("ERROR");
        assertThat(error).startsWith(errno + " ");
        for (String w : words) {
            assertThat(error).contains(w);
        }
    }

    /** One connects to the other, and bytes go through. */
    private static void assertWork(Child a, Child b) throws Exception {
        int port = a.tell("listen").awaitInt("PORT");
        a.tell("accept");
        b.tell("connect " + port).await("CONNECTED");
        a.await("ACCEPTED");
        a.tell("receives 1").await("POSTED");
        b.tell("send 70000").await("STATUS 0");
        a.tell("write 1000000 5").await("STATUS 0");
        b.tell("fetch").await("STATUS 0");
    }

    // ---- the machine's limits

    @Test
    void descriptorExhaustionIsReportedAndRecoverable() throws Exception {
        try (Child poor = poorInDescriptors();
                Node node = Node.open()) {
            poor.await("GID");
            int port = poor.tell("listen").awaitInt("PORT");
            String contexts = fill(poor, "context");
            assertThat(contexts).startsWith(Errno.EMFILE + " ").contains("ulimit -n");
            assertThat(fill(poor, "channel")).startsWith(Errno.EMFILE + " ").contains("ulimit -n");
            // no connection is made, which both sides report without using CPU time
            QueuePair qp = node.queuePair();
            long cpu = Proc.cpuMillis(poor.pid());
            ConnectionParameters impatient = ConnectionParameters.builder().timeout(QUICKLY).build();
            assertThat(catchThrowableOfType(VerbsException.class, () -> node.connect(qp, port, impatient))).isNotNull();
            assertThat(Proc.cpuMillis(poor.pid()) - cpu).as("ms of processor time").isLessThan(500);
            for (int held = 100; held > 0;) {
                held = Integer.parseInt(poor.tell("drop").await("DROPPED"));
            }
            poor.tell("hold context").await("HELD");
            poor.tell("accept");
            node.connect(qp, port).close();
            poor.await("ACCEPTED");
        }
    }

    /** Memory is passed as a descriptor, which is needed for a moment: a process has a spare one for it. */
    @Test
    void memoryArrivingWithoutFreeDescriptorsUsesTheSpareOne() throws Exception {
        try (Child poor = poorInDescriptors();
                Node node = Node.open();
                ConnectionListener l = node.listen()) {
            connect(poor, node, l);
            fill(poor, "context");
            fill(poor, "file");
            for (int i = 1; i <= 100; i++) {
                write(poor, node.allocate(4096), i);
            }
            assertThat(fill(poor, "file")).as("none is lost").startsWith(Errno.EMFILE + " ");
            awaitOneSession();
        }
    }

    /**
     * A process that may have no more descriptors misses it, reports that when it needs the memory, and gets it when it
     * can; everything else between the two continues.
     */
    @Test
    void memoryArrivingWithoutAnyDescriptorIsFetchedLater() throws Exception {
        try (Child poor = poorInDescriptors();
                Node node = Node.open();
                ConnectionListener l = node.listen()) {
            MemoryRegion early = node.allocate(4096);
            connect(poor, node, l);
            write(poor, early, 1);
            fill(poor, "file");
            limitDescriptors(poor, 3);
            MemoryRegion late = node.allocate(4096);
            write(poor, early, 2); // arrives after the memory was missed, since messages keep their order
            assertThat(poor.tell("target " + late.address() + " " + late.rkey()).await("TARGET")).isEmpty();
            assertThat(poor.tell("write 100 3").await("STATUS")).startsWith(WcStatus.RETRY_EXC_ERR + " ").contains(
                    "EMFILE", "ulimit -n");
            assertThat(late.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();

            // the process may have some again, and has one session with us as before
            limitDescriptors(poor, 64);
            poor.tell("drop").await("DROPPED");
            poor.tell("disconnect").await("DISCONNECTED");
            connect(poor, node, l);
            awaitOneSession();
            write(poor, late, 4);
            // missed again, this time with nothing that asks for it before there are descriptors again
            limitDescriptors(poor, 3);
            MemoryRegion later = node.allocate(4096);
            write(poor, early, 5);
            limitDescriptors(poor, 64);
            write(poor, later, 6);
            awaitOneSession();
        }
    }

    private static void limitDescriptors(Child of, int limit) throws Exception {
        Process p = new ProcessBuilder("prlimit", "--pid", Long.toString(of.pid()), "--nofile=" + limit + ":64")
                .inheritIO().start();
        assertThat(p.waitFor()).isZero();
    }

    /** Ringing a doorbell needs a descriptor, which is opened before the first message and not when it is too late. */
    @Test
    void processWithoutDescriptorsStillWakesItsPeer() throws Exception {
        try (Child poor = poorInDescriptors();
                Node node = Node.openWithChannel();
                ConnectionListener l = node.listen()) {
            MemoryRegion m = node.allocate(4096);
            QueuePair qp = connect(poor, node, l);
            write(poor, m, 1);
            fill(poor, "context");
            fill(poor, "file");
            assertThat(qp.receiveQueue().post(1, m, 0, 4096)).isZero();
            assertThat(node.cq.requestNotify(false)).isZero();
            poor.tell("send 8").await("STATUS 0");
            assertThat(node.cq.channel().await(Child.LIMIT)).isSameAs(node.cq);
        }
    }

    private Child poorInDescriptors() throws Exception {
        return Child.of(ToolPeer.class).classPath(Users.jars(classes)).under("prlimit", "--nofile=64").start();
    }

    private static QueuePair connect(Child poor, Node node, ConnectionListener l) throws Exception {
        poor.tell("connect " + l.localAddress().getPort());
        QueuePair qp = node.queuePair();
        Node.await(l).accept(qp, ConnectionParameters.builder().privateData(new byte[12]).build());
        poor.await("CONNECTED");
        return qp;
    }

    private static void write(Child from, MemoryRegion to, int value) throws Exception {
        from.tell("target " + to.address() + " " + to.rkey()).await("TARGET");
        assertThat(from.tell("write 100 " + value).await("STATUS")).isEqualTo("0");
        assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) value);
    }

    /** One that ended before, of another test perhaps, may take a while to go. */
    private static void awaitOneSession() throws IOException {
        Await.until(Child.LIMIT, () -> Proc.descriptors("self").getOrDefault("/memfd:verbena-lanes (deleted)", 0) == 1,
                () -> "there is not one session");
    }

    /** Lets a child allocate more and more until it fails; returns the error. */
    private static String fill(Child child, String what) throws Exception {
        for (int i = 0; i < 64; i++) {
            String line = child.tell("hold " + what).awaitEither("HELD", "ERROR");
            if (line.startsWith("ERROR")) {
                return line.substring("ERROR ".length());
            }
        }
        throw new AssertionError("64 of " + what + " fit");
    }

    @Test
    void allocationBeyondAvailableMemoryIsRefusedAtOnce() throws Exception {
        try (Node node = Node.open()) {
            long start = System.nanoTime();
            assertFails(Errno.ENOMEM, () -> node.allocate(1L << 40), "available");
            assertFails(Errno.ENOMEM, () -> node.allocate(Sys.availableMemory() + (1L << 30)), "available");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
            node.allocate(1 << 20).close();
        }
    }

    @Test
    void fullSharedMemoryFileSystemIsTolerated() throws Exception {
        Users.needsRoot("mount a full /dev/shm");
        String[] full = {"unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=4k tmpfs /dev/shm"
                + " && head -c 4096 /dev/zero > /dev/shm/full; ! echo > /dev/shm/more && exec \"$@\"", "sh"};
        try (Child a = Child.of(ToolPeer.class).under(full).start();
                Child b = Child.of(ToolPeer.class).under(full)
                        .start()) {
            assertWork(a, b);
        }
    }

    // ---- users and rights

    @Test
    void ordinaryUserRunsEndToEnd() throws Exception {
        try (Child a = Users.nobody(classes, ToolPeer.class).start();
                Child b = Users.nobody(classes, ToolPeer.class)
                        .start()) {
            assertWork(a, b);
        }
    }

    @Test
    void registeredMemoryIsReachedAndMissingPtraceRightIsReported() throws Exception {
        try (Child a = Users.nobody(classes, ToolPeer.class).option("-Dregistered=true").start();
                Child b = Users.nobody(classes, ToolPeer.class).start()) {
            int port = a.tell("listen").awaitInt("PORT");
            a.tell("accept");
            b.tell("connect " + port).await("CONNECTED");
            a.await("ACCEPTED");
            b.tell("write 100000 5").await("STATUS 0");
            a.tell("undumpable").await("UNDUMPABLE");
            assertThat(b.tell("write 100000 6").await("STATUS")).contains("EPERM").contains("ptrace").contains(
                    "allocate");
            a.tell("disconnect").await("DISCONNECTED");
            b.tell("disconnect").await("DISCONNECTED");
        }
    }

    @Test
    void processOfAnotherUserIsRefusedNamingBothUsers() throws Exception {
        try (Child other = Users.nobody(classes, ToolPeer.class).start();
                Node node = Node.open();
                ConnectionListener l = node.listen()) {
            String gid = other.await("GID");
            String[] words = {"user 0", "user " + NOBODY, "trusted-uids"};
            int port = other.tell("listen").awaitInt("PORT");
            QueuePair qp = node.queuePair();
            assertFails(Errno.EACCES, () -> node.connect(qp, port), words);
            assertFails(Errno.EACCES, () -> Node.toRtr(qp, gid, 1), words);
            other.tell("connect " + l.localAddress().getPort());
            assertError(other, Errno.EACCES, words);
            other.tell("rtr " + node.gid() + " 1");
            assertError(other, Errno.EACCES, words);
            int before = Proc.descriptors("self").get("socket:");
            for (int i = 0; i < 20; i++) {
                QueuePair again = node.queuePair();
                assertFails(Errno.EACCES, () -> Node.toRtr(again, gid, 1), words);
            }
            Await.until(Child.LIMIT, () -> Proc.descriptors("self").get("socket:") <= before,
                    () -> "refusals keep sockets");
        }
    }

    @Test
    void configuredTrustedUserIsConnected() throws Exception {
        try (Child other = Users.nobody(classes, ToolPeer.class).option("-Dverbena.shm.trusted-uids=0").start();
                Child own = Child.of(ToolPeer.class).option("-Dverbena.shm.trusted-uids=" + NOBODY).start()) {
            assertWork(own, other);
        }
    }

    // ---- ports

    @Test
    void missingAndDuplicateListenersAreReported() throws Exception {
        try (Node node = Node.open(); Child first = Child.start(ToolPeer.class)) {
            ConnectionListener l = node.listen();
            int port = l.localAddress().getPort();
            first.tell("listen " + port);
            assertError(first, Errno.EADDRINUSE, "port " + port);
            assertFails(Errno.EADDRINUSE, () -> node.listen(port), "port " + port);
            l.close();
            QueuePair qp = node.queuePair();
            long start = System.nanoTime();
            assertFails(Errno.ECONNREFUSED, () -> node.connect(qp, port), "no listener on port " + port);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
            // a later listener gets the port, and is found
            first.tell("listen " + port).await("PORT");
            first.tell("accept");
            node.connect(qp, port).close();
            first.await("ACCEPTED");
            first.kill();
            first.awaitExit();
            QueuePair next = node.queuePair();
            assertFails(Errno.ECONNREFUSED, () -> node.connect(next, port), "no listener on port " + port);
            node.listen(port).close();
        }
    }

    // ---- many

    @Test
    void manyProcessPairsWorkSimultaneously() throws Exception {
        List<Child> children = new ArrayList<>();
        try {
            for (int i = 0; i < 2 * PAIRS; i++) {
                children.add(Child.start(ToolPeer.class));
            }
            for (int i = 0; i < PAIRS; i++) {
                assertWork(children.get(2 * i), children.get(2 * i + 1));
            }
            for (Child c : children) {
                c.tell("close").await("CLOSED");
                c.end();
            }
        } finally {
            for (Child c : children) {
                c.close();
            }
        }
    }

    @Test
    void contextsOfOneProcessCommunicateLikeProcesses() throws Exception {
        try (Node a = Node.open(); Node b = Node.open()) {
            QueuePair x = a.queuePair();
            QueuePair y = b.queuePair();
            Traffic near = new Traffic(x, a.allocate(Traffic.BYTES), 1);
            Traffic far = new Traffic(y, b.allocate(Traffic.BYTES), 2);
            Node.toRtr(x, b.gid(), y.number());
            Node.toRtr(y, a.gid(), x.number());
            Node.toRts(x);
            Node.toRts(y);
            CountDownLatch busy = new CountDownLatch(2);
            Throwable[] failed = new Throwable[1];
            Thread other = Thread.ofPlatform().start(() -> {
                try {
                    far.begin(near.address());
                    run(far, b, busy);
                } catch (AssertionError e) {
                    failed[0] = e;
                }
            });
            near.begin(far.address());
            run(near, a, busy);
            other.join();
            assertThat(failed[0]).isNull();
        }
    }

    /** Waits until both have worked for a while, since each must take the messages of the other. */
    private static void run(Traffic t, Node node, CountDownLatch busy) {
        long end = System.nanoTime() + QUICKLY.toNanos() / 2;
        long latest = System.nanoTime() + AT_ONCE.toNanos();
        boolean counted = false;
        while (System.nanoTime() - end < 0 || busy.getCount() > 0) {
            assertThat(System.nanoTime() - latest).as(t.toString()).isNegative();
            t.step();
            t.poll(node.cq);
            if (!counted && t.done() > 100) {
                counted = true;
                busy.countDown();
            }
        }
    }

    /** A program that opens channels of Verbena itself, without the agent: the first one fails. */
    @Test
    void invalidPropertyFailsTheFirstChannel() throws Exception {
        try (Child program = Child.of(StreamPeer.class).option("-Dverbena.spin=fast").start("reader")) {
            assertThat(program.awaitExit()).isEqualTo(1);
            assertThat(program.errors()).contains("java.lang.IllegalArgumentException: the system property"
                    + " verbena.spin takes microseconds, 0 to 1000000, not 'fast'");
            assertThat(program.lines()).noneMatch(l -> l.startsWith("port"));
        }
    }
}
