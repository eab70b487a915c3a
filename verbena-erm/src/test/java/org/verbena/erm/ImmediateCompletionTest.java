// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/** Copies with an immediate completion, and copies that cannot have one. */
class ImmediateCompletionTest {
    private static final int WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    private static final long MAX_OFFSET = ((1L << 20) - 1) * 64;

    @Test
    void immediateRoundTrips() {
        for (int name : new int[] {1, 2, 77, ImmediateCompletion.NAMES}) {
            for (long offset : new long[] {0, 64, 4096, MAX_OFFSET}) {
                assertThat(ImmediateCompletion.canEncode(name, offset, 0)).isTrue();
                int immediate = ImmediateCompletion.of(name, offset);
                assertThat(ImmediateCompletion.name(immediate)).isEqualTo(name);
                assertThat(ImmediateCompletion.offset(immediate)).isEqualTo(offset);
            }
        }
    }

    @Test
    void rejectsWhatDoesNotFit() {
        assertThat(ImmediateCompletion.canEncode(ImmediateCompletion.NO_NAME, 0, 0)).isFalse();
        assertThat(ImmediateCompletion.canEncode(1, 0, 1)).isFalse();
        for (long offset : new long[] {1, 8, 63, 65, MAX_OFFSET + 1, MAX_OFFSET + 64, Long.MAX_VALUE}) {
            assertThat(ImmediateCompletion.canEncode(1, offset, 0)).as("%d", offset).isFalse();
        }
    }

    private static void copy(RemoteMemory from, LocalRegion source, LocalRegion target, long offset, int length,
            long userData) throws Exception {
        int error;
        while ((error = from.copies().copy(source.id(), 0, target.id(), offset, length, CopyFlags.REMOTE_COMPLETION, 5,
                userData)) == Errno.ENOBUFS) {
            Thread.onSpinWait();
        }
        assertThat(error).isZero();
        assertThat(Ends.completion(from)).isEqualTo(WcStatus.SUCCESS);
    }

    private static void expect(RemoteMemory at, LocalRegion region, long offset, long length, long userData)
            throws Exception {
        Ends.event(at, EventType.COPIED);
        EventQueue e = at.events();
        assertThat(e.region()).isEqualTo(region.id());
        assertThat(e.offset()).isEqualTo(offset);
        assertThat(e.length()).isEqualTo(length);
        assertThat(e.userData()).isEqualTo(userData);
    }

    /**
     * The event is the same with either kind of completion; and credits are returned, with traffic one way and both
     * ways.
     */
    @Test
    void eventsAreEqualWithAndWithoutImmediate() throws Exception {
        try (Ends ends = Ends.open()) {
            LocalRegion a = ends.memoryA().allocate(8192, WRITE, 0);
            LocalRegion b = ends.memoryB().allocate(8192, WRITE, 0);
            Ends.event(ends.memoryA(), EventType.REGION_ADDED);
            Ends.event(ends.memoryB(), EventType.REGION_ADDED);
            for (int i = 0; i < 2000; i++) {
                long offset = i % 128 * (i % 3 == 0 ? 63L : 64L);
                a.segment().set(ValueLayout.JAVA_INT, 0, i);
                copy(ends.memoryA(), a, b, offset, i % 65, i % 5 == 0 ? i : 0);
                expect(ends.memoryB(), b, offset, i % 65, i % 5 == 0 ? i : 0);
                if (i % 65 >= 4) {
                    assertThat(b.segment().get(ValueLayout.JAVA_INT_UNALIGNED, offset)).isEqualTo(i);
                }
                if (i > 1000) {
                    copy(ends.memoryB(), b, a, 64, 8, 0);
                    expect(ends.memoryA(), a, 64, 8, 0);
                }
            }
            assertThat(ends.memoryB().isOpen()).as(ends.memoryB().endReason()).isTrue();
        }
    }

    /** Regions that are registered when all names are used have none. */
    @Test
    void namesAreNotReused() throws Exception {
        try (ScriptedVerbs verbs = new ScriptedVerbs(new Sent());
                ProtectionDomain pd = verbs.allocateProtectionDomain()) {
            RegionMemory memory = RegionMemory.allocate(pd, 64, WRITE);
            Regions regions = new Regions(0, 2, () -> 1);
            for (int i = 0; i <= ImmediateCompletion.NAMES; i++) {
                regions.reserve("register", 64);
                LocalRegion region = Objects.requireNonNull(regions.add(null, memory, WRITE, 0));
                assertThat(region.name()).isEqualTo(i < ImmediateCompletion.NAMES
                        ? i + 1
                        : ImmediateCompletion.NO_NAME);
                assertThat(regions.idOfName(region.name())).isEqualTo(i < ImmediateCompletion.NAMES ? region.id() : 0);
                regions.remove(region);
            }
            memory.close();
        }
    }

    /** A log of what an end sends: S a separate completion, s an immediate one. */
    private static final class Sent implements ScriptedVerbs.OtherEnd {
        private final StringBuilder log = new StringBuilder();

        @Override
        public void message(MemorySegment bytes) {
            assertThat(bytes.byteSize()).isEqualTo(CompletionLayout.BYTES);
            log.append('S');
        }

        @Override
        public void copy(boolean write, int rkey, long address, long length) {}

        @Override
        public void immediate(int immediate, int rkey, long address, long length) {
            assertThat(ImmediateCompletion.name(immediate)).isEqualTo(7);
            assertThat(ImmediateCompletion.offset(immediate)).isEqualTo(address - 4096);
            log.append('s');
        }

        String take() {
            String all = log.toString();
            log.setLength(0);
            return all;
        }
    }

    /** One end, whose other end has region 1 with the name 7, and region 2 without. */
    private static final class End implements AutoCloseable {
        final Sent sent = new Sent();
        private final ScriptedVerbs verbs = new ScriptedVerbs(sent);
        private final PeerLink link = new PeerLink(verbs, verbs.createCompletionChannel(), CreditLimit.DEFAULT);
        private final Regions regions = new Regions(0, 16, () -> 1);
        final CopyQueue copies = new CopyQueue(regions, link, 256);
        final EventQueue events = new EventQueue(regions, link, () -> {
            throw new AssertionError("a control message has to carry it");
        });
        final int own;
        final int theirs = RegionId.of(1, 1, 1);
        final int unnamed = RegionId.of(1, 2, 1);

        End() throws Exception {
            copies.events(events);
            events.copies(copies);
            regions.reserve("register", 64);
            own = Objects.requireNonNull(regions.add(null, RegionMemory.allocate(link.pd(), 64, WRITE), WRITE, 0)).id();
            assertThat(regions.addRemote(new RemoteRegion(theirs, 7, 3, 4096, 8192, Regions.REMOTE_ACCESS, 0)))
                    .isZero();
            assertThat(regions.addRemote(new RemoteRegion(unnamed, 0, 4, 4096, 8192, Regions.REMOTE_ACCESS, 0)))
                    .isZero();
        }

        String copy(int to, long offset, int flags, long userData) {
            assertThat(copies.copy(own, 0, to, offset, 8, flags | CopyFlags.REMOTE_COMPLETION, 0, userData)).isZero();
            while (copies.poll()) {
                assertThat(copies.status()).isEqualTo(WcStatus.SUCCESS);
            }
            return sent.take();
        }

        /** The other end copies, and returns no credits. */
        void takes(int count) {
            for (int i = 0; i < count; i++) {
                assertThat(ScriptedVerbs.arrive(link.data(), ImmediateCompletion.of(1, 0), 8)).isTrue();
                assertThat(events.poll()).isTrue();
                assertThat(events.poll()).isFalse();
            }
        }

        @Override
        public void close() throws Exception {
            link.closeAll();
            verbs.close();
        }
    }

    @Test
    void immediateIsUsedWhereverItFits() throws Exception {
        try (End end = new End()) {
            assertThat(end.copy(end.theirs, 0, 0, 0)).isEqualTo("s");
            assertThat(end.copy(end.theirs, 128, CopyFlags.FENCE | CopyFlags.UNSIGNALED, 0)).isEqualTo("s");
            assertThat(end.copy(end.theirs, 8, 0, 0)).isEqualTo("S");
            assertThat(end.copy(end.theirs, 0, 0, 9)).isEqualTo("S");
            assertThat(end.copy(end.unnamed, 0, 0, 0)).isEqualTo("S");
            assertThat(end.copies.copy(end.theirs, 0, end.own, 0, 8, CopyFlags.REMOTE_COMPLETION, 0)).isZero();
            assertThat(end.sent.take()).as("a read").isEqualTo("S");
            assertThat(end.copies.copy(end.own, 0, end.theirs, 0, 8, CopyFlags.NONE, 0)).isZero();
            assertThat(end.sent.take()).isEmpty();
            end.copies.start();
            for (long offset : new long[] {0, 8, 64}) {
                end.copies.add(end.own, 0, end.theirs, offset, 8, CopyFlags.REMOTE_COMPLETION, 0, 0);
            }
            assertThat(end.copies.commit()).isZero();
            assertThat(end.sent.take()).isEqualTo("sSs");
        }
    }

    /** One in 16 returns credits, also in a batch; and no more than that are needed. */
    @Test
    void everySixteenthCompletionReturnsCredits() throws Exception {
        try (End end = new End()) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 64; i++) {
                end.takes(1);
                all.append(end.copy(end.theirs, 0, 0, 0));
            }
            assertThat(all.toString()).isEqualTo(("s".repeat(15) + "S").repeat(4));
            end.takes(16);
            end.copies.start();
            for (int i = 0; i < 4; i++) {
                end.copies.add(end.own, 0, end.theirs, 0, 8, CopyFlags.REMOTE_COMPLETION, 0, 0);
            }
            assertThat(end.copies.commit()).isZero();
            assertThat(end.sent.take()).isEqualTo("Ssss");
        }
    }

    /** A region that was removed before the program polled the event is not mistaken for its successor. */
    @Test
    void lateImmediateIsNotAttributedToNewRegion() throws Exception {
        try (Ends ends = Ends.open()) {
            LocalRegion a = ends.memoryA().allocate(64, WRITE, 0);
            LocalRegion gone = ends.memoryB().allocate(64, WRITE, 0);
            Ends.event(ends.memoryB(), EventType.REGION_ADDED);
            copy(ends.memoryA(), a, gone, 0, 8, 0);
            gone.close();
            LocalRegion next = ends.memoryB().allocate(64, WRITE, 0);
            assertThat(RegionId.index(next.id())).as("the same place").isEqualTo(RegionId.index(gone.id()));
            copy(ends.memoryA(), a, next, 0, 16, 0);
            expect(ends.memoryB(), next, 0, 16, 0);
            assertThat(ends.memoryB().events().late()).isOne();
        }
    }

    private static void hostile(int immediate, boolean ends) throws Exception {
        try (Ends both = Ends.open()) {
            LocalRegion open = both.memoryA().allocate(4096, WRITE, 0);
            LocalRegion readable = both.memoryA().allocate(4096, AccessFlags.REMOTE_READ, 0);
            assertThat(open.name()).isOne();
            assertThat(readable.name()).isEqualTo(ImmediateCompletion.NO_NAME);
            assertThat(both.memoryB().link().data().sendQueue().start().writeImmediate(1L << 40, SendFlags.NONE, 0, 0,
                    immediate).complete()).isZero();
            if (ends) {
                Ends.event(both.memoryA(), EventType.CLOSED);
                assertThat(both.memoryA().endReason()).startsWith(
                        "the other end breaks the protocol: a remote completion of 0 bytes");
            } else {
                expect(both.memoryA(), open, ImmediateCompletion.offset(immediate), 0, 0);
            }
        }
    }

    @Test
    void unknownNamesAndOffsetsBeyondTheEndFailTheLink() throws Exception {
        hostile(ImmediateCompletion.of(1, 4096), false);
        hostile(ImmediateCompletion.of(1, 4160), true);
        hostile(ImmediateCompletion.of(1, MAX_OFFSET), true);
        hostile(ImmediateCompletion.of(2, 0), true);
        hostile(ImmediateCompletion.of(ImmediateCompletion.NAMES, 0), true);
    }
}
