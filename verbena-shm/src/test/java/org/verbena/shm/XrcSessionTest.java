// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.UnixSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.pool.PoolAccess;
import org.verbena.shm.xrc.SessionPools;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/** Attachments, requests and domains of XRC with events in a rare order. */
class XrcSessionTest extends XrcFixture {
    private static final int PEER = 5;

    private XrcDomains.Key key() {
        return ((ShmXrcDomain) domain).key();
    }

    private void receive(ControlMessage.Writer m) throws Exception {
        session.receive(new ControlMessage.Reader(m.segment()), new int[] {-1, -1, -1, -1}, 0);
    }

    private void attach() throws Exception {
        receive(new ControlMessage.Writer(ControlMessage.POOL_ATTACH).putInt(srq.number()).putInt(PEER).putLong(1)
                .putLong(key().high()).putLong(key().low()));
    }

    private static ControlMessage.Writer answer(int queue, long token, int pool) {
        return new ControlMessage.Writer(ControlMessage.POOL_ATTACHED).putInt(queue).putInt(PEER).putLong(token).putInt(
                pool);
    }

    @Test
    void answerToAnEarlierRequestIsIgnored() throws Exception {
        PoolAccess first = session.part(SessionPools.class).access(7, PEER, key());
        session.part(SessionPools.class).leave(PEER);
        PoolAccess second = session.part(SessionPools.class).access(7, PEER, new XrcDomains.Key(1, 2));
        receive(answer(7, first.token(), 99));
        assertThat(second.isAnswered()).isFalse();
        receive(answer(7, second.token(), 0));
        assertThat(second.isAnswered()).isTrue();
        assertThat(second.pool()).isZero();
    }

    @Test
    void closedQueueLeavesNoAttachmentAndSharesNothing() throws Exception {
        int pd = ((ShmSharedReceiveQueue) srq).pool().pd();
        attach();
        assertThat(session.part(SessionPools.class).remoteUsers()).hasSize(1);
        assertThat(session.uses(pd)).isTrue();
        srq.close();
        assertThat(session.part(SessionPools.class).remoteUsers()).isEmpty();
        assertThat(session.uses(pd)).isFalse();
    }

    /** Revocation of the memory waits for a peer that was stopped inside when the queue was closed. */
    @Test
    void senderInsideAClosedQueueIsNotForgotten() throws Exception {
        attach();
        long hazard = adapter.address() + AdapterLayout.qpEntry(PEER) + AdapterLayout.QP_HAZARD;
        RawMemory.putLong(hazard, 1L << 32 | Hazard.region(memory.rkey()));
        srq.close();
        assertThat(session.part(SessionPools.class).remoteUsers()).isEmpty();
        assertThat(context.memories().hasStoppedPeerIn(Hazard.region(memory.rkey()))).isTrue();
        RawMemory.putLong(hazard, 0);
        assertThat(context.memories().hasStoppedPeerIn(Hazard.region(memory.rkey()))).isFalse();
    }

    /** The engine must not wait for a process that is stopped while it opens a domain. */
    @Test
    void closingADomainDoesNotWaitForAnotherBeingOpened(@TempDir Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("domain"));
        XrcDomainAttributes create = XrcDomainAttributes.builder().file(file).openFlags(XrcDomainAttributes.CREATE)
                .build();
        XrcDomain other = context.openXrcDomain(create);
        XrcDomains.Key otherKey = ((ShmXrcDomain) other).key();
        other.close();
        Thread opening;
        try (UnixSocket lock = UnixSocket.listen(otherKey.lockName(), 1)) {
            opening = Thread.ofPlatform().start(() -> {
                try {
                    context.openXrcDomain(create);
                } catch (org.verbena.verbs.VerbsException e) {
                    throw new IllegalStateException(e);
                }
            });
            awaitWaiting(opening);
            assertThat(lock.fd().isClosed()).isFalse();
            context.domains().retain(key());
            context.domains().release(key());
            awaitWaiting(opening);
            assertThat(opening.isAlive()).as("it still waits for the lock, for seconds").isTrue();
        }
        opening.join();
    }

    /** Until it waits for the lock, or has given that up. */
    private static void awaitWaiting(Thread opening) {
        while (opening.isAlive() && opening.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }
}
