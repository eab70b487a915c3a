// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.verbena.linux.Doorbell;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.ring.PeerBells;
import org.verbena.tests.faults.Node;
import org.verbena.tests.faults.Peer;
import org.verbena.tests.faults.Traffic;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/**
 * A process that connects normally and then writes garbage into all memory that its victim reads, and sends garbage on
 * all its sockets. One session per seed, which determines its actions.
 */
final class HostilePeer {
    private static final int FEW = 200;
    private static final int MANY = 3000;
    private static final long FLOOD_NANOS = 300_000_000;

    private final Random random;
    private final int port;
    private final long victim;
    private final List<Fd> files = new ArrayList<>();

    private HostilePeer(long seed, int port, long victim) {
        this.random = new Random(seed);
        this.port = port;
        this.victim = victim;
    }

    public static void main(String[] args) throws Exception {
        Peer.begin();
        int port = Integer.parseInt(args[0]);
        long victim = Long.parseLong(args[1]);
        while (true) {
            Peer.say("READY");
            String[] words = Peer.hear().split(" ", -1);
            long first = Long.parseLong(words[0]);
            long end = System.nanoTime() + Long.parseLong(words[1]) * 1_000_000;
            long seed = first;
            do {
                Peer.say("SEED " + seed);
                new HostilePeer(seed, port, victim).attack(seed);
                seed++;
            } while (System.nanoTime() - end < 0);
            Peer.say("ATTACKED " + (seed - first));
        }
    }

    private void attack(long seed) throws Exception {
        if (random.nextInt(6) == 0) {
            for (int i = 0; i < 10; i++) {
                greet();
            }
            return;
        }
        // the queue pair is closed first: its hazard may be garbage by then, and closing the context would wait for the
        // transfer that it names
        try (Node node = Node.open(); QueuePair qp = node.queuePair()) {
            MemoryRegion memory = node.allocate(Traffic.BYTES);
            // an odd seed tells the victim not to check received data
            Traffic t = new Traffic(qp, memory, seed * 2 + 1, false);
            try (Connection c = node.connect(qp, port, t.address())) {
                t.begin(c.privateData());
                attack((ShmContext) node.context, qp, t, node.cq);
            }
        } catch (VerbsException | IllegalStateException e) {
            // the victim has ended the session before we were finished, which it may do
        } finally {
            files.forEach(Fd::close);
        }
    }

    private void attack(ShmContext context, QueuePair qp, Traffic t, CompletionQueue cq) throws Exception {
        Session session = context.control().sessions().getFirst();
        for (int i = 0; i < random.nextInt(60); i++) { // some valid traffic first
            t.step();
            t.poll(cq);
        }
        switch (random.nextInt(6)) {
            case 0 -> words(context, qp, FEW);
            case 1 -> words(context, qp, MANY);
            case 2 -> lane(session, qp);
            case 3 -> messages(session);
            case 4 -> flood(session);
            default -> {
                lane(session, qp);
                words(context, qp, FEW);
                messages(session);
            }
        }
    }

    // ---- memory

    /** A number of the kind that buggy programs use. */
    private long odd(long usual) {
        return switch (random.nextInt(10)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> Long.MIN_VALUE;
            case 3 -> Long.MAX_VALUE;
            case 4 -> usual + random.nextInt(5) - 2;
            case 5 -> usual ^ 1L << random.nextInt(64);
            case 6 -> random.nextInt(1 << 16);
            case 7 -> (1L << 30) - random.nextInt(256);
            case 8 -> random.nextLong() & ~15L;
            default -> random.nextLong();
        };
    }

    /** Writes into the adapter: where the victim reads, and elsewhere. */
    private void words(ShmContext context, QueuePair qp, int count) {
        long base = context.adapter().base();
        long entry = base + AdapterLayout.qpEntry(qp.number());
        long ring = base + RawMemory.getLong(entry + AdapterLayout.QP_RING) / 16 * 16;
        for (int i = 0; i < count; i++) {
            long at = switch (random.nextInt(5)) {
                case 0 -> entry + 8L * random.nextInt(32);
                case 1 -> entry + AdapterLayout.QP_POSTED;
                case 2 -> base + AdapterLayout.HEAP + 8L * random.nextInt(512);
                case 3 -> base + AdapterLayout.KEYS + 8L * random.nextInt(64);
                default -> base + AdapterLayout.ARM_WORDS + 64L * random.nextInt(4);
            };
            if (at >= base && at < base + AdapterLayout.SIZE && ring != 0) {
                RawMemory.putLongRelease(at, odd(RawMemory.getLong(at)));
            }
            if (i % 50 == 0) {
                Thread.onSpinWait();
                pause();
            }
        }
    }

    /** Commits entries that nobody has sent. */
    private void lane(Session session, QueuePair qp) {
        long said = session.ownLanes().entry(((ShmQueuePair) qp).peerNumber());
        long offset = RawMemory.getLong(said + LaneLayout.LANE_OFFSET);
        long entries = RawMemory.getLong(said + LaneLayout.LANE_ENTRIES);
        long arena = session.mapping().arena().address();
        if (offset == 0) {
            return;
        }
        for (int i = 0; i < FEW; i++) {
            long e = arena + offset + (random.nextInt((int) entries) << LaneLayout.ENTRY_SHIFT);
            RawMemory.putLong(e + LaneLayout.LENGTH, odd(RawMemory.getLong(e + LaneLayout.LENGTH)));
            long index = RawMemory.getLong(e + LaneLayout.COMMIT) & 0xffffffffL;
            long next = random.nextBoolean() ? index + entries : random.nextInt(500);
            RawMemory.putLong(e + LaneLayout.SECOND_LINE, random.nextInt(4) == 0 ? random.nextLong() : next);
            RawMemory.putLongRelease(e + LaneLayout.COMMIT, next & 0xffffffffL | random.nextLong() << 32);
            if (random.nextInt(20) == 0) {
                long at = said + 8L * random.nextInt(8);
                RawMemory.putLongRelease(at, odd(RawMemory.getLong(at)));
            }
            if (i % 20 == 0) {
                pause();
            }
        }
    }

    private static void pause() {
        java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
    }

    // ---- messages

    private MemorySegment nonsense(int type) {
        int bytes = 4 + random.nextInt(random.nextBoolean() ? 40 : ControlMessage.MAX_BYTES - 4);
        MemorySegment m = Arena.ofAuto().allocate(bytes, 8);
        for (int i = 0; i < bytes; i++) {
            m.set(ValueLayout.JAVA_BYTE, i, (byte) (random.nextInt(3) == 0 ? random.nextInt() : 0));
        }
        m.set(ValueLayout.JAVA_INT, 0, type);
        return m;
    }

    private void messages(Session session) throws Exception {
        for (int i = 0; i < 20 && !session.isDead(); i++) {
            send(session.socket(), message());
        }
    }

    /** Well-formed half of the time, so that the code behind the format checks is reached too. */
    private MemorySegment message() {
        return switch (random.nextInt(12)) {
            case 0 -> new ControlMessage.Writer(ControlMessage.MEMORY).putLong(random.nextInt(3)).putLong(odd(4096))
                    .segment();
            case 1 -> new ControlMessage.Writer(ControlMessage.MEMORY).putLong(random.nextLong()).putLong(8192)
                    .segment();
            case 2 -> new ControlMessage.Writer(ControlMessage.MEMORY_GONE).putLong(random.nextInt(3)).segment();
            case 3 -> new ControlMessage.Writer(ControlMessage.QP_ERROR).putInt(random.nextInt()).putInt(random
                    .nextInt())
                    .putInt(random.nextInt(30)).putText("\u20ac".repeat(random.nextInt(100))).segment();
            case 4 -> new ControlMessage.Writer(ControlMessage.LANE_DONE).putLong(odd(0)).segment();
            case 5 -> new ControlMessage.Writer(ControlMessage.CM_REQUEST).putLong(odd(2)).putInt(
                    random.nextBoolean() ? port : random.nextInt()).putInt(random.nextInt()).putInt(random.nextInt(9))
                    .putInt(random.nextInt(9)).putBytes(new byte[random.nextInt(80)]).segment();
            case 6 -> new ControlMessage.Writer(16 + random.nextInt(6)).putLong(odd(2)).putInt(random.nextInt(3))
                    .segment();
            case 7 -> new ControlMessage.Writer(ControlMessage.MEMORY_AGAIN).putLong(random.nextInt(3)).segment();
            case 8 -> random.nextBoolean()
                    ? new ControlMessage.Writer(ControlMessage.DATAGRAM_RING).putLong(odd(2)).putInt(random.nextInt(
                            1 << 24))
                            .putLong(odd(1)).putLong(odd(LaneLayout.HEAP)).putLong(odd(69632)).segment()
                    : new ControlMessage.Writer(ControlMessage.DATAGRAM_RING + random.nextInt(4)).putLong(odd(2))
                            .putLong(odd(2)).putLong(odd(4096)).putLong(odd(69632)).segment();
            case 9 -> new ControlMessage.Writer(ControlMessage.POOL_ATTACH + random.nextInt(3)).putInt(random.nextInt())
                    .putInt(random.nextInt(3)).putLong(odd(0)).putLong(odd(0)).segment();
            case 10 -> new ControlMessage.Writer(ControlMessage.XRC_OPEN + random.nextInt(6)).putLong(odd(1)).putLong(
                    random.nextInt(3)).putInt(random.nextInt(8)).putInt(random.nextInt(2)).segment();
            default -> nonsense(random.nextInt(40));
        };
    }

    private void send(UnixSocket socket, MemorySegment m) throws Exception {
        int[] fds = new int[random.nextInt(3) == 0 ? random.nextInt(6) : random.nextInt(2)];
        for (int i = 0; i < fds.length; i++) {
            Fd f = file();
            files.add(f);
            fds[i] = f.value();
        }
        try {
            socket.send(m, 0, m.byteSize(), fds);
        } catch (IllegalStateException e) {
            // closed by our own engine, as the victim has ended the session
        }
    }

    private Fd file() throws LinuxException {
        long size = 4096L << random.nextInt(3);
        Fd f;
        switch (random.nextInt(5)) {
            case 0 -> f = Eventfd.create();
            case 1 -> f = Memfd.create("hostile", size);
            case 2 -> {
                f = Memfd.create("hostile", size);
                Memfd.addSeals(f, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL | (random.nextBoolean()
                        ? Memfd.SEAL_WRITE
                        : 0));
            }
            case 3 -> {
                f = Memfd.create("hostile", 1L << 40);
                Memfd.addSeals(f, Memfd.SEAL_SHRINK | Memfd.SEAL_SEAL);
            }
            default -> {
                UnixSocket[] pair = UnixSocket.pair();
                files.add(pair[1].fd());
                f = pair[0].fd();
            }
        }
        return f;
    }

    /** More than the victim can handle at once, without ever reading its answers. */
    private void flood(Session session) throws LinuxException {
        int kind = random.nextInt(5);
        Fd memory = Memfd.create("hostile", 4096);
        files.add(memory);
        Memfd.addSeals(memory, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL);
        int[] none = {};
        int[] one = {memory.value()};
        try (Doorbell bell = Doorbell.connect(PeerBells.name(victim, 0))) {
            long end = System.nanoTime() + FLOOD_NANOS;
            for (int i = 0; System.nanoTime() - end < 0 && !session.isDead(); i++) {
                switch (kind) {
                    case 0 -> flood(session, request(i, 1), none);
                    case 1 -> flood(session, request(i, port), none);
                    case 2 -> flood(session, new ControlMessage.Writer(ControlMessage.LANE_DONE).putLong(i), none);
                    case 3 -> flood(session, new ControlMessage.Writer(ControlMessage.MEMORY).putLong(i).putLong(4096),
                            one);
                    default -> bell.ring();
                }
            }
        }
    }

    private static ControlMessage.Writer request(int i, int port) {
        return new ControlMessage.Writer(ControlMessage.CM_REQUEST).putLong(i).putInt(port).putInt(1)
                .putInt(7).putInt(7).putBytes(new byte[0]);
    }

    private static void flood(Session session, ControlMessage.Writer message, int[] fds) {
        MemorySegment m = message.segment();
        try {
            session.socket().send(m, 0, m.byteSize(), fds);
        } catch (IllegalStateException e) {
            // closed by our own engine, as the victim has ended the session
        }
    }

    // ---- greetings

    /** Connects to the victim with a wrong greeting. */
    private void greet() throws Exception {
        try (UnixSocket s = UnixSocket.connect("verbena-shm/" + Long.toHexString(victim))) {
            s.setNonBlocking(true);
            long instance = random.nextInt(4) == 0 ? victim : odd(1);
            List<Fd> parts = new ArrayList<>();
            for (int i = 0; i < random.nextInt(5); i++) {
                parts.add(random.nextBoolean() ? file() : adapter(instance));
            }
            MemorySegment m = random.nextInt(3) == 0
                    ? nonsense(random.nextInt(3))
                    : new ControlMessage.Writer(ControlMessage.HELLO).putInt(ControlMessage.VERSION).putLong(instance)
                            .putInt(random.nextInt(5) == 0 ? 1 : Sys.pid()).putLong(random.nextInt(5) == 0
                                    ? odd(0)
                                    : AdapterLayout.SIZE)
                            .putLong(LaneLayout.SIZE).putLong(CommonsLayout.SIZE).segment();
            s.send(m, 0, m.byteSize(), parts.stream().mapToInt(Fd::value).toArray());
            if (random.nextInt(3) == 0) {
                s.send(m, 0, m.byteSize(), new int[0]);
            }
            pause();
            parts.forEach(Fd::close);
        } finally {
            files.forEach(Fd::close);
            files.clear();
        }
    }

    /** A file of an adapter's or arena's size and seals, or nearly, with garbage where a header should be. */
    private Fd adapter(long instance) throws LinuxException {
        Fd f = Memfd.create("hostile-adapter", AdapterLayout.SIZE);
        Mapping m = Mapping.map(f, 0, 4096, true);
        RawMemory.putLong(m.address(), random.nextBoolean() ? AdapterLayout.MAGIC : LaneLayout.MAGIC);
        RawMemory.putLong(m.address() + AdapterLayout.HEADER_VERSION, AdapterLayout.VERSION);
        RawMemory.putLong(m.address() + AdapterLayout.HEADER_INSTANCE, instance);
        RawMemory.putLong(m.address() + LaneLayout.HEADER_READER, victim);
        if (random.nextInt(3) > 0) {
            Memfd.addSeals(f, Memfd.SEAL_SEAL | Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | (random.nextInt(3) > 0
                    ? Memfd.SEAL_FUTURE_WRITE
                    : 0));
        }
        return f;
    }
}
