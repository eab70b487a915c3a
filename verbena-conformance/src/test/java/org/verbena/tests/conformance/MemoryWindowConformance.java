// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Thorough;
import org.verbena.tests.conformance.EndOptions.Memory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Memory windows of both types: binding, use, and invalidation from either end. */
abstract class MemoryWindowConformance extends Conformance {
    private static final int SIZE = 8192;
    private static final int REMOTE = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

    MemoryWindowConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private Pair pair(Memory memory, int rights) throws Exception {
        EndOptions o = EndOptions.defaults().bytes(SIZE).memory(memory).access(rights);
        Pair p = pair(o, o);
        needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_1);
        needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_2);
        p.connect();
        p.near.fill(0, SIZE, 1);
        p.far.fill(0, SIZE, 2);
        return p;
    }

    /** Windows may be bound to regions of both ends, which grant no other access. */
    private Pair pair(Memory memory) throws Exception {
        return pair(memory, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
    }

    private Pair pair() throws Exception {
        return pair(Memory.ALLOCATED);
    }

    private static MemoryWindow window(End end) {
        return (MemoryWindow) Objects.requireNonNull(end.later);
    }

    private static int post(QueuePair qp, MemoryWindow w, MemoryRegion r, long offset, long length, int access) {
        return w.type() == MemoryWindow.TYPE_1
                ? qp.bindMemoryWindow(w, 77, SendFlags.SIGNALED, r, r.address() + offset, length, access)
                : qp.sendQueue().start().bindMemoryWindow(77, SendFlags.SIGNALED, w, MemoryWindow.incrementRkey(w
                        .rkey()), r, r.address() + offset, length, access).complete();
    }

    /**
     * Binds the window of the end, created if there is none, to a part of its region; returns its key and address for
     * peers.
     */
    private static long[] bind(End end, int type, long offset, long length, int access) throws Exception {
        if (end.later == null) {
            end.later = end.keep(end.pd.allocateMemoryWindow(type));
        }
        assertPosted(post(end.qp, window(end), end.region, offset, length, access));
        assertDone(WcOpcode.BIND_MW, 77, end.awaitSend());
        return new long[] {window(end).rkey(), (access & AccessFlags.ZERO_BASED) != 0
                ? 0
                : end.region.address()
                        + offset};
    }

    private static Op at(Op op, long[] window, long offset) {
        return op.at((int) window[0], window[1] + offset);
    }

    private static void assertRefused(Pair p, Op op) throws Exception {
        p.far.remember();
        assertPosted(p.near.post(op));
        assertStatus(WcStatus.REM_ACCESS_ERR, op.wrId(), p.near.awaitSend());
        assertUntouched(p.far);
    }

    private static void assertWritten(Pair p, long[] window, long offset, long base) throws Exception {
        assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(50, 100), window, offset)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        assertThat(p.far.bytes(base + offset, 100)).isEqualTo(p.near.bytes(50, 100));
    }

    // ---- use

    @ParameterizedTest
    @ValueSource(ints = {MemoryWindow.TYPE_1, MemoryWindow.TYPE_2})
    void windowGrantsAccessItsRegionDoesNot(int type) throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = pair(memory);
            long[] w = p.far.run(end -> bind(end, type, 1000, 3000, REMOTE));
            assertWritten(p, w, 0, 1000);
            assertWritten(p, w, 2900, 1000);
            assertPosted(p.near.post(at(Op.read(2, p.farAddress, 0).on(4096, 500), w, 10)));
            assertDone(WcOpcode.RDMA_READ, 2, p.near.awaitSend());
            assertThat(p.near.bytes(4096, 500)).isEqualTo(p.far.bytes(1010, 500));
            if (memory == Memory.ALLOCATED) {
                p.far.setLong(1008, 5);
                assertPosted(p.near.post(at(Op.fetchAndAdd(3, p.farAddress, 0, 6).on(0, 8), w, 8)));
                assertDone(WcOpcode.FETCH_ADD, 3, p.near.awaitSend());
                assertThat(p.far.getLong(1008)).isEqualTo(11);
            }
            assertRefused(p, Op.write(4, p.farAddress, 1000).on(0, 8)); // with the key of the region
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 2993, 3000, -1000, 1L << 40, Long.MIN_VALUE})
    void accessOutsideTheWindowIsRefused(long offset) throws Exception {
        for (int type : new int[] {MemoryWindow.TYPE_1, MemoryWindow.TYPE_2}) {
            Pair p = pair();
            long[] w = p.far.run(end -> bind(end, type, 1000, 3000, REMOTE));
            assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), w, offset));
        }
    }

    @Test
    void onlyRightsOfTheWindowCount() throws Exception {
        Pair p = pair(Memory.ALLOCATED, AccessFlags.ALL | AccessFlags.MW_BIND);
        long[] w = p.far.run(end -> bind(end, MemoryWindow.TYPE_2, 0, 3000, AccessFlags.REMOTE_READ));
        assertPosted(p.near.post(at(Op.read(2, p.farAddress, 0).on(4096, 500), w, 10)));
        assertDone(WcOpcode.RDMA_READ, 2, p.near.awaitSend());
        assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), w, 0));
        p.far.awaitAsyncEvent(AsyncEventType.QP_ACCESS_ERR);
    }

    @Test
    void zeroBasedAddressesWork() throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = pair(memory);
            long[] w = p.far.run(end -> bind(end, MemoryWindow.TYPE_2, 1000, 3000, REMOTE | AccessFlags.ZERO_BASED));
            assertThat(w[1]).isZero();
            assertWritten(p, w, 2900, 1000);
            assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), w, 2993));
        }
    }

    @Test
    void type1WindowIsBoundRepeatedly() throws Exception {
        Pair p = pair();
        long[] first = p.far.run(end -> bind(end, MemoryWindow.TYPE_1, 0, 1000, REMOTE));
        assertWritten(p, first, 0, 0);
        long[] second = p.far.run(end -> bind(end, MemoryWindow.TYPE_1, 2000, 500, REMOTE));
        assertThat(second[0]).isNotEqualTo(first[0]);
        assertWritten(p, second, 0, 2000);
        assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), first, 0));
    }

    @Test
    void failedBindKeepsThePreviousBinding() throws Exception {
        Pair p = pair();
        long[] w = p.far.run(end -> {
            long[] bound = bind(end, MemoryWindow.TYPE_1, 0, 1000, REMOTE);
            QueuePair other = end.keep(end.queuePair());
            end.toInit(other);
            end.toRtr(other, end.address(other)); // to itself
            end.toRts(other);
            assertPosted(post(other, window(end), end.region, SIZE, 8, REMOTE));
            assertStatus(WcStatus.MW_BIND_ERR, 77, end.awaitSend());
            return bound;
        });
        assertWritten(p, w, 0, 0);
    }

    @Test
    void bindWithZeroLengthUnbinds() throws Exception {
        Pair p = pair();
        long[] w = p.far.run(end -> bind(end, MemoryWindow.TYPE_1, 0, 1000, REMOTE));
        p.far.act(end -> {
            MemoryRegion r = end.keep(end.pd.register(end.region.segment(), AccessFlags.ALL | AccessFlags.MW_BIND));
            assertPosted(post(end.qp, window(end), r, 0, 8, REMOTE));
            assertDone(WcOpcode.BIND_MW, 77, end.awaitSend());
            assertErrno(Errno.EBUSY, r::close, "window");
            assertPosted(end.qp.bindMemoryWindow(window(end), 78, SendFlags.SIGNALED, null, 0, 0, 0));
            assertDone(WcOpcode.BIND_MW, 78, end.awaitSend());
            r.close();
        });
        assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), w, 0));
    }

    /** Only the queue pair that it was bound through may use it. */
    @Test
    void type2WindowBelongsToItsQueuePair() throws Exception {
        Pair p = pair();
        Pair q = connected(EndOptions.defaults(), EndOptions.defaults());
        long[] w = p.far.run(end -> {
            end.later = end.keep(end.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
            QueuePair other = end.keep(end.queuePair());
            end.toInit(other);
            end.toRtr(other, end.address(other)); // to itself
            end.toRts(other);
            assertPosted(post(other, window(end), end.region, 0, 1000, REMOTE));
            assertDone(WcOpcode.BIND_MW, 77, end.awaitSend());
            // the queue pair itself may use it
            assertPosted(end.post(other, Op.write(5, new EndAddress("", 0, 0, window(end).rkey(), end.region.address(),
                    8), 0).on(4000, 8)));
            assertDone(WcOpcode.RDMA_WRITE, 5, end.awaitSend());
            return new long[] {window(end).rkey(), end.region.address()};
        });
        assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), w, 0));
        assertThat(q.near.state()).isEqualTo(QueuePairState.RTS);
    }

    /** Binding and invalidation concern one end alone. */
    @Test
    void windowIsBoundWithoutAReceiver() throws Exception {
        Pair p = pair(EndOptions.defaults().access(AccessFlags.ALL | AccessFlags.MW_BIND), EndOptions.defaults());
        needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_2);
        p.toInit();
        p.near.toRtr(p.farAddress);
        p.near.toRts();
        long[] w = bind(p.near, MemoryWindow.TYPE_2, 0, 1000, REMOTE);
        assertPosted(p.near.qp.sendQueue().start().localInvalidate(8, SendFlags.SIGNALED, (int) w[0]).complete());
        assertDone(WcOpcode.LOCAL_INV, 8, p.near.awaitSend());
    }

    // ---- invalidation

    @Test
    void localInvalidateRevokesTheKey() throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = pair(memory);
            long[] w = p.far.run(end -> bind(end, MemoryWindow.TYPE_2, 0, 1000, REMOTE));
            assertWritten(p, w, 0, 0);
            int key = (int) w[0];
            p.far.act(end -> {
                assertPosted(end.qp.sendQueue().start().localInvalidate(9, SendFlags.SIGNALED, key).complete());
                assertDone(WcOpcode.LOCAL_INV, 9, end.awaitSend());
            });
            long[] again = p.far.run(end -> bind(end, MemoryWindow.TYPE_2, 3000, 1000, REMOTE));
            assertThat(again[0]).isEqualTo(MemoryWindow.incrementRkey(key));
            assertWritten(p, again, 0, 3000);
            assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), w, 0));
        }
    }

    @Test
    void unboundWindowCannotBeInvalidated() throws Exception {
        Pair p = pair();
        p.far.act(end -> {
            MemoryWindow w = end.keep(end.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
            assertPosted(end.qp.sendQueue().start().localInvalidate(1, SendFlags.SIGNALED, w.rkey())
                    .send(2, SendFlags.SIGNALED).complete());
            assertStatus(WcStatus.LOC_QP_OP_ERR, 1, end.awaitSend());
            assertStatus(WcStatus.WR_FLUSH_ERR, 2, end.awaitSend());
            assertThat(end.state()).isEqualTo(QueuePairState.ERR);
        });
        Pair q = pair(); // neither can a region, nor a window of type 1
        q.far.act(end -> {
            assertPosted(end.qp.sendQueue().start().localInvalidate(1, SendFlags.SIGNALED, end.region.rkey())
                    .complete());
            assertStatus(WcStatus.LOC_QP_OP_ERR, 1, end.awaitSend());
        });
        Pair s = pair();
        s.far.act(end -> {
            int key = (int) bind(end, MemoryWindow.TYPE_1, 0, 8, REMOTE)[0];
            assertPosted(end.qp.sendQueue().start().localInvalidate(1, SendFlags.SIGNALED, key).complete());
            assertStatus(WcStatus.LOC_QP_OP_ERR, 1, end.awaitSend());
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 64, 65, 3000})
    void sendWithInvalidateRevokesTheKey(int length) throws Exception {
        for (boolean inline : new boolean[] {false, true}) {
            Pair p = pair();
            needs(p.near.context, Feature.SEND_INVALIDATE);
            int n = inline ? Math.min(length, p.near.device.maxInlineData()) : length;
            long[] w = p.far.run(end -> bind(end, MemoryWindow.TYPE_2, 0, 1000, REMOTE));
            assertWritten(p, w, 0, 0);
            assertPosted(p.far.postReceives(Op.receive(3).on(4096, 4096), Op.receive(4).on(0, 64)));
            var batch = p.near.qp.sendQueue().start().sendInvalidate(2, SendFlags.SIGNALED | SendFlags.SOLICITED,
                    (int) w[0]);
            if (inline) {
                batch.inline(p.near.region.segment(), 10, n);
            } else if (n > 0) {
                batch.sge(p.near.region, 10, n);
            }
            assertPosted(batch.complete());
            assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
            Completion c = p.far.awaitReceive();
            assertReceived(3, n, c);
            assertThat(c.flags() & ~fixture.strayFlags(true)).isEqualTo(fixture.invalidated());
            assertThat(c.invalidatedRkey()).isEqualTo((int) w[0]);
            if (fixture.invalidated() == WcFlags.WITH_INV) {
                assertThat(c.immediate()).isZero(); // else it shares its place with the key
            }
            assertThat(p.far.bytes(4096, n)).isEqualTo(p.near.bytes(10, n));
            assertRefused(p, at(Op.write(1, p.farAddress, 0).on(0, 8), w, 0));
            assertStatus(WcStatus.WR_FLUSH_ERR, 4, p.far.awaitReceive());
        }
    }

    @Test
    void sendWithInvalidateOfAWrongKeyFailsBothEnds() throws Exception {
        for (int i = 0; i < 4; i++) {
            Pair p = pair();
            needs(p.near.context, Feature.SEND_INVALIDATE);
            int kind = i;
            int key = p.far.run(end -> switch (kind) {
                case 0 -> end.region.rkey();
                case 1 -> (int) bind(end, MemoryWindow.TYPE_1, 0, 8, REMOTE)[0];
                case 2 -> MemoryWindow.incrementRkey((int) bind(end, MemoryWindow.TYPE_2, 0, 8, REMOTE)[0]);
                default -> 0x12345678;
            });
            assertPosted(p.far.postReceives(Op.receive(3).on(4096, 4096)));
            p.far.remember();
            assertPosted(p.near.qp.sendQueue().start().sendInvalidate(2, 0, key).sge(p.near.region, 0, 8).complete());
            assertStatus(WcStatus.REM_ACCESS_ERR, 2, p.near.awaitSend());
            assertStatus(WcStatus.REM_INV_REQ_ERR, 3, p.far.awaitReceive());
            p.near.awaitState(QueuePairState.ERR);
            p.far.awaitState(QueuePairState.ERR);
            assertUntouched(p.far);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {MemoryWindow.TYPE_1, MemoryWindow.TYPE_2})
    void closeRevokesTheKey(int type) throws Exception {
        Pair p = pair();
        long[] w = p.far.run(end -> bind(end, type, 0, 1000, REMOTE));
        assertWritten(p, w, 0, 0);
        p.far.act(end -> {
            assertErrno(Errno.EBUSY, end.pd::close);
            window(end).close();
            end.region.close();
        });
        assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(0, 8), w, 0)));
        assertStatus(WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
    }

    /** No write after the completion has arrived. */
    @Test
    void nothingIsWrittenAfterInvalidation() throws Exception {
        for (int round = 0; round < fixture.rounds(Thorough.ON ? 20 : 6); round++) {
            EndOptions o = EndOptions.defaults().bytes(1 << 20).access(AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
            Pair p = connected(o, o);
            needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_2);
            long[] w = p.far.run(end -> bind(end, MemoryWindow.TYPE_2, 0, 1 << 20, REMOTE));
            p.near.fill(0, 1 << 20, 9);
            int key = (int) w[0];
            p.far.start(end -> {
                Thread.sleep(1);
                assertPosted(end.qp.sendQueue().start().localInvalidate(9, SendFlags.SIGNALED, key).complete());
                assertDone(WcOpcode.LOCAL_INV, 9, end.awaitSend());
                end.remember();
                return true;
            });
            Completion c;
            do {
                p.near.fill(0, 64, round);
                assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(0, 1 << 20), w, 0)));
                c = p.near.awaitSend();
            } while (c.status() == WcStatus.SUCCESS);
            assertStatus(WcStatus.REM_ACCESS_ERR, 1, c);
            p.far.join();
            assertUntouched(p.far);
        }
    }

    // ---- errors

    private static void assertNotBound(Pair p, int status, long[] how) throws Exception {
        p.far.act(end -> {
            MemoryRegion r = end.keep(end.pd.register(end.region.segment(), (int) how[0]));
            MemoryWindow w = end.keep(end.pd.allocateMemoryWindow((int) how[1]));
            assertPosted(post(end.qp, w, r, how[2], how[3], (int) how[4]));
            assertStatus(status, 77, end.awaitSend());
            assertThat(end.state()).isEqualTo(QueuePairState.ERR);
            w.close();
            r.close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void bindsForbiddenByTheRegionAreRefused(Memory memory) throws Exception {
        int bindable = AccessFlags.ALL | AccessFlags.MW_BIND;
        for (int type : new int[] {MemoryWindow.TYPE_1, MemoryWindow.TYPE_2}) {
            assertNotBound(pair(memory), WcStatus.MW_BIND_ERR, new long[] {AccessFlags.ALL, type, 0, 8, REMOTE});
            assertNotBound(pair(memory), WcStatus.MW_BIND_ERR, new long[] {bindable, type, SIZE - 7, 8, REMOTE});
            assertNotBound(pair(memory), WcStatus.MW_BIND_ERR, new long[] {bindable, type, -1, 8, REMOTE});
            assertNotBound(pair(memory), WcStatus.MW_BIND_ERR, new long[] {bindable, type, 0, Long.MAX_VALUE, REMOTE});
            assertNotBound(pair(memory), WcStatus.MW_BIND_ERR,
                    new long[] {AccessFlags.REMOTE_READ | AccessFlags.MW_BIND, type, 0, 8, AccessFlags.REMOTE_WRITE});
            assertNotBound(pair(memory), WcStatus.MW_BIND_ERR,
                    new long[] {bindable | AccessFlags.ZERO_BASED, type, 0, 8, REMOTE});
        }
        int fromZero = REMOTE | AccessFlags.ZERO_BASED;
        if (fixture.looksAtBindings()) {
            End e = pair(memory).near;
            MemoryRegion r = e.keep(e.pd.register(e.region.segment(), bindable));
            MemoryWindow w = e.keep(e.pd.allocateMemoryWindow(MemoryWindow.TYPE_1));
            assertRefused(Errno.EINVAL, post(e.qp, w, r, 0, 8, fromZero));
            assertThat(e.state()).isEqualTo(QueuePairState.RTS);
        } else {
            assertNotBound(pair(memory), WcStatus.MW_BIND_ERR,
                    new long[] {bindable, MemoryWindow.TYPE_1, 0, 8, fromZero});
        }
        assertNotBound(pair(memory), WcStatus.MW_BIND_ERR, new long[] {bindable, MemoryWindow.TYPE_2, 0, 0, REMOTE});
    }

    @Test
    void type2WindowIsBoundOnce() throws Exception {
        Pair p = pair();
        p.far.act(end -> {
            bind(end, MemoryWindow.TYPE_2, 0, 8, REMOTE);
            assertPosted(post(end.qp, window(end), end.region, 0, 8, REMOTE));
            assertStatus(WcStatus.MW_BIND_ERR, 77, end.awaitSend());
        });
    }

    /** The owner of a window chooses only the lowest byte of its key. */
    @Test
    void type2WindowKeepsItsIndex() throws Exception {
        Pair q = pair();
        q.far.act(end -> {
            MemoryWindow w = end.keep(end.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
            assertPosted(end.qp.sendQueue().start().bindMemoryWindow(1, SendFlags.SIGNALED, w, w.rkey() ^ 1 << 8,
                    end.region, end.region.address(), 8, REMOTE).complete());
            assertStatus(WcStatus.MW_BIND_ERR, 1, end.awaitSend());
        });
    }

    @Test
    void invalidCallsAreRefused() throws Exception {
        Pair p = pair();
        End e = p.near;
        assertErrno(Errno.EINVAL, () -> e.pd.allocateMemoryWindow(0));
        assertErrno(Errno.EINVAL, () -> e.pd.allocateMemoryWindow(3));
        MemoryWindow one = e.keep(e.pd.allocateMemoryWindow(MemoryWindow.TYPE_1));
        MemoryWindow two = e.keep(e.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
        long a = e.region.address();
        assertRefused(Errno.EINVAL, e.qp.bindMemoryWindow(two, 1, 0, e.region, a, 8, REMOTE));
        assertRefused(Errno.EINVAL, e.qp.bindMemoryWindow(one, 1, 0, null, a, 0, REMOTE));
        assertRefused(Errno.EINVAL, e.qp.bindMemoryWindow(one, 1, 0, null, 0, 8, REMOTE));
        assertRefused(Errno.EINVAL, e.qp.bindMemoryWindow(one, 1, 0, e.region, a, 8, AccessFlags.LOCAL_WRITE));
        assertRefused(Errno.EINVAL, e.qp.bindMemoryWindow(one, 1, 1 << 30, e.region, a, 8, REMOTE));
        ProtectionDomain other = e.keep(e.context.allocateProtectionDomain());
        MemoryRegion foreign = e.keep(other.allocate(64, AccessFlags.ALL | AccessFlags.MW_BIND));
        assertRefused(Errno.EPERM, e.qp.bindMemoryWindow(one, 1, 0, foreign, foreign.address(), 8, REMOTE));
        var sq = e.qp.sendQueue();
        assertRefused(Errno.EINVAL, sq.start().bindMemoryWindow(1, 0, one, one.rkey(), e.region, a, 8, REMOTE)
                .complete());
        assertRefused(Errno.EINVAL, sq.start().bindMemoryWindow(1, 0, two, two.rkey(), e.region, a, 8,
                AccessFlags.LOCAL_WRITE).complete());
        assertRefused(Errno.EINVAL, sq.start().bindMemoryWindow(1, 0, two, two.rkey(), e.region, a, 8, REMOTE)
                .sge(e.region, 0, 8).complete());
        assertRefused(Errno.EINVAL, sq.start().localInvalidate(1, 0, two.rkey()).sge(e.region, 0, 8).complete());
        assertRefused(Errno.EINVAL, sq.start().localInvalidate(1, SendFlags.INLINE, two.rkey()).complete());
        one.close();
        assertRefused(Errno.EINVAL, e.qp.bindMemoryWindow(one, 1, 0, e.region, a, 8, REMOTE));
        assertThat(e.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void regionWithAWindowIsBusy() throws Exception {
        Pair p = pair();
        p.far.act(end -> {
            bind(end, MemoryWindow.TYPE_2, 0, 8, REMOTE);
            assertErrno(Errno.EBUSY, end.region::close, "window");
            if (end.context.supports(Feature.REREGISTER)) {
                assertErrno(Errno.EBUSY, () -> end.region.reregister(MemoryRegion.CHANGE_ACCESS, null, null,
                        AccessFlags.LOCAL_WRITE), "window");
            }
        });
    }
}
