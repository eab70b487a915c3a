package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.VerbsException;

/**
 * The change from TCP to rings under random schedules, by a seed: one thread plays both ends, TCP's delays, the agreement's
 * outcome, closing and death in any order. The messages of the agreement are for {@code Agreement}'s own tests. Whatever the order, a reader gets the writer's bytes, in order, none twice; all of them before an
 * orderly end; and never sleeps while something waits for it.
 */
class SwitchModelTest {
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;
    private static final int SEEDS = Integer.getInteger("verbena.test.seeds", 600);
    private static SessionPair sessions;

    @BeforeAll
    static void connect() throws VerbsException {
        sessions = SessionPair.ofOne();
    }

    @AfterAll
    static void disconnect() throws VerbsException {
        System.out.println("WRITEs that did not complete at once: " + sessions.busy);
        sessions.close();
    }

    /** What a schedule has come to. */
    private enum Reached {
        NO_RING, ONE_RING, TWO_RINGS, ONE_FELL_BACK, KILLED_ON_TCP, KILLED_ON_A_RING, CLOSED_ON_TCP, CLOSED_ON_A_RING,
        BYTES_BOTH_WAYS, A_LARGER_RING
    }

    /** One end of the connection, and what the model knows of it. */
    private static final class End {
        final FakeTcp tcp;
        final RingStream stream;
        final Session session;
        End other;
        Link link;
        Offer offered;
        boolean agreed;
        boolean fellBack;
        long written;
        long read;
        boolean outputEnded;
        boolean closed;
        boolean aborted;
        boolean killed;
        boolean sawEnd;
        boolean sawError;
        boolean sleepsForData;
        boolean sleepsForSpace;
        boolean released;

        End(FakeTcp tcp, Session session) {
            this.tcp = tcp;
            this.session = session;
            stream = new RingStream(tcp, Stream.Role.CLIENT);
        }

        boolean isGone() {
            return closed || killed;
        }

        /** Closes the stream; giving its memory back is for the test, not for this process's engine, which is late and a second one. */
        void endStream(boolean abort) {
            stream.takeLink();
            stream.close(abort);
        }

        /** Looks each millisecond: nobody can ring for it. */
        boolean looksByItself() {
            return stream.isOutputByRing() && !stream.isInputByRing();
        }

        @Override
        public String toString() {
            return "written %d, read %d, input by ring %s, output by ring %s, agreed %s, fell back %s, ended %s, closed %s, killed %s"
                    .formatted(written, read, stream.isInputByRing(), stream.isOutputByRing(), agreed, fellBack,
                            outputEnded, closed, killed);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void everyByteArrivesOnceAndInOrder(int block) throws Exception {
        Map<Reached, Integer> reached = new EnumMap<>(Reached.class);
        for (int seed = block * SEEDS; seed < (block + 1) * SEEDS; seed++) {
            try {
                Schedule s = new Schedule(seed);
                s.run();
                s.reached.forEach(r -> reached.merge(r, 1, Integer::sum));
            } catch (AssertionError | Exception e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        System.out.println("SwitchModelTest, of " + SEEDS + " schedules: " + reached);
        for (Reached r : Reached.values()) {
            assertThat(reached.getOrDefault(r, 0)).as(r.name()).isGreaterThan(SEEDS / 200);
        }
    }

    @Test
    void memoryOfEndedConnectionsIsUsedAgain() throws Exception {
        long before = sessions.a.arena().total() + sessions.b.arena().total();
        for (int seed = 0; seed < 500; seed++) {
            new Schedule(seed).run();
        }
        long first = sessions.a.arena().total() + sessions.b.arena().total();
        for (int seed = 0; seed < 500; seed++) {
            new Schedule(seed).run();
        }
        assertThat(sessions.a.arena().total() + sessions.b.arena().total()).isEqualTo(first)
                .isGreaterThanOrEqualTo(before);
        assertThat(sessions.a.streams()).isEmpty();
        assertThat(sessions.b.streams()).isEmpty();
    }

    /** A run of one seed. */
    private static final class Schedule {
        final Random random;
        final End a;
        final End b;
        final Set<Reached> reached = EnumSet.noneOf(Reached.class);

        Schedule(int seed) {
            random = new Random(seed);
            FakeTcp[] tcp = FakeTcp.pair(random.nextBoolean() ? 20_000 : 50);
            a = new End(tcp[0], sessions.a);
            b = new End(tcp[1], sessions.b);
            a.other = b;
            b.other = a;
        }

        void run() throws Exception {
            int steps = 20 + random.nextInt(120);
            boolean willAgree = random.nextInt(10) > 0;
            for (int i = 0; i < steps; i++) {
                step(random.nextBoolean() ? a : b, willAgree);
                checkSleepers();
            }
            settle();
        }

        private void step(End end, boolean willAgree) throws Exception {
            switch (random.nextInt(16)) {
                case 0, 1, 2 -> write(end, random.nextInt(4) == 0 ? 9000 : 1 + random.nextInt(60));
                case 3, 4, 5 -> read(end, random.nextInt(4) == 0 ? 9000 : 1 + random.nextInt(60));
                case 6, 7 -> end.tcp.arrive(random.nextInt(4) == 0 ? 100_000 : random.nextInt(30));
                case 8, 9 -> agree(end, willAgree);
                case 10 -> sleep(end);
                case 11 -> wake(end);
                case 12 -> {
                    if (random.nextInt(6) == 0) {
                        endOutput(end);
                    }
                }
                case 13 -> {
                    if (random.nextInt(12) == 0) {
                        close(end);
                    }
                }
                case 14 -> answerCalls(end);
                default -> {
                    if (random.nextInt(15) == 0) {
                        kill(end);
                    }
                }
            }
        }

        private static byte at(long position) {
            return (byte) (position * 31 + (position >>> 8) + 1); // doorbells are 0 now and then as data are
        }

        private void write(End end, int bytes) throws IOException {
            if (end.isGone() || end.outputEnded) {
                return;
            }
            ByteBuffer data = ByteBuffer.allocate(bytes);
            for (int i = 0; i < bytes; i++) {
                data.put(i, at(end.written + i));
            }
            try {
                int n = end.stream.write(data);
                assertThat(n).isEqualTo(data.position());
                end.written += n;
            } catch (IOException e) {
                assertThat(end.other.isGone()).as("an error though the peer is there: %s", e).isTrue();
                end.outputEnded = true;
            }
            end.sleepsForSpace = false;
        }

        private void read(End end, int room) throws IOException {
            if (end.isGone() || end.sawEnd || end.sawError) {
                return;
            }
            end.sleepsForData = false;
            ByteBuffer into = ByteBuffer.allocate(room);
            int n;
            try {
                n = end.stream.read(into);
            } catch (IOException e) {
                end.sawError = true;
                assertThat(end.other.isGone()).as("an error though the peer is there: %s", e).isTrue();
                return;
            }
            if (n < 0) {
                end.sawEnd = true;
                End from = end.other;
                assertThat(from.outputEnded || from.isGone()).as("an end that nobody made").isTrue();
                if (!from.aborted && !from.killed) {
                    assertThat(end.read).as("bytes before the end").isEqualTo(from.written);
                }
                return;
            }
            assertThat(into.position()).isEqualTo(n);
            for (int i = 0; i < n; i++) {
                if (into.get(i) != at(end.read + i)) {
                    fail("byte " + (end.read + i) + " is " + into.get(i));
                }
            }
            for (int i = n; i < room; i++) {
                assertThat(into.get(i)).as("a byte beyond what was read").isZero();
            }
            end.read += n;
            assertThat(end.read).isLessThanOrEqualTo(end.other.written);
        }

        /** A step of the agreement: an offer of one's own, then taking the other's. */
        private void agree(End end, boolean willAgree) throws VerbsException {
            if (end.killed || end.agreed || end.fellBack) {
                return;
            }
            if (end.link == null) {
                if (end.closed) {
                    fallBack(end);
                    return;
                }
                if (!willAgree && random.nextInt(3) == 0 || end.other.fellBack) {
                    fallBack(end);
                    return;
                }
                Link link = Link.create(end.session, end.stream);
                if (!end.stream.prepare(link)) {
                    link.release();
                    fallBack(end);
                    return;
                }
                end.link = link;
                end.offered = link.offer();
            } else if (end.other.offered != null) {
                end.agreed = true;
                end.stream.agreed(end.other.offered);
            } else if (end.other.fellBack || end.other.killed) {
                fallBack(end);
            }
        }

        private static void fallBack(End end) {
            end.fellBack = true;
            end.stream.fallBack(FallbackReason.CLOSED_EARLY);
            if (end.link != null) {
                end.link.release();
                end.released = true;
            }
        }

        /** Goes to sleep as a blocked thread does; for data, for space or both. */
        private void sleep(End end) {
            if (end.isGone() || end.sawEnd || end.sawError) {
                return;
            }
            int ops = 1 + random.nextInt(3) == 1 ? READ : random.nextBoolean() ? WRITE : READ | WRITE;
            if (end.outputEnded) {
                ops = READ;
            }
            if (end.stream.arm(ops, null) == 0) {
                if (end.looksByItself()) {
                    return;
                }
                end.sleepsForData |= (ops & READ) != 0;
                // who waits for TCP's window waits for the peer's reader, which rings do not change
                end.sleepsForSpace |= (ops & WRITE) != 0 && end.stream.isOutputByRing();
            }
        }

        private static boolean kernelWakes(End end, int ops) {
            int wanted = end.stream.kernelOps(ops);
            return (wanted & READ) != 0 && end.tcp.willBeReadable() || (wanted & WRITE) != 0 && end.tcp.isWritable();
        }

        /** What the kernel says to a sleeper. */
        private void wake(End end) {
            if (end.isGone()) {
                return;
            }
            int ops = (end.sleepsForData ? READ : 0) | (end.sleepsForSpace ? WRITE : 0);
            int wanted = end.stream.kernelOps(ops == 0 ? READ : ops);
            int said = (wanted & READ) != 0 && end.tcp.isReadable() ? READ : 0;
            said |= (wanted & WRITE) != 0 && end.tcp.isWritable() ? WRITE : 0;
            if (said != 0) {
                int ready = end.stream.kernelReady(said, ops == 0 ? READ : ops);
                if (ready != 0 || said != 0) {
                    end.sleepsForData = false; // it looks, and arms again if it has to
                    end.sleepsForSpace = false;
                }
            }
        }

        /** All that was posted has arrived; the engine sees to that. */
        private static void arriveAll() {
            for (Session session : new Session[] {sessions.a, sessions.b}) {
                while (session.isBusy()) {
                    synchronized (session) {
                        session.poll();
                    }
                }
            }
        }

        /** Nobody sleeps for what is there, unless something is on the way that wakes it. */
        private void checkSleepers() {
            arriveAll();
            for (End end : new End[] {a, b}) {
                if (end.isGone()) {
                    continue;
                }
                if (end.sleepsForData && end.stream.readyOps(READ) != 0) {
                    assertThat(kernelWakes(end, READ)).as("sleeps while there are data: %s; the other: %s", end,
                            end.other).isTrue();
                }
                if (end.sleepsForSpace && end.stream.readyOps(WRITE) != 0) {
                    assertThat(kernelWakes(end, WRITE)).as("sleeps while there is space: %s; the other: %s", end,
                            end.other).isTrue();
                }
            }
        }

        /** What the engine does when the peer's has called. */
        private static void answerCalls(End end) {
            if (!end.killed) {
                assertThat(end.session.takeCalls()).isTrue();
            }
        }

        private void endOutput(End end) throws IOException {
            if (!end.isGone() && !end.outputEnded && !end.sleepsForSpace) { // a writer that waits holds the lock
                end.outputEnded = true;
                end.stream.shutdownOutput();
            }
        }

        private void close(End end) throws IOException {
            if (!end.isGone()) {
                end.aborted = random.nextInt(3) == 0 || end.stream.in().isUnread();
                end.closed = true;
                end.outputEnded = true;
                end.endStream(end.aborted);
                end.tcp.close();
            }
        }

        /** The process is gone: TCP says so, the rings do not. */
        private void kill(End end) throws IOException {
            if (!end.isGone()) {
                end.killed = true;
                end.tcp.close();
                if (random.nextBoolean()) { // something was unread there
                    end.other.tcp.reset();
                }
            }
        }

        /** Lets everything arrive, reads what is left, closes, and sees that all of it comes back. */
        private void settle() throws Exception {
            for (int i = 0; i < 3; i++) {
                agree(a, true);
                agree(b, true);
            }
            for (int round = 0; round < 10_000; round++) {
                long before = a.read + b.read;
                for (End end : new End[] {a, b}) {
                    end.tcp.arrive(Integer.MAX_VALUE);
                    read(end, 20_000);
                }
                if (a.read + b.read == before && !a.tcp.isReadable() && !b.tcp.isReadable()) {
                    break;
                }
                if (a.read + b.read == before) {
                    wake(a);
                    wake(b);
                    if (round > 50) {
                        break;
                    }
                }
            }
            for (End end : new End[] {a, b}) {
                End from = end.other;
                if (!end.isGone() && !from.aborted && !from.killed) {
                    assertThat(end.read).as("bytes that arrived").isEqualTo(from.written);
                    if (from.outputEnded) {
                        assertThat(end.sawEnd || end.sawError).as("the end arrives").isTrue();
                    }
                }
            }
            takeStock();
            close(a);
            close(b);
            for (End end : new End[] {a, b}) {
                if (end.killed) { // the memory of a process that died goes with it; here it is the test's
                    end.endStream(true);
                }
            }
            for (int i = 0; i < 3; i++) {
                agreeAfterEnd(a);
                agreeAfterEnd(b);
            }
            arriveAll(); // nothing of a killed end is on its way to memory that the next schedule uses
            answerCalls(a);
            answerCalls(b);
            for (End end : new End[] {a, b}) {
                if (end.link != null && !end.released) {
                    if (!end.other.killed && end.other.agreed && end.agreed) {
                        assertThat(end.link.isLetGo()).as("the peer lets go of the memory").isTrue();
                    }
                    end.link.release();
                }
            }
        }

        private void takeStock() {
            int rings = (a.stream.isInputByRing() ? 1 : 0) + (b.stream.isInputByRing() ? 1 : 0);
            reached.add(rings == 0 ? Reached.NO_RING : rings == 1 ? Reached.ONE_RING : Reached.TWO_RINGS);
            if (a.fellBack != b.fellBack) {
                reached.add(Reached.ONE_FELL_BACK);
            }
            for (End end : new End[] {a, b}) {
                if (end.killed) {
                    reached.add(end.stream.isInputByRing() ? Reached.KILLED_ON_A_RING : Reached.KILLED_ON_TCP);
                } else if (end.closed) {
                    reached.add(end.stream.isInputByRing() ? Reached.CLOSED_ON_A_RING : Reached.CLOSED_ON_TCP);
                }
            }
            if (a.read > 0 && b.read > 0) {
                reached.add(Reached.BYTES_BOTH_WAYS);
            }
            if (a.stream.in().growths() + b.stream.in().growths() > 0) {
                reached.add(Reached.A_LARGER_RING);
            }
        }

        private void agreeAfterEnd(End end) throws VerbsException {
            boolean killed = end.killed;
            end.killed = false;
            if (!killed) {
                agree(end, true);
            }
            end.killed = killed;
        }
    }

    /** TCP breaks off while the peer may change to the ring, and nobody knows whether it has. */
    @Test
    void aResetGivesAnErrorAndNoBytes() throws Exception {
        FakeTcp[] tcp = FakeTcp.pair(10);
        RingStream stream = new RingStream(tcp[0], Stream.Role.CLIENT);
        Link link = Link.create(sessions.a, stream);
        assertThat(stream.prepare(link)).isTrue();
        tcp[0].reset();
        assertThat(stream.kernelReady(READ, READ)).isEqualTo(READ);
        ByteBuffer into = ByteBuffer.allocate(100);
        assertThatThrownBy(() -> stream.read(into)).isInstanceOf(IOException.class).hasMessage("Connection reset");
        assertThat(into.position()).isZero();
        link.release();
    }

    @Test
    void aReadGivesClosedChannelOnlyWhenClosed() throws Exception {
        FakeTcp[] tcp = FakeTcp.pair(10);
        RingStream stream = new RingStream(tcp[0], Stream.Role.CLIENT);
        tcp[0].close();
        try {
            stream.read(ByteBuffer.allocate(1));
            fail("read a closed channel");
        } catch (ClosedChannelException expected) {
            assertThat(stream.isInputByRing()).isFalse();
        }
    }
}
