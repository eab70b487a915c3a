// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.testkit.Await;
import org.verbena.tests.faults.Node;
import org.verbena.tests.faults.Peer;
import org.verbena.tests.faults.Traffic;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/**
 * A process that serves every peer that connects, each on its own thread with its own queue pair and domain, and never
 * trusts its peers. Memory that a peer has no right to is filled with a pattern and checked. Each service has to end
 * when its connection does: a hang is reported, like every other violation.
 */
final class VictimPeer {
    private static final int CANARY = 1 << 20;
    private static final long SEED = 99;
    private static final long LONGEST_SECONDS = 30;
    private static final int FRAMES = 12;
    private static final long PAUSE_NANOS = 100_000;

    private final Node node = Node.open();
    private final ProtectionDomain secret = node.context.allocateProtectionDomain();
    private final List<MemorySegment> canaries = new CopyOnWriteArrayList<>();
    private final AtomicInteger served = new AtomicInteger();
    private final ConnectionListener listener;
    private final Thread accepting = Thread.ofPlatform().daemon().name("accept").unstarted(this::accept);
    private int accepted; // by that thread

    private VictimPeer() throws VerbsException {
        listener = node.listen();
        canaries.add(secret.allocate(CANARY, AccessFlags.ALL).segment());
        MemorySegment registered = Arena.global().allocate(CANARY, 64);
        secret.register(registered, AccessFlags.ALL);
        canaries.add(registered);
        canaries.add(node.pd.allocate(CANARY, AccessFlags.LOCAL_WRITE).segment());
        for (MemorySegment s : canaries) {
            Traffic.fill(s, SEED, 0);
        }
    }

    public static void main(String[] args) throws Exception {
        Peer.begin();
        VictimPeer victim = new VictimPeer();
        victim.accepting.start();
        while (true) {
            switch (Peer.hear()) {
                case "check" -> Peer.say("SERVED " + victim.served.get() + " " + victim.damage());
                case "close" -> {
                    victim.close();
                    Peer.say("CLOSED");
                }
                default -> throw new IllegalArgumentException();
            }
        }
    }

    private String damage() {
        for (int i = 0; i < canaries.size(); i++) {
            long at = Traffic.mismatch(canaries.get(i), SEED, 0);
            if (at >= 0) {
                return "canary " + i + " is changed at " + at;
            }
        }
        return "intact";
    }

    private void accept() {
        Peer.say("PORT " + listener.localAddress().getPort() + " " + ((ShmContext) node.context).instance());
        try {
            while (true) {
                ConnectionRequest r = listener.awaitRequest(Duration.ofDays(1));
                if (r != null) {
                    accepted++;
                    Thread.ofPlatform().daemon().name("serve").start(() -> serve(r));
                }
            }
        } catch (VerbsException e) {
            if (!listener.isClosed()) {
                Peer.say("DAMAGE no more requests: " + e);
            }
        }
    }

    /**
     * A service closes the objects that it created from the context itself, so that the context can only be closed
     * after all of them.
     */
    private void close() throws VerbsException, InterruptedException {
        listener.close();
        accepting.join();
        Await.until(Duration.ofSeconds(LONGEST_SECONDS + LONGEST_SECONDS / 2), () -> served.get() == accepted,
                () -> served + " of "
                        + accepted + " services have ended");
        node.close();
    }

    private void serve(ConnectionRequest r) {
        byte[] data = r.privateData();
        long seed = data.length < Long.BYTES ? -1 : ByteBuffer.wrap(data).getLong();
        boolean trusted = (seed & 1) == 0;
        try {
            ProtectionDomain pd = node.context.allocateProtectionDomain();
            CompletionQueue cq = node.context.createCompletionQueue(1024);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(64).maxReceiveWr(64)
                    .maxSendSge(2).maxReceiveSge(2).build());
            MemoryRegion memory = pd.allocate(Traffic.BYTES, AccessFlags.ALL);
            Traffic t = new Traffic(qp, memory, seed + 1, trusted);
            try {
                Connection c = r.accept(qp, ConnectionParameters.builder().privateData(t.address()).retryCount(3)
                        .timeout(Duration.ofSeconds(3)).build());
                long[] words = words(qp);
                t.begin(data.length == 20 ? data : new byte[20]);
                while (qp.state() == QueuePairState.RTS) {
                    t.step();
                    t.poll(cq);
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                flush(t, cq);
                if (!java.util.Arrays.equals(words, words(qp))) {
                    Peer.say("DAMAGE to the control words of " + qp);
                }
                c.close();
            } catch (VerbsException e) {
                // the peer has not come to the end of the connecting
            }
            long start = System.nanoTime();
            t.close();
            cq.close();
            pd.close();
            if (System.nanoTime() - start > LONGEST_SECONDS * 1_000_000_000) {
                Peer.say("DAMAGE closing took too long for seed " + seed);
            }
        } catch (VerbsException | RuntimeException | AssertionError e) {
            Peer.say("DAMAGE with seed " + seed + ": " + e + java.util.Arrays.stream(e.getStackTrace()).limit(FRAMES)
                    .map(f -> " < " + f).toList());
        } finally {
            served.incrementAndGet();
        }
    }

    private static void flush(Traffic t, CompletionQueue cq) {
        long end = System.nanoTime() + LONGEST_SECONDS * 1_000_000_000;
        while (t.outstanding() > 0) {
            t.poll(cq);
            if (System.nanoTime() - end > 0) {
                Peer.say("DAMAGE not all is flushed: " + t);
                return;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** The words of our own directory entry with our identity and the location of our ring. */
    private long[] words(QueuePair qp) {
        long e = ((ShmContext) node.context).adapter().base() + AdapterLayout.qpEntry(qp.number());
        return new long[] {RawMemory.getLong(e + AdapterLayout.QP_RING), RawMemory.getLong(
                e + AdapterLayout.QP_RING_ENTRIES), RawMemory.getLong(e + AdapterLayout.QP_PD), RawMemory.getInt(
                        e + AdapterLayout.QP_NUMBER), RawMemory.getLong(e + AdapterLayout.QP_PEER)};
    }
}
