// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** Refusals by the machine or other processes: each is reported clearly, and everything else keeps working. */
class BadInputTest {
    private static final String NOBODY = String.valueOf(Users.NOBODY);
    private static final Duration QUICKLY = Duration.ofSeconds(1);
    /** For instant operations, on a machine that may be busy. */
    private static final Duration AT_ONCE = Duration.ofSeconds(30);
    private static final int PAIRS = Thorough.ON ? 6 : 3;

    @TempDir Path classes;

    static void assertFails(int errno, ThrowingCallable action, String... words) {
        VerbsException e = catchThrowableOfType(VerbsException.class, action);
        assertThat(e).as("an exception").isNotNull();
        assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
        assertThat(e.getMessage()).contains(words);
    }

    static void assertError(Child child, int errno, String... words) throws Exception {
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
