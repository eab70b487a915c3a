// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * Arenas of registered memory are closed while packets are copied into it and out of it, which no program should do:
 * requests fail, and the JVM survives. The memory is large, so that the C library unmaps it at once.
 */
class ArenaCloseTest {
    private static final long SIZE = 4 << 20;
    private static final int ROUNDS = 60;
    private static final int BURST = 16;
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    /** The operation in progress while an arena is closed, and whose arena it is. */
    enum Use {
        WRITE_TO_PEER(WcStatus.REM_ACCESS_ERR),
        READ_FROM_PEER(WcStatus.REM_ACCESS_ERR),
        ATOMICS_OF_PEER(WcStatus.REM_ACCESS_ERR),
        SEND_TO_PEER(WcStatus.REM_OP_ERR),
        WRITE_OF_OWN(WcStatus.LOC_PROT_ERR),
        READ_INTO_OWN(WcStatus.LOC_PROT_ERR);

        final int status;

        Use(int status) {
            this.status = status;
        }

        boolean isOfPeer() {
            return status != WcStatus.LOC_PROT_ERR;
        }
    }

    private static final class End {
        final ProtectionDomain pd;
        final Context context;
        final CompletionQueue cq;
        final QueuePair qp;

        End(Context context) throws VerbsException {
            this.context = context;
            pd = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(4 * BURST);
            qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(BURST).maxReceiveWr(BURST)
                    .build());
        }

        void connect(End peer) throws VerbsException {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR)
                    .addressVector(AddressVector.to(peer.context.queryGid(1, 0))).pathMtu(4096)
                    .destinationQueuePair(peer.qp.number()).rqPsn(1).maxDestReadAtomic(16).minRnrTimer(1).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(1).timeout(14).retryCount(7).rnrRetry(7)
                    .maxReadAtomic(16).build());
        }

        void close() throws VerbsException {
            qp.close();
            cq.close();
            pd.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void closedArenaFailsRequestsAndJvmSurvives(Use use) throws Exception {
        Random random = new Random(use.name().hashCode());
        try (Context near = LoopbackDevice.open(); Context far = LoopbackDevice.open()) {
            for (int i = 0; i < ROUNDS; i++) {
                End a = new End(near);
                End b = new End(far);
                a.connect(b);
                b.connect(a);
                round(use, a, b, random.nextInt(2_000_000));
                a.close();
                b.close();
            }
        }
    }

    private static void round(Use use, End a, End b, int nanos) throws Exception {
        Arena arena = Arena.ofShared();
        MemorySegment taken = arena.allocate(SIZE);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (MemoryRegion stays = a.pd.allocate(SIZE, AccessFlags.ALL);
                MemoryRegion there = b.pd.allocate(SIZE, AccessFlags.ALL);
                MemoryRegion goes = (use.isOfPeer() ? b : a).pd.register(taken, AccessFlags.ALL)) {
            Thread closer = Thread.ofPlatform().start(() -> {
                long end = System.nanoTime() + nanos;
                while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
                close(arena, failure);
            });
            int status = useUntilItFails(use, a, b, use.isOfPeer() ? stays : goes, use.isOfPeer() ? goes : there);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            closer.join();
            assertThat(failure.get()).isNull();
            assertThat(WcStatus.toString(status)).isEqualTo(WcStatus.toString(use.status));
            assertThat(a.qp.state()).isEqualTo(QueuePairState.ERR);
        }
    }

    /** Closing a shared arena fails while a thread is inside: then it is retried, as the JDK documents. */
    private static void close(Arena arena, AtomicReference<Throwable> failure) {
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException busy) {
                Thread.onSpinWait();
            } catch (RuntimeException | Error e) {
                failure.set(e);
                return;
            }
        }
    }

    /** Posts and polls; the status of the first request that failed. */
    private static int useUntilItFails(Use use, End a, End b, MemoryRegion own, MemoryRegion remote) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        int open = 0;
        long n = 0;
        while (System.nanoTime() < end) {
            for (; open < BURST; open++, n++) {
                if (use == Use.SEND_TO_PEER && b.qp.receiveQueue().post(n, remote, 0, SIZE / 2) != 0
                        || post(use, a, own, remote, n) != 0) {
                    break;
                }
            }
            if (b.cq.startPoll() == 0) {
                b.cq.endPoll();
            }
            if (a.cq.startPoll() == 0) {
                int status = a.cq.status();
                a.cq.endPoll();
                open--;
                if (status != WcStatus.SUCCESS) {
                    return status;
                }
            }
        }
        throw new AssertionError("nothing failed");
    }

    private static int post(Use use, End a, MemoryRegion own, MemoryRegion remote, long n) {
        int length = 64 << 10;
        long offset = n * length % (SIZE / 2);
        return switch (use) {
            case WRITE_TO_PEER, WRITE_OF_OWN -> a.qp.sendQueue().postWrite(n, SendFlags.SIGNALED, own, offset, length,
                    remote.rkey(), remote.address() + offset);
            case READ_FROM_PEER, READ_INTO_OWN -> a.qp.sendQueue().postRead(n, SendFlags.SIGNALED, own, offset, length,
                    remote.rkey(), remote.address() + offset);
            case ATOMICS_OF_PEER -> (n & 1) == 0
                    ? a.qp.sendQueue().start().fetchAndAdd(n, SendFlags.SIGNALED, remote.rkey(), remote.address(), 1)
                            .sge(own.lkey(), own.address(), 8).complete()
                    : a.qp.sendQueue().start().compareAndSwap(n, SendFlags.SIGNALED, remote.rkey(), remote.address(), n,
                            n + 1).sge(own.lkey(), own.address(), 8).complete();
            case SEND_TO_PEER -> a.qp.sendQueue().postSend(n, SendFlags.SIGNALED, own, offset, length);
        };
    }

    /** Nothing could protect it from its owner, which frees it without a handshake with other threads. */
    @Test
    void confinedArenaIsRejected() throws Exception {
        try (Context context = LoopbackDevice.open();
                Arena arena = Arena.ofConfined();
                Arena shared = Arena.ofShared()) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemorySegment ofOne = arena.allocate(4096);
            assertThatThrownBy(() -> pd.register(ofOne, AccessFlags.ALL)).isInstanceOfSatisfying(VerbsException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL)).hasMessageContaining("Arena.ofShared");
            MemoryRegion region = pd.register(shared.allocate(4096), AccessFlags.ALL);
            assertThatThrownBy(() -> region.reregister(MemoryRegion.CHANGE_TRANSLATION, null, ofOne, 0))
                    .isInstanceOfSatisfying(VerbsException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL)).hasMessageContaining("Arena.ofShared");
            region.close();
        }
    }
}
