// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;

/**
 * The other end sends arbitrary messages: the connection goes on or ends with a reason, and neither memory nor process
 * is harmed.
 */
class HostileMessagesTest {
    private static final int ROUNDS = Integer.getInteger("verbena.test.rounds", 60);
    private static final long SEED = Seeds.FIRST;
    private static final int ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

    private static long interesting(Random random, List<Integer> ids) {
        return switch (random.nextInt(9)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> 1L << random.nextInt(64);
            case 3 -> Long.MAX_VALUE - random.nextInt(3);
            case 4 -> random.nextInt(10);
            case 5 -> random.nextInt(5000);
            case 6 -> random.nextInt();
            case 7 -> random.nextLong();
            default -> ids.get(random.nextInt(ids.size()));
        };
    }

    private static Messages.Message message(Random random, List<Integer> ids) {
        return new Messages.Message((int) (random.nextInt(4) == 0 ? interesting(random, ids) : 1 + random.nextInt(10)),
                (int) interesting(random, ids), interesting(random, ids), interesting(random, ids), (int) interesting(
                        random, ids), (int) interesting(random, ids), interesting(random, ids), (int) interesting(
                                random, ids));
    }

    /** Sends on a queue pair itself, of any length, as a remote completion or to control. */
    private static void raw(RemoteMemory from, Random random, List<Integer> ids) {
        MemorySegment bytes = Arena.ofAuto().allocate(48, 8);
        for (int i = 0; i < 48; i += 8) {
            bytes.set(ValueLayout.JAVA_LONG, i, interesting(random, ids));
        }
        boolean notice = random.nextBoolean();
        if (notice && random.nextBoolean()) {
            bytes.set(ValueLayout.JAVA_INT, 0, ids.get(random.nextInt(ids.size())));
            bytes.set(ValueLayout.JAVA_INT, 4, random.nextInt(4));
            bytes.set(ValueLayout.JAVA_INT, 32, random.nextInt(3));
        }
        int length = random.nextInt(3) == 0 ? random.nextInt(49) : notice ? 40 : 48;
        SendQueue queue = (notice ? from.link().data() : from.link().control()).sendQueue();
        ReentrantLock lock = from.control().sends().lock;
        lock.lock();
        try {
            if (notice && random.nextInt(3) == 0) { // empty: the key is not checked
                int immediate = random.nextInt(3) == 0
                        ? (int) interesting(random, ids)
                        : ImmediateCompletion.of(1, 64L * random.nextInt(65));
                queue.start().writeImmediate(1L << 40, SendFlags.NONE, 0, 0, immediate).complete();
                return;
            }
            queue.start().send(1L << 40, SendFlags.NONE).inline(bytes, 0, length).complete();
        } finally {
            lock.unlock();
        }
    }

    private static void round(long seed) throws Exception {
        Random random = new Random(seed);
        try (Ends ends = Ends.open()) {
            RemoteMemory hostile = random.nextBoolean() ? ends.memoryA() : ends.memoryB();
            RemoteMemory victim = hostile == ends.memoryA() ? ends.memoryB() : ends.memoryA();
            LocalRegion open = victim.register(Arena.ofAuto().allocate(4096), ALL, 1);
            LocalRegion closed = victim.allocate(4096, AccessFlags.LOCAL_WRITE, 2);
            LocalRegion theirs = hostile.allocate(4096, ALL, 3);
            MemorySegment filled = MemorySegment.ofArray(new byte[4096]).fill((byte) 77);
            open.segment().copyFrom(filled);
            closed.segment().copyFrom(filled);
            List<Integer> ids = new ArrayList<>(List.of(open.id(), closed.id(), theirs.id(), open.id() + (1 << 13)));
            int count = 1 + random.nextInt(60);
            for (int i = 0; i < count && hostile.isOpen(); i++) {
                if (random.nextInt(3) == 0) {
                    raw(hostile, random, ids);
                } else {
                    hostile.control().sends().send(message(random, ids));
                }
                if (random.nextInt(4) == 0) {
                    while (victim.events().poll()) {
                        checkEvent(victim, open);
                    }
                }
            }
            long end = System.nanoTime() + 20_000_000;
            while (System.nanoTime() < end) {
                while (victim.events().poll()) {
                    checkEvent(victim, open);
                }
            }
            if (!victim.isOpen()) {
                assertThat(victim.endReason()).matches(
                        "the other end breaks the protocol.*|the other end is gone|.*failed: .*");
            }
            try (LocalRegion more = victim.allocate(64, 0, 0)) {
                assertThat(more.id()).isPositive();
            } catch (VerbsException e) {
                assertThat(e.getMessage()).contains("ENOTCONN");
            }
            assertThat(open.segment().mismatch(filled)).isEqualTo(-1);
            assertThat(closed.segment().mismatch(filled)).isEqualTo(-1);
            closed.close();
        }
    }

    private static void checkEvent(RemoteMemory victim, LocalRegion open) {
        EventQueue e = victim.events();
        switch (e.type()) {
            case EventType.COPIED, EventType.COPIED_FROM -> {
                assertThat(e.region()).isEqualTo(open.id());
                assertThat(e.offset()).isBetween(0L, 4096L);
                assertThat(e.length()).isBetween(0L, 4096 - e.offset());
            }
            case EventType.REGION_ADDED -> {
                assertThat(e.region()).isPositive();
                assertThat(e.length()).isPositive();
            }
            case EventType.REGION_UPDATED -> assertThat(e.length()).isPositive();
            default -> assertThat(e.type()).isIn(EventType.REGION_REMOVED, EventType.CLOSED);
        }
    }

    @Test
    void arbitraryMessagesAreContained() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            long seed = SEED + i;
            try {
                round(seed);
            } catch (Exception | AssertionError e) {
                throw new AssertionError("-Dverbena.test.rounds=1 -Dverbena.test.seed=" + seed, e);
            }
        }
    }

    private static Messages.Message update(RemoteRegion r, int key, long address, long length, int access) {
        return new Messages.Message(Messages.UPDATE, r.id(), address, length, key, access, 5, 1);
    }

    private static Messages.Message message(int type, int id, int number) {
        return new Messages.Message(type, id, 0, 0, 0, 0, 0, number);
    }

    /** Updates that end the remote memory of the connection after HOLD and its reply, and those that do so without. */
    @Test
    void invalidUpdatesFailTheLink() throws Exception {
        int both = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
        List<Function<RemoteRegion, Messages.Message>> never = List.of(
                r -> update(r, r.rkey(), r.address(), r.length() + 1, both),
                r -> update(r, r.rkey(), r.address(), -1, both),
                r -> update(r, r.rkey(), -1, r.length(), both),
                r -> update(r, r.rkey(), Long.MAX_VALUE, r.length(), both),
                r -> update(r, r.rkey(), r.address(), r.length(), 0),
                r -> update(r, r.rkey(), r.address(), r.length(), both | AccessFlags.LOCAL_WRITE),
                r -> message(Messages.HOLD, 0, 1),
                r -> message(Messages.HOLD, r.id() ^ 1, 1),
                r -> message(Messages.HOLD, r.id() + (1 << 13), 1),
                r -> message(Messages.HELD, r.id(), 1),
                r -> message(Messages.UPDATED, r.id() + (1 << 13), 1),
                r -> message(Messages.UPDATE, r.id() ^ 1, 1));
        for (Function<RemoteRegion, Messages.Message> what : never) {
            endsIt(what, true);
            endsIt(what, false);
        }
        endsIt(r -> message(Messages.HOLD, r.id(), 2), true);
        endsIt(r -> update(r, r.rkey() + 1, r.address(), r.length(), both), false);
        endsIt(r -> update(r, r.rkey(), r.address() + 1, r.length(), both), false);
        endsIt(r -> update(r, r.rkey(), r.address(), r.length(), AccessFlags.REMOTE_READ), false);
    }

    private static void endsIt(Function<RemoteRegion, Messages.Message> what, boolean held) throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory victim = ends.memoryA();
            LocalRegion theirs = ends.memoryB().allocate(4096, ALL, 3);
            Ends.event(victim, EventType.REGION_ADDED);
            if (held) {
                assertThat(ends.memoryB().control().hold(theirs).get(30, TimeUnit.SECONDS)).isZero();
            }
            Messages.Message m = what.apply(Objects.requireNonNull(victim.remoteRegion(theirs.id())));
            ends.memoryB().control().sends().send(m);
            Ends.event(victim, EventType.CLOSED);
            assertThat(victim.endReason()).as("%s, held %s", m, held).isEqualTo("the other end breaks the protocol: "
                    + m);
        }
    }

    /** Replies that arrive late, or twice, do not complete a wait for another one. */
    @Test
    void repliesWithWrongNumberAreIgnored() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory victim = ends.memoryA();
            LocalRegion mine = victim.allocate(4096, ALL, 3);
            for (int number : new int[] {0, -1, 2, 77}) {
                ends.memoryB().control().sends().send(message(Messages.HELD, mine.id(), number));
                ends.memoryB().control().sends().send(message(Messages.UPDATED, mine.id(), number));
            }
            mine.update(AccessFlags.REMOTE_READ, 1); // the messages above have arrived before its replies
            assertThat(ends.memoryB().remoteRegions()).singleElement().satisfies(r -> {
                assertThat(r.access()).isEqualTo(AccessFlags.REMOTE_READ);
                assertThat(r.tag()).isEqualTo(1);
            });
            assertThat(victim.isOpen()).as(victim.endReason()).isTrue();
        }
    }

    @Test
    void invalidPrivateDataIsRejected() {
        Random random = new Random(SEED);
        Handshake good = Handshake.own(Handshake.CONTROL, 5, 6);
        assertThat(Handshake.parse(good.bytes())).isEqualTo(good);
        assertThat(Handshake.parse(Arrays.copyOf(good.bytes(), 196))).as("as it comes through a kernel").isEqualTo(
                good);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = good.bytes();
            for (int n = random.nextInt(1, 4); n > 0; n--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            Handshake read = Handshake.parse(bytes);
            if (read != null) {
                assertThat(read.credits()).isBetween(1, 1 << 20);
                assertThat(read.asyncCredits()).isBetween(1, 1 << 20);
                assertThat(read.regions()).isPositive();
                assertThat(read.queuePair()).isBetween(0, 1);
            }
            assertThat(Handshake.parse(new byte[random.nextInt(40)])).isNull();
        }
    }
}
