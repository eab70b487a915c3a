package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;

/** What stays when connections, contexts and peers have gone, in whichever way: nothing. */
class LeftoversTest {
    private static final int CONNECTIONS = Integer.getInteger("verbena.faults.connections", 200);
    private static final int CONTEXTS = Integer.getInteger("verbena.faults.contexts", 500);
    private static final int WARM_UP = 50;
    private static final long MORE_MAPPINGS = 200;
    private static final long MORE_KIBIBYTES = 100 << 10;

    private static Map<String, Integer> descriptors() throws Exception {
        return Proc.descriptors("self");
    }

    /** Something is given back by another thread, or by a process that has to notice first. */
    private static void assertDescriptors(String pid, Map<String, Integer> before) throws Exception {
        Map<?, ?>[] now = new Map<?, ?>[1];
        Wait.until(Child.LIMIT, () -> {
            now[0] = Proc.descriptors(pid);
            return now[0].equals(before);
        }, () -> "descriptors were " + before + ", are " + now[0]);
    }

    @Test
    void connectingAndClosingLeavesNoDescriptorOnEitherSide() throws Exception {
        long files = Proc.sharedMemoryFiles();
        try (Child peer = Child.start(ToolPeer.class)) {
            int port = peer.tell("listen").awaitInt("PORT");
            cycle(peer, port);
            String pid = String.valueOf(peer.pid());
            Map<String, Integer> own = descriptors();
            Wait.until(Child.LIMIT, () -> Proc.descriptors(pid).getOrDefault("/memfd:verbena-lanes (deleted)", 0) == 0,
                    () -> "the peer keeps a session");
            Map<String, Integer> its = Proc.descriptors(pid);
            long threads = Proc.status(pid, "Threads");
            for (int i = 0; i < CONNECTIONS; i++) {
                cycle(peer, port);
            }
            assertDescriptors("self", own);
            assertDescriptors(pid, its);
            assertThat(Proc.status(pid, "Threads")).isLessThanOrEqualTo(threads + 2);
            peer.end();
        }
        assertThat(Proc.sharedMemoryFiles()).isEqualTo(files);
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
        long files = Proc.sharedMemoryFiles();
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
                    Wait.until(Child.LIMIT, () -> {
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
        assertThat(Proc.sharedMemoryFiles()).isEqualTo(files);
    }

    @Test
    void openingAndClosingContextsKeepsMemoryMappingsAndThreadsBounded() throws Exception {
        for (int i = 0; i < WARM_UP; i++) {
            loopback();
        }
        System.gc();
        Map<String, Integer> descriptors = descriptors();
        long threads = Thread.getAllStackTraces().size();
        long mappings = Proc.mappings("self");
        long memory = Proc.status("self", "VmRSS");
        for (int i = 0; i < CONTEXTS; i++) {
            loopback();
        }
        assertDescriptors("self", descriptors);
        assertThat((long) Thread.getAllStackTraces().size()).isLessThanOrEqualTo(threads);
        Wait.until(Child.LIMIT, () -> {
            System.gc();
            return Proc.mappings("self") < mappings + MORE_MAPPINGS && Proc.status("self", "VmRSS") < memory
                    + MORE_KIBIBYTES;
        }, () -> "mappings were " + mappings + ", resident memory was " + memory + " KiB; now " + now());
    }

    private static String now() {
        try {
            return Proc.mappings("self") + " mappings, " + Proc.status("self", "VmRSS") + " KiB";
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    /** Two contexts of this process, a session between them, one message. */
    private static void loopback() throws Exception {
        try (Node a = Node.open(); Node b = Node.openWithChannel()) {
            QueuePair x = a.queuePair();
            QueuePair y = b.queuePair();
            MemoryRegion m = a.allocate(10_000);
            MemoryRegion n = b.pd.allocate(10_000, AccessFlags.LOCAL_WRITE);
            Node.toRtr(x, b.gid(), y.number());
            Node.toRtr(y, a.gid(), x.number());
            Node.toRts(x);
            Node.toRts(y);
            assertThat(y.receiveQueue().post(1, n, 0, 10_000)).isZero();
            assertThat(x.sendQueue().start().send(1, SendFlags.SIGNALED).sge(m, 0, 10_000).complete()).isZero();
            // word of the memory may still be on its way
            Wait.until(Child.LIMIT, () -> b.cq.startPoll() == 0, () -> Node.describe(x));
            assertThat(b.cq.byteLength()).isEqualTo(10_000);
            b.cq.endPoll();
        }
    }
}
