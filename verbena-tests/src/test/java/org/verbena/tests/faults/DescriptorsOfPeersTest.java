// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Processes without descriptors, and connections that are refused: this process keeps no descriptor of them. */
@Isolated("counts descriptors of this JVM")
class DescriptorsOfPeersTest {
    private static final String NOBODY = String.valueOf(Users.NOBODY);
    private static final Duration QUICKLY = Duration.ofSeconds(1);

    @TempDir Path classes;

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

    @Test
    void processOfAnotherUserIsRefusedNamingBothUsers() throws Exception {
        try (Child other = Users.nobody(classes, ToolPeer.class).start();
                Node node = Node.open();
                ConnectionListener l = node.listen()) {
            String gid = other.await("GID");
            String[] words = {"user 0", "user " + NOBODY, "trusted-uids"};
            int port = other.tell("listen").awaitInt("PORT");
            QueuePair qp = node.queuePair();
            BadInputTest.assertFails(Errno.EACCES, () -> node.connect(qp, port), words);
            BadInputTest.assertFails(Errno.EACCES, () -> Node.toRtr(qp, gid, 1), words);
            other.tell("connect " + l.localAddress().getPort());
            BadInputTest.assertError(other, Errno.EACCES, words);
            other.tell("rtr " + node.gid() + " 1");
            BadInputTest.assertError(other, Errno.EACCES, words);
            int before = Proc.descriptors("self").get("socket:");
            for (int i = 0; i < 20; i++) {
                QueuePair again = node.queuePair();
                BadInputTest.assertFails(Errno.EACCES, () -> Node.toRtr(again, gid, 1), words);
            }
            Await.until(Child.LIMIT, () -> Proc.descriptors("self").get("socket:") <= before,
                    () -> "refusals keep sockets");
        }
    }

    private static void limitDescriptors(Child of, int limit) throws Exception {
        Process p = new ProcessBuilder("prlimit", "--pid", Long.toString(of.pid()), "--nofile=" + limit + ":64")
                .inheritIO().start();
        assertThat(p.waitFor()).isZero();
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
}
