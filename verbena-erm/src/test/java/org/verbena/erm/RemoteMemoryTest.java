// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Regions of one end are found by the other, and copies reach them. */
@Tag("any-provider")
class RemoteMemoryTest {
    static final int WRITABLE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

    @Test
    void copiesWorkInBothDirections() throws Exception {
        try (Ends ends = Ends.open()) {
            LocalRegion target = ends.memoryB().allocate(8192, WRITABLE, 42);
            Ends.event(ends.memoryA(), EventType.REGION_ADDED);
            assertThat(ends.memoryA().events().region()).isEqualTo(target.id());
            assertThat(ends.memoryA().events().userData()).isEqualTo(42);
            RemoteRegion remote = ends.memoryA().remoteRegion(target.id());
            assertThat(remote.length()).isEqualTo(8192);
            assertThat(remote.tag()).isEqualTo(42);

            byte[] bytes = new byte[8192];
            new Random(1).nextBytes(bytes);
            LocalRegion source = ends.memoryA().register(Arena.ofAuto().allocate(8192), AccessFlags.LOCAL_WRITE);
            source.segment().copyFrom(MemorySegment.ofArray(bytes));
            assertThat(ends.memoryA().copies().copy(source.id(), 100, target.id(), 4000, 4096,
                    CopyFlags.REMOTE_COMPLETION, 7, 99)).isZero();
            assertThat(Ends.completion(ends.memoryA())).isEqualTo(WcStatus.SUCCESS);
            assertThat(ends.memoryA().copies().context()).isEqualTo(7);
            Ends.event(ends.memoryB(), EventType.COPIED);
            EventQueue events = ends.memoryB().events();
            assertThat(events.region()).isEqualTo(target.id());
            assertThat(events.offset()).isEqualTo(4000);
            assertThat(events.length()).isEqualTo(4096);
            assertThat(events.userData()).isEqualTo(99);
            assertThat(target.segment().asSlice(4000, 4096).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(java.util.Arrays
                    .copyOfRange(bytes, 100, 4196));

            source.segment().fill((byte) 0);
            assertThat(ends.memoryA().copies().copy(target.id(), 4000, source.id(), 0, 4096,
                    CopyFlags.REMOTE_COMPLETION, 8, 98)).isZero();
            assertThat(Ends.completion(ends.memoryA())).isEqualTo(WcStatus.SUCCESS);
            Ends.event(ends.memoryB(), EventType.COPIED_FROM);
            assertThat(source.segment().asSlice(0, 4096).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(java.util.Arrays
                    .copyOfRange(bytes, 100, 4196));

            target.close();
            assertThat(ends.memoryA().remoteRegion(target.id())).isNull();
            Ends.event(ends.memoryA(), EventType.REGION_REMOVED);
            assertThat(ends.memoryA().events().region()).isEqualTo(target.id());
            assertThat(ends.memoryA().copies().copy(source.id(), 0, target.id(), 0, 1, 0, 9)).isEqualTo(Errno.ENOENT);
        }
    }

    /** No later completion would report that. */
    @Test
    void deregistrationAfterUnsignaledCopiesReturns() throws Exception {
        try (Ends ends = Ends.open()) {
            for (int i = 0; i < 20; i++) {
                LocalRegion source = ends.memoryA().allocate(64, AccessFlags.LOCAL_WRITE, 0);
                LocalRegion target = ends.memoryB().allocate(64, WRITABLE, 0);
                for (int n = 1 + i * 3; n > 0; n--) {
                    source.segment().fill((byte) n);
                    assertThat(ends.memoryA().copies().copy(source.id(), 0, target.id(), 0, 64, CopyFlags.UNSIGNALED,
                            i)).isIn(0, Errno.EAGAIN);
                }
                if (i % 2 == 0) {
                    source.close();
                }
                target.close();
                assertThat(ends.memoryA().isOpen()).as(ends.memoryA().endReason()).isTrue();
                assertThat(ends.memoryB().isOpen()).as(ends.memoryB().endReason()).isTrue();
                assertThat(ends.memoryA().copies().poll()).isFalse();
                assertThat(ends.memoryA().copies().outstanding()).isZero();
            }
        }
    }

    @Test
    void singleEndStatesReason() throws Exception {
        SocketChannel[] pair = Ends.channels();
        try (SocketChannel a = pair[0]; SocketChannel b = pair[1]) {
            assertThat(RemoteMemory.whyNot(a)).contains("has not asked");
            assertThat(RemoteMemory.of(a, Duration.ofMillis(500))).isEmpty();
            assertThat(RemoteMemory.whyNot(a)).isEqualTo("the other end's program has not asked for remote memory");
            assertThat(RemoteMemory.of(b, Ends.LONG)).isPresent();
            assertThat(RemoteMemory.of(a, Ends.LONG)).isPresent();
            assertThat(RemoteMemory.whyNot(a)).isEmpty();
        }
    }

    @Test
    void closeIsReportedToPeer() throws Exception {
        try (Ends ends = Ends.open()) {
            LocalRegion target = ends.memoryB().allocate(4096, WRITABLE, 0);
            Ends.event(ends.memoryA(), EventType.REGION_ADDED);
            target.segment().fill((byte) 5);
            ends.a().close();
            Ends.event(ends.memoryB(), EventType.CLOSED);
            assertThat(target.segment().toArray(ValueLayout.JAVA_BYTE)).as("copied bytes are still there").containsOnly(
                    5);
            assertThat(ends.memoryB().isOpen()).isFalse();
            assertThat(ends.memoryB().events().poll()).isFalse();
            assertThatThrownBy(() -> ends.memoryB().allocate(1, 0, 0)).isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ENOTCONN");
            target.close();
            Ends.event(ends.memoryA(), EventType.CLOSED);
            assertThat(ends.memoryA().copies().copy(1, 0, 2, 0, 1, 0, 0)).isEqualTo(Errno.ENOTCONN);
        }
    }

    /** Copies that succeeded just before the end, to a program that has not polled yet. */
    @Test
    void closedFollowsEventsOfSucceededCopies() throws Exception {
        int copies = 5;
        for (int round = 0; round < 20; round++) {
            try (Ends ends = Ends.open()) {
                LocalRegion target = ends.memoryB().allocate(4096, WRITABLE, 0);
                Ends.event(ends.memoryA(), EventType.REGION_ADDED);
                LocalRegion source = ends.memoryA().allocate(4096, AccessFlags.LOCAL_WRITE, 0);
                for (int i = 0; i < copies; i++) {
                    assertThat(ends.memoryA().copies().copy(source.id(), 0, target.id(), 64L * i, 64,
                            CopyFlags.REMOTE_COMPLETION, i, i)).isZero();
                    assertThat(Ends.completion(ends.memoryA())).isEqualTo(WcStatus.SUCCESS);
                }
                if (round % 2 == 0) {
                    ends.memoryA().close();
                } else {
                    ends.a().close();
                }
                for (int i = 0; i < copies; i++) {
                    Ends.event(ends.memoryB(), EventType.COPIED);
                    assertThat(ends.memoryB().events().userData()).isEqualTo(i);
                }
                Ends.event(ends.memoryB(), EventType.CLOSED);
            }
        }
    }

    /** A copy with a fence sends bytes that an earlier copy has read from the other end. */
    @Test
    void fenceWaitsForReads() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion origin = ends.memoryB().allocate(8, WRITABLE, 0);
            LocalRegion target = ends.memoryB().allocate(8, WRITABLE, 0);
            LocalRegion between = a.allocate(8, AccessFlags.LOCAL_WRITE, 0);
            int behind = CopyFlags.FENCE | CopyFlags.REMOTE_COMPLETION;
            for (long i = 1; i <= 300; i++) {
                origin.segment().set(ValueLayout.JAVA_LONG, 0, i);
                switch ((int) (i % 3)) {
                    case 0 -> {
                        assertThat(a.copies().copy(origin.id(), 0, between.id(), 0, 8, CopyFlags.UNSIGNALED, 0))
                                .isZero();
                        assertThat(a.copies().copy(between.id(), 0, target.id(), 0, 8, behind, i, i)).isZero();
                    }
                    case 1 -> assertThat(a.copies().start().add(origin.id(), 0, between.id(), 0, 8,
                            CopyFlags.UNSIGNALED, 0, 0).add(between.id(), 0, target.id(), 0, 8, behind, i, i).commit())
                            .isZero();
                    default -> {
                        CompletableFuture<Void> there = a.copyAsync(origin.id(), 0, between.id(), 0, 8, 0, 0);
                        a.copyAsync(between.id(), 0, target.id(), 0, 8, behind, i).get(30, TimeUnit.SECONDS);
                        assertThat(there).succeedsWithin(Ends.LONG);
                    }
                }
                Ends.event(ends.memoryB(), EventType.COPIED);
                assertThat(ends.memoryB().events().userData()).isEqualTo(i);
                assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
                if (i % 3 != 2) {
                    assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
                    assertThat(a.copies().context()).isEqualTo(i);
                }
            }
        }
    }

    /**
     * Each connection has a protection domain of its own, which holds even against a peer that has the key and
     * bypasses its own checks.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void keyOfOtherConnectionIsRefused(boolean allocated) throws Exception {
        try (Ends ends = Ends.open(); Ends others = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion own = a.allocate(64, AccessFlags.LOCAL_WRITE, 0);
            LocalRegion theirs = allocated
                    ? others.memoryB().allocate(64, WRITABLE, 0)
                    : others.memoryB().register(Arena.ofAuto().allocate(64), WRITABLE);
            own.segment().fill((byte) 9);
            RemoteRegion known = others.memoryA().remoteRegion(theirs.id());
            assertThat(a.link().data().sendQueue().postWrite(1, SendFlags.SIGNALED, own.memory(), 0, 64, known.rkey(),
                    known.address())).isZero();
            assertThat(Ends.completion(a)).isEqualTo(WcStatus.REM_ACCESS_ERR);
            assertThat(theirs.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
            assertThat(others.memoryA().isOpen()).isTrue();
            assertThat(others.memoryA().copies().copy(others.memoryA().allocate(64, 0, 0).id(), 0, theirs.id(), 0, 64,
                    0, 0)).isZero();
            assertThat(Ends.completion(others.memoryA())).isEqualTo(WcStatus.SUCCESS);
        }
    }

    @Test
    void bytesWrittenAfterCompletionFollowCopy() throws Exception {
        try (Ends ends = Ends.open()) {
            LocalRegion target = ends.memoryB().allocate(8, WRITABLE, 0);
            Ends.event(ends.memoryA(), EventType.REGION_ADDED);
            LocalRegion source = ends.memoryA().allocate(8, AccessFlags.LOCAL_WRITE, 0);
            ByteBuffer one = ByteBuffer.allocate(1);
            for (long i = 1; i <= 1000; i++) {
                source.segment().set(ValueLayout.JAVA_LONG, 0, i);
                assertThat(ends.memoryA().copies().copy(source.id(), 0, target.id(), 0, 8, 0, i)).isZero();
                assertThat(Ends.completion(ends.memoryA())).isEqualTo(WcStatus.SUCCESS);
                ends.a().write(ByteBuffer.wrap(new byte[] {(byte) i}));
                ends.b().read(one.clear());
                assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
            }
        }
    }
}
