// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.ReceivePool;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/**
 * A session that this end has ended though the peer's process lives, and is inside a transfer: memory that the peer accesses is
 * not reused before it has left, and entries that it commits then are received.
 */
class EndedSessionTest {
    private static final int RECEIVES = PoolEnds.RECEIVES;

    private static long hazard(PoolEnds e) {
        return e.peer.adapter().base() + AdapterLayout.qpEntry(e.sender.number()) + AdapterLayout.QP_HAZARD;
    }

    private static void end(PoolEnds e) throws VerbsException {
        e.owner.control().session("test", e.peer.instance()).end("it does not take its messages");
    }

    @Test
    void receiveBeingFilledIsNotReposted() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            ReceivePool pool = e.srq.pool().receives();
            e.post(RECEIVES);
            long claim = e.claims().claim();
            RawMemory.putLongRelease(hazard(e), 1L << 32 | Hazard.RECEIVES);
            try {
                end(e);
                EngineRounds.await(e.owner, 20);
                assertThat(pool.isOutstanding(claim)).as("the receive belongs to the peer").isTrue();
                e.receiver.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
                EngineRounds.await(e.owner, 20);
                assertThat(pool.isOutstanding(claim)).as("it does so after a reset").isTrue();
                assertThat(pool.posted()).isEqualTo(RECEIVES);
            } finally {
                RawMemory.putLongRelease(hazard(e), 0);
            }
            e.await(() -> pool.available() == RECEIVES);
            assertThat(pool.isOutstanding(claim)).isFalse();
        }
    }

    /** A recovery of receives that is ongoing when the session ends waits for the peer as before. */
    @Test
    void receiveBeingFilledIsNotRepostedByAnOngoingRecovery() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            OwnPool own = e.srq.pool();
            e.post(RECEIVES);
            long claim = e.claims().claim();
            RawMemory.putLongRelease(hazard(e), 1L << 32 | Hazard.RECEIVES);
            try {
                own.recover();
                EngineRounds.await(e.owner, 20);
                end(e);
                EngineRounds.await(e.owner, 20);
                assertThat(own.receives().isOutstanding(claim)).isTrue();
            } finally {
                RawMemory.putLongRelease(hazard(e), 0);
            }
            e.await(() -> own.receives().available() == RECEIVES);
        }
    }

    @Test
    void applicationMemoryIsNotReleasedWhileThePeerIsInside() throws Exception {
        try (PoolEnds e = new PoolEnds(); Arena arena = Arena.ofShared()) {
            MemoryRegion region = e.receiver.protectionDomain().register(arena.allocate(4096, 8), AccessFlags.ALL);
            RawMemory.putLongRelease(hazard(e), 1L << 32 | Hazard.region(region.rkey()));
            try {
                end(e);
                e.receiver.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
                assertThatThrownBy(region::close).hasMessageContaining("EBUSY");
            } finally {
                RawMemory.putLongRelease(hazard(e), 0);
            }
            region.close();
        }
    }

    /** A sender that has not noticed the end of the session claims no more receives, and its request does not succeed. */
    @Test
    void senderAfterTheEndClaimsNoReceive() throws Exception {
        try (XrcEnds e = new XrcEnds()) {
            e.post(4);
            assertThat(e.send()).isZero();
            assertThat(e.sentStatus()).isEqualTo("SUCCESS");
            long available = e.pool().available();
            try (PausedEngine _ = new PausedEngine(e.sender.engine())) {
                e.owner.control().session("test", e.sender.instance()).end("it does not take its messages");
                assertThat(e.send()).isZero();
                assertThat(e.sent.startPoll()).as("no answer").isNotZero();
                assertThat(e.pool().available()).isEqualTo(available);
            }
            assertThat(e.sentStatus()).isNotEqualTo("SUCCESS");
            assertThat(e.pool().available()).isEqualTo(available);
        }
    }
}
