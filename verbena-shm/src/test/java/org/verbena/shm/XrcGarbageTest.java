// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.AttributesMessage;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.shm.pool.Commons;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.ring.Inbox;
import org.verbena.shm.xrc.SessionPools;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcStatus;

/** Messages of a peer about XRC, and its writes into an inbox, well-formed with garbage values. */
@Timeout(120)
class XrcGarbageTest extends XrcFixture {
    private static final List<QueuePairState> STATES = List.of(QueuePairState.values());

    /** Whatever the peer requests, it is answered or refused, and its handles are closed when it ends. */
    @Test
    void randomMessageIsAcceptedOrRefused() throws Exception {
        XrcDomains.Key key = ((ShmXrcDomain) domain).key();
        int number = srq.number();
        int[] counts = new int[2];
        MemorySegment answers = Arena.ofAuto().allocate(ControlMessage.MAX_BYTES, 8);
        Seeds.each(3000, random -> {
            ControlMessage.Writer m = message(random, key, number);
            try {
                session.receive(new ControlMessage.Reader(m.segment()), new int[] {-1, -1, -1, -1}, 0);
            } catch (ProtocolException | LinuxException refused) {
                assertThat(refused.getMessage()).isNotBlank();
            }
            while (sockets[1].receive(answers, new int[0]) > 0) {
                counts[1]++;
            }
            counts[0] = Math.max(counts[0], session.part(SessionPools.class).remoteUsers().size());
        });
        assertThat(counts[0]).as("attached queue pairs").isGreaterThan(0);
        assertThat(counts[1]).as("answers").isGreaterThan(100);
        session.end("the peer has ended");
        assertThat(((ShmSharedReceiveQueue) srq).pool().users()).isEmpty();
        receiver.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
        receiver.close();
        assertThat(context.xrc().receiver(receiver.number())).as("no handle is left").isNull();
    }

    private ControlMessage.Writer message(Random random, XrcDomains.Key key, int number) {
        int queue = random.nextInt(3) == 0 ? (int) GarbageNumbers.next(random) : number;
        long handle = random.nextInt(4) == 0 ? GarbageNumbers.next(random) : random.nextInt(3);
        int type = random.nextInt(5) < 2
                ? ControlMessage.POOL_ATTACH + random.nextInt(3)
                : ControlMessage.XRC_OPEN + random.nextInt(6);
        ControlMessage.Writer m = new ControlMessage.Writer(type);
        return switch (type) {
            case ControlMessage.POOL_ATTACH -> key(m.putInt(queue).putInt(random.nextInt(20)).putLong(GarbageNumbers
                    .next(
                            random)), random, key);
            case ControlMessage.POOL_ATTACHED -> m.putInt(queue).putInt(random.nextInt(20)).putLong(random.nextInt(3))
                    .putInt(random
                            .nextInt());
            case ControlMessage.POOL_DETACH -> m.putInt(queue).putInt(random.nextInt(20));
            case ControlMessage.XRC_OPEN -> key(m.putLong(GarbageNumbers.next(random)).putLong(handle).putInt(
                    random.nextInt(3) == 0 ? (int) GarbageNumbers.next(random) : receiver.number()), random, key);
            case ControlMessage.XRC_QUERY, ControlMessage.XRC_CLOSE ->
                m.putLong(GarbageNumbers.next(random)).putLong(handle);
            case ControlMessage.XRC_MODIFY -> attributes(m.putLong(GarbageNumbers.next(random)).putLong(handle).putInt(
                    random
                            .nextInt(8)), random);
            case ControlMessage.XRC_ANSWER -> attributes(m.putLong(handle).putInt(random.nextInt()).putText("\u20ac"),
                    random);
            default -> m.putLong(handle).putInt(random.nextInt(20)).putText("text");
        };
    }

    private static ControlMessage.Writer key(ControlMessage.Writer m, Random random, XrcDomains.Key key) {
        return random.nextInt(4) == 0
                ? m.putLong(GarbageNumbers.next(random)).putLong(GarbageNumbers.next(random))
                : m.putLong(key.high()).putLong(key.low());
    }

    private static ControlMessage.Writer attributes(ControlMessage.Writer m, Random random) {
        if (random.nextInt(5) == 0) {
            return m.putInt((int) GarbageNumbers.next(random)).putInt((int) GarbageNumbers.next(random));
        }
        QueuePairAttributes.Builder b = QueuePairAttributes.builder();
        if (random.nextInt(4) > 0) {
            b.state(STATES.get(random.nextInt(STATES.size())));
        }
        if (random.nextBoolean()) {
            b.accessFlags((int) GarbageNumbers.next(random));
        }
        if (random.nextBoolean()) {
            b.addressVector(AddressVector.to(new Gid(PeerMapping.GID_PREFIX, 1 + random.nextInt(3))))
                    .destinationQueuePair((int) GarbageNumbers.next(random));
        }
        return AttributesMessage.write(m, b.build());
    }

    /** Attributes arrive as they were sent. */
    @Test
    void attributesSurviveTheMessage() throws Exception {
        AddressVector path = AddressVector.builder(new Gid(3, 4)).hopLimit(9).trafficClass(7).destinationLid(5).build();
        QueuePairAttributes a = QueuePairAttributes.to(QueuePairState.RTR).addressVector(path).pathMtu(2048)
                .destinationQueuePair(0x123456).rqPsn(7).maxDestReadAtomic(3).minRnrTimer(12)
                .alternatePath(AddressVector.to(new Gid(1, 2)), 6, 14).accessFlags(7).build();
        ControlMessage.Reader m = new ControlMessage.Reader(AttributesMessage.write(new ControlMessage.Writer(1), a)
                .segment());
        QueuePairAttributes b = AttributesMessage.read(m);
        m.end();
        assertThat(b.mask()).isEqualTo(a.mask());
        assertThat(b.addressVector()).isEqualTo(path);
        assertThat(b.destinationQueuePair()).isEqualTo(0x123456);
        assertThat(bytes(b)).as("all of it").isEqualTo(bytes(a));
    }

    private static byte[] bytes(QueuePairAttributes a) {
        return AttributesMessage.write(new ControlMessage.Writer(1), a).segment().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Whatever lies in the inbox, a poll finds a completion of a receive that was posted, or nothing. */
    @Test
    void garbageInAnInboxIsHarmless() throws Exception {
        OwnPool pool = ((ShmSharedReceiveQueue) srq).pool();
        long base = context.commons().file().address();
        long inbox = base + RawMemory.getLong(context.adapter().base() + AdapterLayout.poolEntry(Commons.index(pool
                .number())) + AdapterLayout.POOL_INBOX);
        long line = context.commons().line(pool.number());
        int[] found = new int[1];
        Seeds.each(3000, random -> {
            for (int i = 0; i < RECEIVES; i++) {
                srq.receiveQueue().post(i, memory, 4096L * i, 4096);
            }
            long posted = pool.receives().posted();
            for (int i = random.nextInt(6); i > 0; i--) {
                long next = RawMemory.getLong(line + CommonsLayout.NEXT);
                if (next < posted) {
                    RawMemory.putLong(line + CommonsLayout.NEXT, next + 1);
                    long claim = pool.receives().at(next);
                    long e = random.nextInt(8) == 0
                            ? inbox + ((long) random.nextInt(RECEIVES) << LaneLayout.ENTRY_SHIFT)
                            : Inbox.entry(inbox, claim);
                    Inbox.address(e, random.nextInt(8) == 0 ? GarbageNumbers.next(random) : claim, GarbageNumbers.next(
                            random), random
                                    .nextInt(), random.nextInt());
                    RawMemory.putInt(e + LaneLayout.LENGTH, (int) GarbageNumbers.next(random));
                    RawMemory.putLongRelease(e + LaneLayout.COMMIT, random.nextInt(8) == 0
                            ? GarbageNumbers.next(random)
                            : Claim.position(claim) + 1 & 0xffffffffL | random.nextLong() << 32);
                }
            }
            found[0] += poll();
            for (long claim : pool.receives().outstanding()) { // receives still outstanding are completed at last
                if (Claim.isBefore(claim, RawMemory.getLong(line + CommonsLayout.NEXT))) {
                    Inbox.address(Inbox.entry(inbox, claim), claim, 0, 0, 0);
                    Inbox.commit(Inbox.entry(inbox, claim), claim, 0, 0, 0, 0, 0, false);
                }
            }
            poll();
        });
        assertThat(found[0]).as("completions").isGreaterThan(1000);
    }

    private int poll() {
        int n = 0;
        for (; n < 2 * RECEIVES && cq.startPoll() == 0; n++) {
            assertThat(cq.wrId()).isBetween(0L, RECEIVES - 1L);
            assertThat(WcStatus.toString(cq.status())).isNotBlank();
            cq.endPoll();
        }
        return n;
    }
}
