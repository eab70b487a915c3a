// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.pool.Commons;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.PoolClaims;
import org.verbena.shm.ring.Inbox;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.testkit.Await;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** As {@link EndedSessionTest}, of a peer that sends over XRC and is connected to none of our queue pairs. */
class EndedXrcSessionTest extends XrcFixture {
    private static final int PEER = 5;

    private OwnPool pool() {
        return ((ShmSharedReceiveQueue) srq).pool();
    }

    private long hazard() {
        return adapter.address() + AdapterLayout.qpEntry(PEER) + AdapterLayout.QP_HAZARD;
    }

    /** The peer claims a receive and is inside when the session ends. */
    private long beginAndEnd() throws Exception {
        XrcDomains.Key key = ((ShmXrcDomain) domain).key();
        session.receive(new ControlMessage.Reader(new ControlMessage.Writer(ControlMessage.POOL_ATTACH).putInt(srq
                .number()).putInt(PEER).putLong(1).putLong(key.high()).putLong(key.low()).segment()), new int[] {-1,
                    -1, -1, -1}, 0);
        assertThat(srq.receiveQueue().post(7, memory, 0, 64)).isZero();
        RawMemory.putLong(hazard(), 1L << 32 | Hazard.RECEIVES);
        long entry = context.adapter().base() + AdapterLayout.poolEntry(Commons.index(pool().number()));
        long claim = new PoolClaims(entry, context.commons().line(pool().number()), context.adapter().base()
                + RawMemory.getLong(entry + AdapterLayout.POOL_RING), RawMemory.getInt(entry
                        + AdapterLayout.POOL_ENTRIES)).claim();
        assertThat(claim).isNotEqualTo(Claim.NONE);
        session.end("it does not take its messages");
        EngineRounds.await(context, 20);
        assertThat(pool().receives().isOutstanding(claim)).as("the receive belongs to the peer").isTrue();
        return claim;
    }

    @Test
    void committedMessageIsReceived() throws Exception {
        long claim = beginAndEnd();
        long entry = Objects.requireNonNull(pool().reader()).entry(claim);
        Inbox.address(entry, claim, 77, PEER, receiver.number());
        Inbox.commit(entry, claim, 16, 0, WcOpcode.RECV, WcStatus.SUCCESS, 0, false);
        RawMemory.putLong(hazard(), 0);
        EngineRounds.await(context, 20);
        assertThat(cq.startPoll()).as("a message that has succeeded").isZero();
        assertThat(cq.wrId()).isEqualTo(7);
        assertThat(cq.status()).isEqualTo(WcStatus.SUCCESS);
        cq.endPoll();
    }

    @Test
    void unusedReceiveReturnsToThePool() throws Exception {
        beginAndEnd();
        RawMemory.putLong(hazard(), 0);
        Await.until("the receive is recovered", () -> pool().receives().available() == 1);
    }
}
