// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * Random requests: type, state, operation, flags, buffers, destination. The table here says which must be refused, and
 * with which errno; all others are posted, and complete. Queue pairs are connected to themselves.
 */
abstract class PostTableConformance extends Conformance {
    private static final int ROUNDS = Thorough.ON ? 1500 : 500;
    private static final int RIGHTS = AccessFlags.ALL | AccessFlags.MW_BIND | AccessFlags.FLUSH_GLOBAL;
    private static final int REMOTE = 16384;
    private static final long WR_ID = 4711;
    private static final int KNOWN = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED | SendFlags.INLINE;

    private static final int RC = 1;
    private static final int UC = 1 << 1;
    private static final int UD = 1 << 2;
    private static final int XRC = 1 << 3;

    PostTableConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    /** InfiniBand specification volume 1, section 10.8.2: which operations each transport has; and their buffers. */
    private enum Row {
        SEND(SendOperations.SEND, RC | UC | UD | XRC, true, true),
        SEND_IMMEDIATE(SendOperations.SEND_IMMEDIATE, RC | UC | UD | XRC, true, true),
        SEND_INVALIDATE(SendOperations.SEND_INVALIDATE, RC | UC | XRC, true, true),
        WRITE(SendOperations.WRITE, RC | UC | XRC, true, true),
        WRITE_IMMEDIATE(SendOperations.WRITE_IMMEDIATE, RC | UC | XRC, true, true),
        READ(SendOperations.READ, RC | XRC, true, false),
        COMPARE_AND_SWAP(SendOperations.COMPARE_AND_SWAP, RC | XRC, true, false),
        FETCH_AND_ADD(SendOperations.FETCH_AND_ADD, RC | XRC, true, false),
        LOCAL_INVALIDATE(SendOperations.LOCAL_INVALIDATE, RC | UC | XRC, false, false),
        BIND_WINDOW(SendOperations.BIND_WINDOW, RC | UC | XRC, false, false),
        SEGMENTED_SEND(SendOperations.SEGMENTED_SEND, UD, true, false),
        FLUSH(SendOperations.FLUSH, RC | XRC, false, false),
        ATOMIC_WRITE(SendOperations.ATOMIC_WRITE, RC | XRC, false, false);

        final int bit;
        final int types;
        final boolean buffers;
        final boolean inline;

        Row(int bit, int types, boolean buffers, boolean inline) {
            this.bit = bit;
            this.types = types;
            this.buffers = buffers;
            this.inline = inline;
        }

        /** The required feature; null if every provider has the operation. */
        @Nullable
        String feature() {
            return switch (this) {
                case SEND_INVALIDATE -> Feature.SEND_INVALIDATE;
                case COMPARE_AND_SWAP, FETCH_AND_ADD -> Feature.ATOMICS;
                case LOCAL_INVALIDATE, BIND_WINDOW -> Feature.MEMORY_WINDOW_TYPE_2;
                case SEGMENTED_SEND -> Feature.SEGMENTATION;
                case FLUSH -> Feature.FLUSH;
                case ATOMIC_WRITE -> Feature.ATOMIC_WRITE;
                default -> null;
            };
        }
    }

    /** How the buffers are given. */
    private enum Buffers {
        NONE, ELEMENTS, INLINE, BOTH, BOTH_REVERSED, NEGATIVE, OUTSIDE
    }

    /** The destination of a request: of a datagram, or over XRC. */
    private enum Destination {
        NOT_SAID, SELF, OTHER_DOMAIN, CLOSED, LONG_NUMBER, QUEUE, LONG_QUEUE_NUMBER
    }

    /** What is bound, and to what. */
    private enum Binding {
        GOOD, CLOSED_WINDOW, WINDOW_OF_TYPE_1, FOREIGN_WINDOW, FOREIGN_REGION, LOCAL_RIGHT
    }

    private static int typeBit(int type) {
        return switch (type) {
            case QueuePairType.RC -> RC;
            case QueuePairType.UC -> UC;
            case QueuePairType.UD -> UD;
            default -> XRC;
        };
    }

    private final Map<Integer, End> ends = new HashMap<>();

    @BeforeEach
    void openEnds() throws Exception {
        Context c = open();
        for (String type : List.of(Feature.UC, Feature.UD)) {
            needs(c, type);
        }
        for (int type : new int[] {QueuePairType.RC, QueuePairType.UC, QueuePairType.UD, QueuePairType.XRC_SEND}) {
            if (type == QueuePairType.XRC_SEND && !c.supports(Feature.XRC)) {
                continue;
            }
            EndOptions o = EndOptions.defaults().type(type).access(RIGHTS)
                    .queuePairAccess(AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL);
            ends.put(type, end(type == QueuePairType.XRC_SEND ? o.xrc() : o));
        }
    }

    /** One request with everything that it depends on. */
    private static final class Trial {
        final Random random;
        final End foreign;
        final End end;
        final int type;
        final Row row;
        final QueuePairState state;
        final int flags;
        final Buffers buffers;
        final int elements;
        final int length;
        final Destination destination;
        final Binding binding;
        final boolean started;
        final boolean full;
        final QueuePair qp;
        final QueuePairInitAttributes init;
        final boolean allowed;
        /** Created with its own send operations. */
        final boolean extended;
        private int fillers;
        private @Nullable MemoryWindow window;

        Trial(Random r, Map<Integer, End> ends, End foreign) throws Exception {
            random = r;
            this.foreign = foreign;
            int picked = RandomInput.pick(r, QueuePairType.RC, QueuePairType.RC, QueuePairType.UC, QueuePairType.UD,
                    QueuePairType.XRC_SEND);
            type = ends.containsKey(picked) ? picked : QueuePairType.RC;
            end = ends.get(type);
            row = rowOf(r, type, end.fixture.notDrawn(type));
            flags = r.nextInt(3) > 0
                    ? RandomInput.pick(r, 0, SendFlags.SIGNALED, SendFlags.SIGNALED | SendFlags.SOLICITED)
                    : RandomInput.bits(r, KNOWN | SendFlags.IP_CSUM | SendFlags.DUMMY, ~(KNOWN | SendFlags.IP_CSUM
                            | SendFlags.DUMMY));
            QueuePairState s = r.nextInt(3) > 0 ? QueuePairState.RTS : RandomInput.pick(r, QueuePairState.values());
            boolean reliable = type == QueuePairType.RC || type == QueuePairType.XRC_SEND;
            state = s == QueuePairState.SQE && (reliable || !end.fixture.stopsSendingOnly()) ? QueuePairState.ERR : s;
            buffers = r.nextInt(5) == 0
                    ? RandomInput.pick(r, Buffers.values())
                    : row.buffers ? RandomInput.pick(r, Buffers.ELEMENTS, Buffers.INLINE, Buffers.NONE) : Buffers.NONE;
            elements = 1 + r.nextInt(4);
            length = r.nextBoolean() ? 8 : r.nextInt(60);
            destination = r.nextInt(10) == 0
                    ? RandomInput.pick(r, Destination.values())
                    : needed();
            binding = r.nextInt(3) > 0 ? Binding.GOOD : RandomInput.pick(r, Binding.values());
            started = r.nextInt(20) > 0;
            full = state == QueuePairState.SQD && r.nextBoolean();
            int mask = SendOperations.SEND;
            for (Row other : Row.values()) {
                boolean there = other.feature() == null || end.context.supports(other.feature());
                mask |= there && has(other) && r.nextBoolean() ? other.bit : 0;
            }
            extended = r.nextInt(4) == 0;
            QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(end.sendCq, end.receiveCq).type(type)
                    .maxSendWr(1 + r.nextInt(4)).maxReceiveWr(8).maxReceiveSge(1).maxInlineData(r.nextInt(80))
                    .maxSendSge(state == QueuePairState.SQE
                            ? 2
                            : Math.max(end.fixture.leastSendSge(), r.nextInt(
                                    5))).sqSigAll(r.nextInt(4) == 0);
            qp = end.pd.createQueuePair((extended ? b.sendOperations(mask) : b).build());
            init = qp.initAttributes();
            allowed = (has(row) || fails()) && (!extended || (mask & row.bit) != 0);
        }

        private boolean fails() {
            return (end.fixture.failing(type) & row.bit) != 0;
        }

        private boolean has(Row operation) {
            return (operation.types & typeBit(type)) != 0 && (end.fixture.lacks(type) & operation.bit) == 0;
        }

        private Destination needed() {
            return switch (type) {
                case QueuePairType.UD -> Destination.SELF;
                case QueuePairType.XRC_SEND -> Destination.QUEUE;
                default -> Destination.NOT_SAID;
            };
        }

        private static Row rowOf(Random r, int type, int not) {
            Row row = RandomInput.pick(r, Row.values());
            boolean fits = r.nextInt(4) == 0 || (row.types & typeBit(type)) != 0;
            return fits && (row.bit & not) == 0 ? row : rowOf(r, type, not);
        }

        /** Brings the queue pair to the state, with receives if it takes any. */
        void prepare() throws Exception {
            if (state == QueuePairState.RESET) {
                return;
            }
            end.toInit(qp);
            for (int i = 0; i < 8; i++) {
                int posted = end.postReceives(qp, Op.receive(i).on(32768, 1024));
                assertThat(posted).isIn(0, type == QueuePairType.XRC_SEND ? Errno.ENOMEM : 0); // the queue is full
            }
            if (state == QueuePairState.INIT) {
                return;
            }
            end.toRtr(qp, end.address(qp));
            if (state == QueuePairState.RTR) {
                return;
            }
            end.toRts(qp);
            if (state == QueuePairState.SQE) {
                SendQueue q = addressed(qp.sendQueue().start().send(1, SendFlags.SIGNALED));
                assertPosted(q.sge(0x7fff_ff01, 0, 8).complete());
                assertStatus(WcStatus.LOC_PROT_ERR, 1, end.awaitSend());
                assertThat(qp.state()).isEqualTo(QueuePairState.SQE);
            } else if (state != QueuePairState.RTS) {
                qp.modify(QueuePairAttributes.to(state).build());
            }
            while (full && fillers < end.fixture.queueSize(init.maxSendWr())) {
                assertPosted(addressed(qp.sendQueue().start().send(++fillers, SendFlags.SIGNALED)).complete());
            }
        }

        private SendQueue addressed(SendQueue q) throws VerbsException {
            return switch (type) {
                case QueuePairType.UD ->
                    q.datagram(end.handle(end.address().gid()), qp.number(), EndOptions.datagrams().qkey);
                case QueuePairType.XRC_SEND -> q.remoteSharedReceiveQueue(end.xrc().srq.number());
                default -> q;
            };
        }

        // ---- the table

        /** The errnos by any of which the request may be refused; empty if it is to be posted. */
        Set<Integer> refusals() {
            Set<Integer> wrong = new TreeSet<>();
            String feature = row.feature();
            refuse(wrong, Errno.EOPNOTSUPP, feature != null && !end.context.supports(feature));
            refuse(wrong, Errno.EINVAL, !started || !allowed);
            refuse(wrong, Errno.EINVAL, Set.of(QueuePairState.RESET, QueuePairState.INIT, QueuePairState.RTR)
                    .contains(state));
            refuse(wrong, Errno.ENOMEM, full);
            int offloads = (end.context.supports(Feature.IP_CHECKSUM) ? SendFlags.IP_CSUM : 0)
                    | (end.context.supports(Feature.DUMMY_SEND) ? SendFlags.DUMMY : 0);
            refuse(wrong, Errno.EINVAL, (flags & ~(KNOWN | SendFlags.IP_CSUM | SendFlags.DUMMY)) != 0);
            refuse(wrong, Errno.EOPNOTSUPP, (flags & (SendFlags.IP_CSUM | SendFlags.DUMMY) & ~offloads) != 0);
            boolean copied = (flags & SendFlags.INLINE) != 0;
            refuse(wrong, Errno.EINVAL, copied && (!row.inline || !end.fixture.copiesOnFlag()));
            refuse(wrong, Errno.EINVAL, switch (buffers) {
                case NONE -> false;
                case ELEMENTS -> !row.buffers || elements > init.maxSendSge()
                        || copied && elements * length > init.maxInlineData();
                case INLINE -> !row.inline || length > init.maxInlineData();
                case BOTH, BOTH_REVERSED, NEGATIVE, OUTSIDE -> true;
            });
            refuse(wrong, Errno.EINVAL, row == Row.BIND_WINDOW && binding != Binding.GOOD);
            boolean atomic = row == Row.COMPARE_AND_SWAP || row == Row.FETCH_AND_ADD;
            refuse(wrong, Errno.EINVAL, atomic && total() < 8 && !extended && end.fixture.looksAtPostedAtomics());
            boolean local = row == Row.BIND_WINDOW || row == Row.LOCAL_INVALIDATE;
            boolean goesNowhere = local && type == QueuePairType.XRC_SEND && destination == Destination.NOT_SAID;
            refuse(wrong, Errno.EINVAL, destination != needed() && !goesNowhere);
            return wrong;
        }

        private static void refuse(Set<Integer> wrong, int errno, boolean condition) {
            if (condition) {
                wrong.add(errno);
            }
        }

        private long total() {
            return switch (buffers) {
                case ELEMENTS -> (long) elements * length;
                case INLINE -> length;
                default -> 0;
            };
        }

        /** Whether the request succeeds once it is posted in RTS. */
        boolean succeeds() {
            return !fails() && switch (row) {
                case COMPARE_AND_SWAP, FETCH_AND_ADD -> total() == 8 || total() > 8 && end.fixture
                        .looksAtPostedAtomics();
                case LOCAL_INVALIDATE -> false; // there is no such key
                case SEND_INVALIDATE -> type == QueuePairType.UC; // its sender is not informed
                default -> true;
            };
        }

        // ---- posting

        int post() throws Exception {
            boolean alone = started && needed() == Destination.NOT_SAID && buffers == Buffers.ELEMENTS && elements == 1
                    && destination == Destination.NOT_SAID && random.nextBoolean();
            SendQueue q = qp.sendQueue();
            if (alone && row == Row.SEND) {
                return q.postSend(WR_ID, flags, end.region, 0, length);
            } else if (alone && row == Row.WRITE) {
                return q.postWrite(WR_ID, flags, end.region, 0, length, end.region.rkey(), at());
            } else if (alone && row == Row.READ) {
                return q.postRead(WR_ID, flags, end.region, 0, length, end.region.rkey(), at());
            }
            q.start();
            if (!started) {
                q.abort();
            }
            add(q);
            addBuffers(q);
            switch (destination) {
                case NOT_SAID -> {}
                case SELF -> q.datagram(end.handle(end.address().gid()), qp.number(), EndOptions.datagrams().qkey);
                case QUEUE -> q.remoteSharedReceiveQueue(type == QueuePairType.XRC_SEND ? end.xrc().srq.number() : 17);
                case LONG_QUEUE_NUMBER -> q.remoteSharedReceiveQueue(1 << 24 + random.nextInt(7));
                case LONG_NUMBER -> q.datagram(end.handle(end.address().gid()), 1 << 24 + random.nextInt(7), 1);
                case CLOSED -> {
                    AddressHandle h = end.pd.createAddressHandle(end.address().vector());
                    h.close();
                    q.datagram(h, qp.number(), 1);
                }
                case OTHER_DOMAIN -> {
                    try (ProtectionDomain other = end.context.allocateProtectionDomain();
                            AddressHandle h = other.createAddressHandle(end.address().vector())) {
                        q.datagram(h, qp.number(), 1);
                    }
                }
            }
            return q.complete();
        }

        private long at() {
            return end.region.address() + REMOTE;
        }

        private void add(SendQueue q) throws VerbsException {
            int key = end.region.rkey();
            switch (row) {
                case SEND -> q.send(WR_ID, flags);
                case SEND_IMMEDIATE -> q.sendImmediate(WR_ID, flags, 1);
                case SEND_INVALIDATE -> q.sendInvalidate(WR_ID, flags, 0x7fff_ff02);
                case WRITE -> q.write(WR_ID, flags, key, at());
                case WRITE_IMMEDIATE -> q.writeImmediate(WR_ID, flags, key, at(), 1);
                case READ -> q.read(WR_ID, flags, key, at());
                case COMPARE_AND_SWAP -> q.compareAndSwap(WR_ID, flags, key, at(), 0, 1);
                case FETCH_AND_ADD -> q.fetchAndAdd(WR_ID, flags, key, at(), 1);
                case LOCAL_INVALIDATE -> q.localInvalidate(WR_ID, flags, 0x7fff_ff02);
                case BIND_WINDOW -> bind(q);
                case SEGMENTED_SEND -> q.sendSegmented(WR_ID, flags, end.region.segment(), 0, 14, 100);
                case FLUSH -> q.flush(WR_ID, flags, key, at(), 8, FlushType.GLOBAL, FlushType.RANGE);
                case ATOMIC_WRITE -> q.atomicWrite(WR_ID, flags, key, at(), 1);
            }
        }

        private void bind(SendQueue q) throws VerbsException {
            End windows = binding == Binding.FOREIGN_WINDOW ? foreign : end;
            End regions = binding == Binding.FOREIGN_REGION ? foreign : end;
            MemoryWindow w = windows.keep(windows.pd.allocateMemoryWindow(
                    binding == Binding.WINDOW_OF_TYPE_1 ? MemoryWindow.TYPE_1 : MemoryWindow.TYPE_2));
            window = w;
            if (binding == Binding.CLOSED_WINDOW) {
                w.close();
            }
            q.bindMemoryWindow(WR_ID, flags, w, MemoryWindow.incrementRkey(w.rkey()), regions.region,
                    regions.region.address(), 64,
                    binding == Binding.LOCAL_RIGHT ? AccessFlags.LOCAL_WRITE : AccessFlags.REMOTE_READ);
        }

        private void addBuffers(SendQueue q) {
            switch (buffers) {
                case NONE -> {}
                case ELEMENTS -> {
                    for (int i = 0; i < elements; i++) {
                        q.sge(end.region, 64L * i, length);
                    }
                }
                case INLINE -> q.inline(end.region.segment(), 0, length);
                case BOTH -> q.sge(end.region, 0, 1 + length).inline(end.region.segment(), 0, 8);
                case BOTH_REVERSED -> q.inline(end.region.segment(), 0, 8).sge(end.region, 0, 1 + length);
                case NEGATIVE -> q.sge(end.region.lkey(), end.region.address(), -1 - length);
                case OUTSIDE -> q.inline(end.region.segment(), end.region.length() - length, length + 1L);
            }
        }

        // ---- what follows

        /** The request was posted: it completes once, according to the state. */
        void expectCompletion() throws Exception {
            boolean signaled = init.sqSigAll() || (flags & SendFlags.SIGNALED) != 0;
            if (state == QueuePairState.RTS && succeeds()) {
                if (signaled) {
                    assertStatus(WcStatus.SUCCESS, WR_ID, end.awaitSend());
                }
                assertThat(qp.state()).isEqualTo(row == Row.SEND_INVALIDATE ? qp.state() : QueuePairState.RTS);
            } else if (state == QueuePairState.RTS) {
                Completion c = end.awaitSend();
                assertThat(c.wrId()).isEqualTo(WR_ID);
                // connected to itself, it may fail first as the receiver of an invalidation that it must refuse
                assertThat(c.statusName()).isNotIn("SUCCESS", row == Row.SEND_INVALIDATE ? "SUCCESS" : "WR_FLUSH_ERR");
                assertThat(qp.state()).isIn(QueuePairState.ERR, QueuePairState.SQE);
            } else {
                if (state == QueuePairState.SQD) {
                    assertThat(End.poll(end.sendCq, 1)).isEmpty(); // held back
                    qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
                }
                assertStatus(WcStatus.WR_FLUSH_ERR, WR_ID, end.awaitSend());
            }
        }

        /** The request was refused: it leaves no trace, and the queue pair is unchanged. */
        void expectNothing() throws Exception {
            assertThat(qp.state()).isEqualTo(state);
            if (full) {
                qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
                assertThat(end.awaitSends(fillers)).extracting(Completion::statusName).containsOnly("WR_FLUSH_ERR");
            }
        }

        void finish() throws Exception {
            if (state != QueuePairState.RESET) {
                qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
            }
            assertThat(End.poll(end.sendCq, 1)).isEmpty();
            if (window != null && !end.fixture.closesWhatBindsWindows()) {
                window.close();
            }
            qp.close();
            while (!End.poll(end.receiveCq, 64).isEmpty()) {
                // what came in
            }
        }

        @Override
        public String toString() {
            return QueuePairType.toString(type) + " in " + state + ": " + row + ", flags " + SendFlags.toString(flags)
                    + ", " + buffers + " " + elements + " of " + length + ", maxSendSge " + init.maxSendSge()
                    + ", maxInlineData " + init.maxInlineData() + ", to " + destination + (row == Row.BIND_WINDOW
                            ? ", " + binding
                            : "")
                    + (started ? "" : ", not started") + (full ? ", full" : "") + (allowed ? "" : ", not allowed");
        }
    }

    @Test
    void sendIsPostedOrRefusedPerTable() throws Exception {
        End foreign = end(EndOptions.defaults().access(RIGHTS));
        Seeds.each(ROUNDS, random -> {
            Trial t = new Trial(random, ends, foreign);
            try {
                t.prepare();
                Set<Integer> refusals = t.refusals();
                int answer = t.post();
                if (refusals.isEmpty()) {
                    assertPosted(answer);
                    t.expectCompletion();
                } else {
                    assertThat(names(refusals)).contains(names(Set.of(answer)).getFirst());
                    t.expectNothing();
                }
                t.finish();
            } catch (VerbsException | AssertionError e) {
                throw new AssertionError(t + ": " + e.getMessage(), e);
            }
        });
    }

    private static List<String> names(Set<Integer> errnos) {
        return errnos.stream().map(e -> e == 0 ? "0" : Errno.name(e)).toList();
    }

    /** The same for receives. */
    @Test
    void receiveIsPostedOrRefusedPerTable() throws Exception {
        Seeds.each(ROUNDS / 3, r -> {
            int type = RandomInput.pick(r, QueuePairType.RC, QueuePairType.UC, QueuePairType.UD);
            End end = ends.get(type);
            QueuePair qp = end.pd.createQueuePair(QueuePairInitAttributes.builder(end.sendCq, end.receiveCq).type(type)
                    .maxReceiveWr(1 + r.nextInt(5)).maxReceiveSge(r.nextInt(4)).build());
            QueuePairInitAttributes init = qp.initAttributes();
            QueuePairState state = RandomInput.pick(r, QueuePairState.RESET, QueuePairState.INIT, QueuePairState.RTR,
                    QueuePairState.RTS, QueuePairState.SQD);
            EndAddress self = end.address(qp);
            if (state != QueuePairState.RESET) {
                end.toInit(qp);
            }
            if (state != QueuePairState.RESET && state != QueuePairState.INIT) {
                end.toRtr(qp, self);
                if (state != QueuePairState.RTR) {
                    end.toRts(qp);
                }
                if (state == QueuePairState.SQD) {
                    qp.modify(QueuePairAttributes.to(state).build());
                }
            }
            int places = fixture.queueSize(init.maxReceiveWr());
            int before = state == QueuePairState.RESET ? 0 : r.nextInt(places + 1);
            for (int i = 0; i < before; i++) {
                assertPosted(qp.receiveQueue().start().receive(i).complete());
            }
            int batch = 1 + r.nextInt(3);
            int elements = r.nextInt(5);
            long length = r.nextInt(8) == 0 ? -1 : r.nextInt(100);
            boolean started = r.nextInt(10) > 0;
            ReceiveQueue q = qp.receiveQueue();
            if (started) {
                q.start();
            }
            for (int i = 0; i < batch; i++) {
                q.receive(100 + i);
                for (int e = 0; e < elements; e++) {
                    q.sge(end.region.lkey(), end.region.address(), length);
                }
            }
            Set<Integer> wrong = new TreeSet<>();
            Trial.refuse(wrong, Errno.EINVAL, !started || state == QueuePairState.RESET);
            Trial.refuse(wrong, Errno.EINVAL, elements > init.maxReceiveSge() || elements > 0 && length < 0);
            Trial.refuse(wrong, Errno.ENOMEM, before + batch > places || batch > init.maxReceiveWr());
            int answer = q.complete();
            assertThat(wrong.isEmpty() ? List.of("0") : names(wrong))
                    .as("%s in %s: %d after %d of %s, each %d of %d%s", QueuePairType.toString(type), state, batch,
                            before, places, elements, length, started ? "" : ", not started")
                    .contains(names(Set.of(answer)).getFirst());
            boolean some = answer == Errno.ENOMEM && batch <= init.maxReceiveWr() && fixture.postsWhatFits();
            int posted = before + (wrong.isEmpty() ? batch : some ? places - before : 0);
            if (state != QueuePairState.RESET) {
                qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
            }
            List<Completion> flushed = end.awaitReceives(posted);
            assertThat(flushed).allMatch(c -> c.statusName().equals("WR_FLUSH_ERR"));
            assertThat(End.poll(end.receiveCq, 1)).isEmpty();
            qp.close();
        });
    }
}
