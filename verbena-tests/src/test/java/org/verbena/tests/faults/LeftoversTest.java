// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.testkit.Await;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;

/** Nothing stays behind when connections, contexts and peers have ended in any way. */
@Isolated("counts descriptors of this JVM")
class LeftoversTest {
    private static final int CONNECTIONS = Integer.getInteger("verbena.test.connections", 200);
    private static final int CONTEXTS = Integer.getInteger("verbena.test.contexts", 500) / 2;
    private static final int WARM_UP = 50;
    private static final int MORE_THREADS = 2; // the JVM's own
    private static final long MORE_MAPPINGS = 100;
    private static final long MORE_KIBIBYTES = 64 << 10;

    private static Map<String, Integer> descriptors() throws Exception {
        return Proc.descriptors("self");
    }

    /** Another thread, or a process that has to notice first, may still release resources. */
    private static void assertDescriptors(String pid, Map<String, Integer> before) throws Exception {
        Map<?, ?>[] now = new Map<?, ?>[1];
        Await.until(Child.LIMIT, () -> {
            Map<String, Integer> all = Proc.descriptors(pid);
            now[0] = all;
            // fewer if something was being released when they were counted first
            return all.entrySet().stream().allMatch(e -> e.getValue() <= before.getOrDefault(e.getKey(), 0));
        }, () -> "descriptors were " + before + ", are " + now[0]);
    }

    /** A thread that has released its resources may be about to end. */
    private static void assertThreads(String pid, long before) throws IOException {
        long[] now = new long[1];
        Await.until(Child.LIMIT, () -> (now[0] = Proc.status(pid, "Threads")) <= before + MORE_THREADS,
                () -> before + " threads were there, and are " + now[0]);
    }

    @Test
    void connectAndCloseLeaveNoDescriptor() throws Exception {
        Set<String> files = Proc.sharedMemoryFiles();
        try (Child peer = Child.start(ToolPeer.class)) {
            int port = peer.tell("listen").awaitInt("PORT");
            cycle(peer, port);
            String pid = String.valueOf(peer.pid());
            Map<String, Integer> own = descriptors();
            Await.until(Child.LIMIT, () -> Proc.descriptors(pid).getOrDefault("/memfd:verbena-lanes (deleted)", 0) == 0,
                    () -> "the peer keeps a session");
            Map<String, Integer> its = Proc.descriptors(pid);
            long threads = Proc.status(pid, "Threads");
            for (int i = 0; i < CONNECTIONS; i++) {
                cycle(peer, port);
            }
            assertDescriptors("self", own);
            assertDescriptors(pid, its);
            assertThreads(pid, threads);
            peer.end();
        }
        assertThat(Proc.sharedMemoryFiles()).isSubsetOf(files);
    }

    private static void cycle(Child peer, int port) throws Exception {
        try (Node node = Node.openWithChannel()) {
            QueuePair qp = node.queuePair();
            MemoryRegion m = node.allocate(4096);
            peer.tell("accept");
            byte[] data = java.nio.ByteBuffer.allocate(12).putLong(m.address()).putInt(m.rkey()).array();
            Connection c = node.connect(qp, port, data);
            peer.await("ACCEPTED");
            peer.tell("write 100 7").await("STATUS 0");
            c.close();
        }
        peer.tell("disconnect").await("DISCONNECTED");
    }

    @Test
    void killedPeersLeaveNothing() throws Exception {
        Set<String> files = Proc.sharedMemoryFiles();
        try (Node node = Node.open(); ConnectionListener l = node.listen()) {
            Map<String, Integer> before = descriptors();
            for (int i = 0; i < 4; i++) {
                try (Child peer = Child.start(TrafficPeer.class, l.localAddress().getPort(), i)) {
                    peer.await("READY");
                    peer.tell("go");
                    MemoryRegion m = node.allocate(Traffic.BYTES);
                    QueuePair qp = node.queuePair();
                    Traffic t = new Traffic(qp, m, i);
                    var r = Node.await(l);
                    Connection c = r.accept(qp, org.verbena.verbs.ConnectionParameters.builder().privateData(t
                            .address())
                            .build());
                    t.begin(r.privateData());
                    peer.await("TRAFFIC");
                    for (int k = 0; k < 1000; k++) {
                        t.step();
                        t.poll(node.cq);
                    }
                    peer.kill();
                    Await.until(Child.LIMIT, () -> {
                        t.poll(node.cq);
                        return t.outstanding() == 0;
                    }, t::toString);
                    c.close();
                    t.close();
                }
            }
            // descriptors of the child that the test itself holds are closed, too
            assertDescriptors("self", before);
        }
        assertThat(Proc.sharedMemoryFiles()).isSubsetOf(files);
    }

    @Test
    void openingAndClosingContextsKeepsMemoryMappingsAndThreadsBounded() throws Exception {
        try (Child child = Child.start(CyclePeer.class)) {
            String pid = String.valueOf(child.pid());
            child.await("READY");
            child.tell("cycle " + WARM_UP).await("CYCLED");
            child.tell("collect").await("COLLECTED");
            Map<String, Integer> descriptors = Proc.descriptors(pid);
            long threads = Proc.status(pid, "Threads");
            long mappings = Proc.mappings(pid);
            long memory = Proc.status(pid, "VmRSS");
            for (int i = 0; i < CONTEXTS; i += WARM_UP) { // in parts, for a machine where all take minutes
                child.tell("cycle " + WARM_UP).await("CYCLED");
            }
            assertDescriptors(pid, descriptors);
            assertThreads(pid, threads);
            Await.until(Child.LIMIT, () -> {
                child.tell("collect").await("COLLECTED");
                return Proc.mappings(pid) < mappings + MORE_MAPPINGS && Proc.status(pid, "VmRSS") < memory
                        + MORE_KIBIBYTES;
            }, () -> "mappings were " + mappings + ", resident memory was " + memory + " KiB; now " + now(pid));
            child.end();
        }
    }

    private static String now(String pid) {
        try {
            return Proc.mappings(pid) + " mappings, " + Proc.status(pid, "VmRSS") + " KiB";
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }
}
