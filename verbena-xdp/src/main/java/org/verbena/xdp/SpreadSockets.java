// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Xsk;
import org.verbena.linux.XskConfig;
import org.verbena.linux.XskRing;
import org.verbena.verbs.VerbsException;

/**
 * The sockets by which the work queues of a context receive. A socket gets only packets of the queue of the interface that
 * it is bound to, and any packet may be for any work queue, so each work queue has a socket on each queue. The sockets of
 * a queue share one FILL ring, and the kernel takes a chunk from it before it is known which work queue the packet is for.
 * So posted receives cannot be in that ring: it has chunks of a separate memory, and a poll copies the packet into the
 * receives that its work queue has posted. A chunk always goes back to the ring that it came from.
 *
 * <p>Under the lock of {@link Spreading}, but for {@link #give}, and {@link #open} of all of it, which waits for queues.
 */
final class SpreadSockets {
    /** Chunks of all sockets together, as far as each has as many as it needs at least. */
    private static final int USUAL_CHUNKS = 1 << 14;
    private static final int MAX_CHUNKS = 1 << 16;
    /** Packets that a work queue may leave waiting on each queue. */
    private static final int LEAST = 64;
    /** Chunks of a queue that are in no RX ring. */
    private static final int SPARE = 64;
    /** Requests to send for each queue. */
    private static final int SENDS = 512;

    /** A queue of the interface. */
    private static final class Lane {
        final QueueSocket socket;
        final SideLock lock = new SideLock();
        /** What a queue pair sends by; null if none does. */
        @Nullable Port port;
        /** That of a queue pair which is gone, while the kernel has not given back all that it has sent. */
        @Nullable XskSender leaving;

        Lane(QueueSocket socket) {
            this.socket = socket;
        }
    }

    private final XdpContext context;
    private final Umem umem;
    private final int registered;
    private final int most;
    private final List<Lane> lanes = new ArrayList<>();

    private SpreadSockets(XdpContext context, Umem umem, int registered, int most) {
        this.context = context;
        this.umem = umem;
        this.registered = registered;
        this.most = most;
    }

    /**
     * Takes all queues of the interface.
     *
     * @param members the work queues that there will be sockets for
     * @param sends chunks for frames to send of the queue pair that asks first
     */
    static SpreadSockets open(String verb, String owner, XdpContext context, Collection<XdpWorkQueue> members,
            int sends) throws VerbsException {
        int queues = context.queues();
        int most = Math.max(LEAST, Integer.highestOneBit(USUAL_CHUNKS / (queues * members.size())));
        int each = SPARE + members.stream().mapToInt(wq -> entries(wq, most)).sum();
        if ((long) each * queues > MAX_CHUNKS) {
            throw new VerbsException(verb, Errno.ENOMEM, members.size() + " work queues on " + queues
                    + " queues of the interface need " + (long) each * queues + " chunks of memory, more than "
                    + MAX_CHUNKS + ": use fewer, or a smaller maxWr");
        }
        int own = Math.min(XdpLimits.STAGING_CHUNKS, Math.max(sends, SENDS * queues));
        SpreadSockets s;
        try {
            Umem umem = new Umem((long) each * queues * XdpLimits.CHUNK);
            s = new SpreadSockets(context, umem, umem.regionChunks() + own, most);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
        XskConfig config = XskConfig.of(XdpLimits.CHUNK, 1).withRings(SendSide.ringSize(each), SendSide.ringSize(own),
                1,
                SendSide.ringSize(own));
        try {
            for (int queue = 0; queue < queues; queue++) {
                QueueSocket socket = QueueSocket.openAt(verb, owner, context, queue, queue == 0
                        ? null
                        : s.lanes.getFirst().socket, s.umem.upTo(s.registered), config);
                s.lanes.add(new Lane(socket));
                XskRing fill = socket.xsk.fillRing();
                fill.reserve(each);
                for (int i = 0; i < each; i++) {
                    fill.putAddress(i, ((long) queue * each + i) * XdpLimits.CHUNK);
                }
                fill.publish(each);
            }
            return s;
        } catch (VerbsException | RuntimeException e) {
            s.close();
            throw e;
        }
    }

    /** Entries of the RX ring of each socket. */
    private static int entries(XdpWorkQueue wq, int most) {
        return Math.min(SendSide.ringSize(wq.initAttributes().maxWr()), most);
    }

    /** Opens a socket on each queue. */
    List<Xsk> open(String verb, XdpWorkQueue wq) throws VerbsException {
        List<Xsk> opened = new ArrayList<>();
        try {
            for (int queue = 0; queue < lanes.size(); queue++) {
                Xsk base = lanes.get(queue).socket.xsk;
                Xsk xsk = Xsk.openShared(base, base.config().withRings(1, 1, entries(wq, most), 1), false);
                opened.add(xsk);
                xsk.bind(context.xdpDevice().index(), queue, 0);
            }
            return opened;
        } catch (LinuxException | RuntimeException e) {
            opened.forEach(Xsk::close);
            if (e instanceof LinuxException l) {
                throw new VerbsException(verb, l);
            }
            throw (RuntimeException) e;
        }
    }

    /** The memory that packets come in. */
    MemorySegment memory() {
        return umem.segment();
    }

    /** Gives the chunks of the first {@code n} entries of an RX ring back, and releases the entries. From any thread. */
    void give(int queue, XskRing from, int n) {
        Lane lane = lanes.get(queue);
        Xsk xsk = lane.socket.xsk;
        XskRing fill = xsk.fillRing();
        lane.lock.lock();
        try {
            if (fill.reserve(n)) { // always: it has an entry for each chunk of the queue
                for (int i = 0; i < n; i++) {
                    fill.putAddress(i, from.address(i) & -XdpLimits.CHUNK);
                }
                fill.publish(n);
            }
        } finally {
            lane.lock.unlock();
        }
        from.release(n);
        if (fill.needsWakeUp()) {
            xsk.wakeReceive();
        }
    }

    /** What a queue pair sends by. */
    record Port(QueueSocket socket, WireMemory memory) {}

    /** Whether a queue pair could send if the kernel gave back what another one has sent that is gone. */
    boolean isPortLeaving() {
        reclaim();
        return lanes.stream().allMatch(l -> l.port != null) && lanes.stream().anyMatch(l -> l.leaving != null);
    }

    /** Takes a queue for a queue pair to send by. */
    Port takePort(String verb, int chunks) throws VerbsException {
        reclaim();
        for (Lane lane : lanes) {
            if (lane.port == null) {
                int first = umem.take(verb, chunks);
                if (first + chunks > registered) {
                    umem.give(first, chunks);
                    throw new VerbsException(verb, Errno.ENOMEM, "there are " + (registered - umem.regionChunks())
                            + " chunks for packets to send of all queue pairs with work queues: create them with a"
                            + " smaller maxSendWr" + leaving());
                }
                Port port = new Port(lane.socket, new WireMemory(umem, null, first, chunks));
                lane.port = port;
                return port;
            }
        }
        throw new VerbsException(verb, Errno.EBUSY, "all " + lanes.size() + " queues of the interface have a queue pair"
                + " that sends: create this one with a maxSendWr of 0" + leaving());
    }

    private String leaving() {
        long n = lanes.stream().filter(l -> l.leaving != null).count();
        return n == 0
                ? ""
                : "; " + n + " of the queues have packets of queue pairs that are gone, which the kernel has not sent"
                        + " yet: is " + context.xdpDevice().interfaceName() + " down?";
    }

    /**
     * Undoes {@link #takePort}, when the kernel has given back all that was sent: whoever has the queue next would find what
     * this one has sent. While the interface is down that is not so; then the queue and its chunks are taken back when
     * another queue pair wants to send, or go with the last one.
     *
     * @param sender what has sent by it; null if nothing has
     */
    void givePort(Port port, @Nullable XskSender sender) {
        for (Lane lane : lanes) {
            if (lane.port == port) {
                lane.leaving = sender;
                if (sender == null || sender.isAllDone()) {
                    free(lane, port);
                }
            }
        }
    }

    private void reclaim() {
        for (Lane lane : lanes) {
            Port port = lane.port;
            XskSender sender = lane.leaving;
            if (port != null && sender != null && sender.isAllDone()) {
                free(lane, port);
            }
        }
    }

    private void free(Lane lane, Port port) {
        lane.port = null;
        lane.leaving = null;
        umem.give(port.memory.firstChunk(), port.memory.chunks());
    }

    /** Gives the queues back; all other sockets are closed. */
    void close() {
        lanes.forEach(l -> l.socket.close());
        try {
            umem.discard();
        } catch (LinuxException e) {
            XdpLog.log(System.Logger.Level.DEBUG, "memory of work queues is freed later", e);
        }
    }
}
