// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/**
 * Registered memory of a mapped file that is truncated: requests that need the missing part fail, like with
 * memory that never existed, no post or poll throws, and everything else continues. A device that has pinned the pages
 * keeps them.
 */
abstract class CutOffMemoryConformance extends Conformance {
    private static final long SIZE = 1 << 20;
    private static final long LEFT = 4096;
    /** Beyond the end of the remaining file. */
    private static final long GONE = 65536;

    private Path file = Path.of("");
    private FileChannel channel;

    CutOffMemoryConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void makeFile() throws IOException {
        Path made = Files.createTempFile("cut", ".bin");
        closing(() -> Files.delete(made));
        file = made;
        channel = closing(FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
        channel.write(ByteBuffer.allocate((int) SIZE));
    }

    private void cutOff() throws IOException {
        channel.truncate(LEFT);
    }

    private static MemorySegment map(String file) throws IOException {
        try (FileChannel c = FileChannel.open(Path.of(file), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return c.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, Arena.ofAuto());
        }
    }

    private static MemoryRegion register(End end, String file) throws Exception {
        return end.keep(end.pd.register(map(file), AccessFlags.ALL));
    }

    /** Operations that need memory of the peer. */
    enum There {
        WRITE, WRITE_OF_A_WORD, READ, FETCH_AND_ADD, COMPARE_AND_SWAP;

        boolean isAtomic() {
            return this == FETCH_AND_ADD || this == COMPARE_AND_SWAP;
        }

        Op op(Pair p, EndAddress at, int length) {
            return switch (this) {
                case WRITE, WRITE_OF_A_WORD -> Op.write(1, at, GONE).on(0, length);
                case READ -> Op.read(1, at, GONE).on(0, length);
                case FETCH_AND_ADD -> Op.fetchAndAdd(1, at, GONE, 1).on(0, length);
                case COMPARE_AND_SWAP -> Op.compareAndSwap(1, at, GONE, 0, 1).on(0, length);
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void truncatedMemoryOfThePeerFailsUnlessPinned(There what) throws Exception {
        Pair p = connected();
        if (what.isAtomic() && (!p.near.context.supports(Feature.ATOMICS) || !fixture.atomicsOnRegisteredMemory())) {
            return;
        }
        String name = file.toString();
        long[] at = p.far.run(end -> {
            MemoryRegion r = register(end, name);
            return new long[] {r.rkey(), r.address()};
        });
        cutOff();
        int length = what == There.WRITE || what == There.READ ? 4096 : 8;
        Op op = what.op(p, p.farAddress, length).at((int) at[0], at[1] + GONE);
        assertPosted(p.near.post(op));
        p.far.act(End::expectNoCompletion); // nor does its poll throw
        assertStatus(fixture.pinsMemory() ? WcStatus.SUCCESS : WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
        if (!fixture.pinsMemory()) {
            p.near.awaitState(QueuePairState.ERR);
        }
    }

    /** Where a receive is posted. */
    enum Queue {
        OWN, SHARED, XRC
    }

    @ParameterizedTest
    @EnumSource
    void truncatedReceiveBufferFailsUnlessPinned(Queue queue) throws Exception {
        Pair p = connected(options(queue), options(queue));
        String name = file.toString();
        p.far.act(end -> end.later = register(end, name));
        cutOff();
        p.far.act(end -> {
            MemoryRegion r = (MemoryRegion) end.later;
            assertPosted(end.postReceives(Op.receive(7).onKey(r.lkey(), r.address() + GONE, 4096)));
        });
        assertPosted(p.near.post(Op.send(1).on(0, 4096)));
        if (fixture.pinsMemory()) {
            assertStatus(WcStatus.SUCCESS, 1, p.near.awaitSend());
        } else {
            assertStatus(WcStatus.LOC_PROT_ERR, 7, p.far.awaitReceive());
            assertStatus(WcStatus.REM_OP_ERR, 1, p.near.awaitSend());
        }
    }

    /**
     * A message that is not written directly to its receive is copied there by a poll, long after its sender has its
     * completion.
     */
    @ParameterizedTest
    @EnumSource
    void truncatedReceiveBufferFailsForAShortMessage(Queue queue) throws Exception {
        Pair p = connected(options(queue), options(queue));
        String name = file.toString();
        p.far.act(end -> {
            MemoryRegion r = register(end, name);
            assertPosted(end.postReceives(Op.receive(7).onKey(r.lkey(), r.address() + GONE, 64)));
        });
        cutOff();
        assertPosted(p.near.post(Op.send(1).on(0, 16)));
        assertStatus(fixture.pinsMemory() ? WcStatus.SUCCESS : WcStatus.LOC_PROT_ERR, 7, p.far.awaitReceive());
    }

    private EndOptions options(Queue queue) throws Exception {
        EndOptions o = EndOptions.defaults();
        switch (queue) {
            case SHARED -> {
                try (Context c = fixture.open()) {
                    needs(c, Feature.SHARED_RECEIVE_QUEUE);
                }
                return o.sharedReceives();
            }
            case XRC -> {
                return XrcEnd.options(fixture, o);
            }
            default -> {
                return o;
            }
        }
    }

    /** A word that is stored at once. */
    @Test
    void truncatedTargetFailsAnAtomicWriteUnlessPinned() throws Exception {
        needs(Feature.ATOMIC_WRITE);
        if (!fixture.atomicsOnRegisteredMemory()) {
            return;
        }
        Pair p = connected();
        String name = file.toString();
        long[] at = p.far.run(end -> {
            MemoryRegion r = register(end, name);
            return new long[] {r.rkey(), r.address()};
        });
        cutOff();
        assertPosted(p.near.qp.sendQueue().start().atomicWrite(1, SendFlags.SIGNALED, (int) at[0], at[1] + GONE, 5)
                .complete());
        p.far.act(End::expectNoCompletion);
        assertStatus(fixture.pinsMemory() ? WcStatus.SUCCESS : WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
    }

    /** Operations that need local memory. */
    enum Here {
        SEND, WRITE, WRITE_OF_A_WORD, READ, FETCH_AND_ADD
    }

    @ParameterizedTest
    @EnumSource
    void truncatedLocalMemoryFailsUnlessPinned(Here what) throws Exception {
        for (EndOptions.Memory there : EndOptions.Memory.values()) {
            makeFile();
            own(what, there);
        }
    }

    private void own(Here what, EndOptions.Memory there) throws Exception {
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults().memory(there));
        if (what == Here.FETCH_AND_ADD && (!p.near.context.supports(Feature.ATOMICS)
                || there == EndOptions.Memory.REGISTERED && !fixture.atomicsOnRegisteredMemory())) {
            return;
        }
        MemoryRegion r = register(p.near, file.toString());
        cutOff();
        p.far.act(end -> assertPosted(end.postReceives(Op.receive(7).on(0, 4096))));
        int length = what == Here.WRITE_OF_A_WORD || what == Here.FETCH_AND_ADD ? 8 : 4096;
        Op op = switch (what) {
            case SEND -> Op.send(1);
            case WRITE, WRITE_OF_A_WORD -> Op.write(1, p.farAddress, 0);
            case READ -> Op.read(1, p.farAddress, 0);
            case FETCH_AND_ADD -> Op.fetchAndAdd(1, p.farAddress, 0, 1);
        };
        assertPosted(p.near.post(op.onKey(r.lkey(), r.address() + GONE, length)));
        assertStatus(fixture.pinsMemory() ? WcStatus.SUCCESS : WcStatus.LOC_PROT_ERR, 1, p.near.awaitSend());
    }

    @Test
    void truncatedMemoryFailsADatagramUnlessPinned() throws Exception {
        needs(Feature.UD);
        Pair p = connected(EndOptions.datagrams(), EndOptions.datagrams());
        p.far.act(end -> assertPosted(end.postReceives(Op.receive(7).on(0, 4096))));
        MemoryRegion r = register(p.near, file.toString());
        cutOff();
        assertPosted(p.near.postTo(p.farAddress, Op.send(1).onKey(r.lkey(), r.address() + GONE, 512)));
        assertStatus(fixture.pinsMemory() ? WcStatus.SUCCESS : WcStatus.LOC_PROT_ERR, 1, p.near.awaitSend());
    }

    /** The post is refused with an errno, and the next one works. */
    @Test
    void truncatedInlineDataAreRefusedAtPost() throws Exception {
        Pair p = connected();
        MemorySegment map = map(file.toString());
        MemoryRegion r = p.near.keep(p.near.pd.register(map, AccessFlags.ALL));
        QueuePair q = p.near.keep(p.near.pd.createQueuePair(QueuePairInitAttributes.builder(p.near.sendCq,
                p.near.receiveCq)
                .type(QueuePairType.RC).maxInlineData(64).maxSendWr(4).maxReceiveWr(1).build()));
        EndAddress far = p.connect(q);
        cutOff();
        for (int length : new int[] {8, 64}) {
            assertRefused(Errno.EFAULT, q.sendQueue().start().write(1, SendFlags.SIGNALED, far.rkey(), far.address())
                    .inline(map, GONE, length).complete());
            if (fixture.copiesOnFlag()) {
                assertRefused(Errno.EINVAL, q.sendQueue().start().write(2, SendFlags.SIGNALED | SendFlags.INLINE,
                        far.rkey(), far.address()).sge(r.lkey(), r.address() + GONE, length).complete());
            }
        }
        assertPosted(q.sendQueue().start().write(3, SendFlags.SIGNALED, far.rkey(), far.address()).inline(map, 0, 64)
                .complete());
        assertStatus(WcStatus.SUCCESS, 3, p.near.awaitSend());
    }
}
