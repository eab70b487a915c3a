// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.control.Session;
import org.verbena.shm.datagram.DatagramReader;
import org.verbena.shm.datagram.DatagramWriter;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.layout.SharedFile;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.Target;
import org.verbena.shm.pool.RemotePool;
import org.verbena.shm.ring.LaneReader;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.WcStatus;

/** Reads of a peer's memory that is full of garbage, and of its messages. */
class GarbageTest {
    private static final int PD = 3;
    private static final int NUMBER = 0x5001;
    private static final int PEER = 0x7002;
    private static final long MEMORY = 1 << 16;
    private static final long MEMORY_ID = 9;
    private static final int ENTRIES = 64;
    private static final int KEYS = 16;
    private static final int SEALS = Memfd.SEAL_SEAL | Memfd.SEAL_SHRINK | Memfd.SEAL_GROW;

    private ShmContext context;
    private SharedFile adapter;
    private SharedFile lanes;
    private SharedFile commons;
    private UnixSocket[] sockets;
    private Session session;
    private Mapping memory;

    @BeforeEach
    void open() throws Exception {
        context = (ShmContext) ShmDevice.INSTANCE.open();
        adapter = new SharedFile("garbage", AdapterLayout.SIZE, 4096);
        adapter.reserve(AdapterLayout.KEYS, KEYS * 64);
        adapter.reserve(AdapterLayout.qpEntry(PEER), 256);
        lanes = PeerMapping.makeArena(1, 2);
        lanes.reserve(LaneLayout.HEAP, ENTRIES * 128);
        commons = SharedFile.commons("garbage", CommonsLayout.SIZE, 4096);
        sockets = UnixSocket.pair();
        session = new Session(context.control(), 77, Sys.pid(), sockets[0], PeerMapping.makeArena(2, 1),
                new PeerMapping.Files(
                        SharedFile.mapPeer(
                                adapter.fd(), AdapterLayout.SIZE), SharedFile.mapPeer(lanes.fd(), LaneLayout.SIZE),
                        SharedFile.mapPeerCommons(commons.fd(), CommonsLayout.SIZE)));
        receive(new ControlMessage.Writer(ControlMessage.MEMORY).putLong(MEMORY_ID).putLong(MEMORY), sealed(MEMORY));
        memory = session.peerMemories().find(MEMORY_ID);
    }

    @AfterEach
    void close() throws Exception {
        session.end("the test is over");
        sockets[1].close();
        adapter.close();
        lanes.close();
        commons.close();
        context.close();
    }

    private static Fd sealed(long size) throws LinuxException {
        Fd fd = Memfd.create("hostile", size);
        Memfd.addSeals(fd, SEALS);
        return fd;
    }

    private boolean receive(ControlMessage.Writer message, Fd... files) throws Exception {
        int[] fds = new int[4];
        for (int i = 0; i < files.length; i++) {
            fds[i] = files[i].value();
        }
        return session.receive(new ControlMessage.Reader(message.segment()), fds, files.length);
    }

    /** Whatever a key's entry holds, an allowed range lies in memory that the peer shares with us. */
    @Test
    void targetStaysInsideThePeersMemory() {
        int[] allowed = new int[1];
        Seeds.each(20_000, random -> {
            int index = random.nextInt(KEYS);
            int rkey = random.nextInt(8) == 0 ? (int) GarbageNumbers.next(random) : index << 8 | random.nextInt(3);
            long entry = adapter.address() + AdapterLayout.keyEntry(rkey);
            if (rkey >>> 8 < KEYS) {
                long word = 3 | 15L << 8 | (long) PD << 16 | (long) rkey << 32;
                RawMemory.putLong(entry, random.nextInt(3) == 0 ? GarbageNumbers.next(random) : word);
                long address = GarbageNumbers.next(random);
                RawMemory.putLong(entry + AdapterLayout.KEY_ADDRESS, address);
                RawMemory.putLong(entry + AdapterLayout.KEY_LENGTH, usual(random));
                RawMemory.putLong(entry + AdapterLayout.KEY_MEMORY, random.nextInt(4) == 0
                        ? GarbageNumbers.next(random)
                        : MEMORY_ID);
                RawMemory.putLong(entry + AdapterLayout.KEY_MEMORY_OFFSET, usual(random));
            }
            Target t = new Target(session.peerMemories(), PD);
            for (int i = 0; i < 4; i++) { // the second time with the cached key
                long at = RawMemory.getLong(entry + AdapterLayout.KEY_ADDRESS) + usual(random);
                long bytes = Math.max(0, usual(random));
                int status = t.resolve(rkey, at, bytes, random.nextInt(16));
                assertThat(status).isIn(Target.OK, Target.WAIT, WcStatus.REM_ACCESS_ERR);
                if (status == Target.OK && t.isMapped()) {
                    allowed[0]++;
                    long local = t.local(at);
                    assertThat(local).isBetween(memory.address(), memory.address() + MEMORY);
                    assertThat(bytes).isBetween(0L, memory.address() + MEMORY - local);
                }
                if (random.nextInt(4) == 0 && rkey >>> 8 < KEYS) {
                    RawMemory.putLong(entry + 8L * random.nextInt(5), GarbageNumbers.next(random));
                }
            }
        });
        assertThat(allowed[0]).as("requests that were allowed").isGreaterThan(0);
    }

    private static long usual(Random random) {
        return random.nextInt(3) == 0 ? GarbageNumbers.next(random) : random.nextInt((int) MEMORY);
    }

    /** Whatever a directory entry holds, it is not ours, is refused, or its ring lies inside the peer's adapter. */
    @Test
    void remoteRingLiesInsideTheAdapter() {
        int[] found = new int[1];
        Seeds.each(20_000, random -> {
            long entry = adapter.address() + AdapterLayout.qpEntry(PEER);
            for (int i = 0; i < 12; i++) {
                RawMemory.putLong(entry + 8L * i, random.nextInt(3) == 0
                        ? GarbageNumbers.next(random)
                        : random.nextInt(5));
            }
            RawMemory.putLong(entry, random.nextInt(8) == 0 ? GarbageNumbers.next(random) : Link.of(1, 15));
            RawMemory.putInt(entry + AdapterLayout.QP_NUMBER, random.nextInt(8) == 0 ? 1 : PEER);
            RawMemory.putInt(entry + AdapterLayout.QP_PEER_NUMBER, random.nextInt(8) == 0 ? 1 : NUMBER);
            RawMemory.putLong(entry + AdapterLayout.QP_PEER, random.nextInt(8) == 0
                    ? 1
                    : session.mapping().ownInstance());
            RawMemory.putInt(entry + AdapterLayout.QP_TYPE, random.nextInt(8) == 0 ? 1 : QueuePairType.RC);
            if (random.nextBoolean()) {
                RawMemory.putLong(entry + AdapterLayout.QP_RING, AdapterLayout.HEAP + random.nextInt(1 << 20) * 16L);
                RawMemory.putInt(entry + AdapterLayout.QP_RING_ENTRIES, 1 << random.nextInt(18));
                RawMemory.putInt(entry + AdapterLayout.QP_RING_SGE, random.nextInt(20));
                RawMemory.putInt(entry + AdapterLayout.QP_ARM, random.nextInt(5000));
            }
            try {
                RemoteQueuePair r = RemoteQueuePair.find(session, NUMBER, PEER, QueuePairType.RC);
                if (r != null) {
                    found[0]++;
                    assertInside(r, random);
                }
            } catch (ProtocolException refused) {
                assertThat(refused).hasMessageMatching(".*(is invalid|lies outside).*");
            }
        });
        assertThat(found[0]).as("valid entries").isGreaterThan(0);
    }

    private void assertInside(RemoteQueuePair r, Random random) {
        long base = session.mapping().base();
        assertThat(r.entries).isBetween(1, ShmLimits.MAX_WR);
        assertThat(r.maxSge).isBetween(0, ShmLimits.MAX_SGE);
        for (long index : new long[] {0, r.entries - 1, r.entries, GarbageNumbers.next(random)}) {
            assertThat(r.wqe(index)).isBetween(base + AdapterLayout.HEAP, base + AdapterLayout.SIZE - r.stride);
        }
        assertThat(r.armWord).isBetween(base + AdapterLayout.ARM_WORDS, base + AdapterLayout.KEYS - 64);
    }

    /** Whatever a pool's entry, ring and position hold, they are refused, or the claimed receive lies inside the peer's files. */
    @Test
    void remotePoolLiesInsideTheAdapterAndTheCommons() throws Exception {
        int index = 5;
        adapter.reserve(AdapterLayout.poolEntry(index), 128);
        adapter.reserve(AdapterLayout.HEAP, 1 << 16);
        commons.reserve(CommonsLayout.pool(index), 128);
        int[] claimed = new int[1];
        Seeds.each(20_000, random -> {
            long entry = adapter.address() + AdapterLayout.poolEntry(index);
            for (int i = 0; i < 16; i++) {
                RawMemory.putLong(entry + 8L * i, random.nextInt(3) == 0
                        ? GarbageNumbers.next(random)
                        : random.nextInt(5));
            }
            if (random.nextInt(4) > 0) {
                RawMemory.putLong(entry + AdapterLayout.POOL_RING, AdapterLayout.HEAP);
                RawMemory.putLong(entry + AdapterLayout.POOL_SLOTS, AdapterLayout.HEAP + random.nextInt(256) * 16L);
                RawMemory.putInt(entry + AdapterLayout.POOL_ENTRIES, 1 << random.nextInt(8));
                RawMemory.putInt(entry + AdapterLayout.POOL_SGE, random.nextInt(18));
                RawMemory.putInt(entry + AdapterLayout.POOL_ARM, random.nextInt(4100));
                RawMemory.putLong(entry + AdapterLayout.POOL_INBOX, random.nextBoolean()
                        ? 0
                        : CommonsLayout.HEAP + random.nextInt(1 << 20) * 16L);
                RawMemory.putLong(entry + AdapterLayout.POOL_POSTED, random.nextInt(300));
            }
            for (int i = 0; i < 16; i++) {
                RawMemory.putLong(adapter.address() + AdapterLayout.HEAP + 8L * i, random.nextInt(3) == 0
                        ? GarbageNumbers.next(random)
                        : Claim.of(i, random.nextInt(256), random.nextInt(300)));
            }
            RawMemory.putLong(commons.address() + CommonsLayout.pool(index), random.nextInt(4) == 0
                    ? GarbageNumbers.next(random)
                    : random.nextInt(16));
            try {
                RemotePool p = RemotePool.at(session.peerMemories(), session.bells(), index);
                long c = p.claim();
                if (c != Claim.NONE) {
                    claimed[0]++;
                    assertThat(p.wqe(c)).isBetween(session.mapping().base() + AdapterLayout.HEAP, session.mapping()
                            .base()
                            + AdapterLayout.SIZE - AdapterLayout.wqeStride(p.maxSge));
                    if (p.hasInbox()) {
                        assertThat(p.inboxEntry(c)).isBetween(session.mapping().commonsBase() + CommonsLayout.HEAP,
                                session.mapping().commonsBase() + CommonsLayout.SIZE - 128);
                    }
                }
            } catch (ProtocolException refused) {
                assertThat(refused).hasMessageMatching(".*(is invalid|lies outside).*");
            }
        });
        assertThat(claimed[0]).as("receives that were claimed").isGreaterThan(0);
    }

    /** An entry is taken only if its sequence fits, whatever else is in it. */
    @Test
    void laneReaderAcceptsOnlyTheExpectedSequence() {
        Seeds.each(2000, random -> {
            LaneReader reader = new LaneReader(session.mapping().arenaBase() + LaneLayout.HEAP, ENTRIES);
            long own = lanes.address() + LaneLayout.HEAP;
            for (int i = 0; i < ENTRIES * 16; i++) {
                RawMemory.putLong(own + 8L * i, GarbageNumbers.next(random));
            }
            long from = Math.abs(GarbageNumbers.next(random)) >>> 1;
            for (long index = from; index < from + 2 * ENTRIES; index++) {
                long e = own + ((index & ENTRIES - 1) << LaneLayout.ENTRY_SHIFT);
                if (random.nextBoolean()) {
                    RawMemory.putInt(e + LaneLayout.COMMIT, (int) (index + 1));
                }
                boolean fits = RawMemory.getInt(e + LaneLayout.COMMIT) == (int) (index + 1);
                long entry = reader.entry(index);
                long commit = LaneReader.commit(entry);
                assertThat(LaneLayout.isOf(commit, index)).isEqualTo(fits);
                assertThat(LaneReader.length(entry, commit)).isBetween(0L, 0xffffffffL);
                assertThat(LaneReader.payload(entry, commit) - entry).isBetween(0L,
                        (1L << LaneLayout.ENTRY_SHIFT) - LaneLayout.INLINE);
                assertThat(LaneLayout.opcode(commit)).isBetween(0, 255);
                assertThat(LaneLayout.status(commit)).isBetween(0, 255);
            }
        });
    }

    /** Whatever a datagram ring holds, its records lie inside it, and reading it ends. */
    @Test
    void datagramReaderStaysInsideTheRing() throws Exception {
        long size = DatagramLayout.MIN_BYTES;
        lanes.reserve(LaneLayout.HEAP, DatagramLayout.RECORDS + size);
        long own = lanes.address() + LaneLayout.HEAP + DatagramLayout.RECORDS;
        long counter = adapter.address() + 2048;
        long ring = session.mapping().arenaBase() + LaneLayout.HEAP;
        int[] found = new int[1];
        Seeds.each(200, random -> {
            DatagramReader r = new DatagramReader(session, 1, ring, DatagramLayout.RECORDS + size, counter);
            RawMemory.putLong(counter, 0); // the reader's start, whatever its predecessor left
            long position = 0;
            for (int i = 0; i < 300 && !r.isEnded(); i++) {
                long h = own + (position & size - 1);
                boolean skip = random.nextInt(4) == 0;
                RawMemory.putLong(h, random.nextInt(20) == 0
                        ? GarbageNumbers.next(random)
                        : position + 1 | (skip ? DatagramLayout.SKIP : 0));
                RawMemory.putInt(h + DatagramLayout.LENGTH, random.nextInt(20) == 0
                        ? (int) GarbageNumbers.next(random)
                        : random.nextInt(DatagramLayout.MAX_MESSAGE + 1));
                long record = r.record();
                if (record != 0) {
                    found[0]++;
                    long at = record - ring - DatagramLayout.RECORDS;
                    assertThat(r.length()).isBetween(0, DatagramLayout.MAX_MESSAGE);
                    assertThat(at).isBetween(0L, size - DatagramLayout.record(r.length()));
                    r.advance();
                }
                position = RawMemory.getLong(counter);
            }
        });
        assertThat(found[0]).as("valid records").isPositive();
    }

    /** Records are read as they were written, in order, however full the ring is; and a full ring takes none. */
    @Test
    void ringDeliversDatagramsInOrder() throws Exception {
        long size = DatagramLayout.MIN_BYTES;
        long whole = DatagramLayout.RECORDS + size;
        int[] full = new int[1];
        Seeds.each(20, random -> {
            long at = session.mapping().heap().take("test", whole);
            DatagramWriter w = new DatagramWriter(session, 1, at, whole, 0);
            DatagramReader r = new DatagramReader(session, 1, at, whole, adapter.address() + 2048);
            RawMemory.putLong(r.counter, 0);
            w.setReaderPosition(r.counter);
            long written = 0;
            long read = 0;
            for (int i = 0; i < 3000; i++) {
                int length = random.nextInt(3) == 0 ? random.nextInt(64) : random.nextInt(4097);
                long to = random.nextInt(50) < 26 ? w.begin(length) : 0;
                full[0] += to == 0 ? 1 : 0;
                if (to != 0) {
                    RawMemory.putInt(to + DatagramLayout.LENGTH, length);
                    // the content of a message may look like a commit
                    RawMemory.fill(to + DatagramLayout.MESSAGE, length, (byte) written);
                    RawMemory.putLong(to + DatagramLayout.POSTED, written++);
                    w.commit(to, length);
                }
                long record = random.nextBoolean() ? r.record() : 0;
                if (record != 0) {
                    assertThat(RawMemory.getLong(record + DatagramLayout.POSTED)).isEqualTo(read);
                    if (r.length() > 0) {
                        long last = record + DatagramLayout.MESSAGE + r.length() - 1;
                        assertThat(RawMemory.segment(last, 1).get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0))
                                .isEqualTo((byte) read);
                    }
                    read++;
                    r.advance();
                }
            }
            while (r.record() != 0) {
                r.advance();
                read++;
            }
            assertThat(read).isEqualTo(written).isGreaterThan(1000);
            session.mapping().heap().give(at, whole);
        });
        assertThat(full[0]).isGreaterThan(0);
    }

    @Test
    void memoryThatCouldShrinkOrHasAnotherSizeIsRefused() throws Exception {
        Fd bare = Memfd.create("hostile", MEMORY);
        assertThatThrownBy(() -> receive(memory(20, MEMORY), bare)).isInstanceOf(ProtocolException.class);
        for (long size : new long[] {0, -4096, MEMORY + 4096, MEMORY - 4096, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> receive(memory(21, size), sealed(MEMORY))).isInstanceOf(ProtocolException.class);
        }
        assertThat(session.peerMemories().find(20)).isNull();
        assertThat(session.peerMemories().find(21)).isNull();
    }

    @Test
    void memoryWithAnIdInUseOrTooManyFilesIsRefused() throws Exception {
        assertThatThrownBy(() -> receive(memory(MEMORY_ID, MEMORY), sealed(MEMORY))).isInstanceOf(
                ProtocolException.class);
        assertThatThrownBy(() -> receive(memory(30, MEMORY))).isInstanceOf(ProtocolException.class);
        Fd one = sealed(MEMORY);
        Fd two = sealed(MEMORY);
        assertThatThrownBy(() -> receive(memory(30, MEMORY), one, two)).isInstanceOf(ProtocolException.class);
        one.close();
        two.close();
        assertThat(session.peerMemories().find(MEMORY_ID)).isSameAs(memory);
    }

    private static ControlMessage.Writer memory(long id, long size) {
        return new ControlMessage.Writer(ControlMessage.MEMORY).putLong(id).putLong(size);
    }

    /** Random messages of all types on a session are refused, ignored, or leave a valid state. */
    @Test
    void randomMessageIsAcceptedOrRefused() {
        Seeds.each(5000, random -> {
            ControlMessage.Writer m = new ControlMessage.Writer(random.nextInt(40));
            for (int i = random.nextInt(8); i > 0; i--) {
                m.putInt((int) GarbageNumbers.next(random));
            }
            Fd[] files = new Fd[random.nextInt(3)];
            for (int i = 0; i < files.length; i++) {
                files[i] = sealed(4096);
            }
            int[] fds = {-1, -1, -1, -1};
            for (int i = 0; i < files.length; i++) {
                fds[i] = files[i].value();
            }
            try {
                ControlMessage.Reader reader = new ControlMessage.Reader(m.segment());
                if (!session.receive(reader, fds, files.length) && !context.multicast().receive(session, reader)) {
                    context.shmConnectionManager().receive(session, reader);
                }
            } catch (ProtocolException | LinuxException refused) {
                assertThat(refused.getMessage()).isNotBlank();
            } finally {
                for (int i = 0; i < files.length; i++) {
                    if (fds[i] >= 0) { // not taken by the session
                        files[i].close();
                    }
                }
            }
        });
    }
}
