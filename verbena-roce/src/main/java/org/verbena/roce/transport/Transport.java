// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.header.Deth;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.NumberMap;

/**
 * The transport of a context: its queue pairs and their progress. Every caller holds the context's lock.
 *
 * {@snippet :
 * lock.lock();
 * transport.progress(64); // receives packets, runs timers, sends, flushes
 * long sleep = transport.nextDeadline() - wire.nanoTime();
 * lock.unlock();
 * poll(wire.descriptor(), sleep);
 * }
 */
public final class Transport {
    /** When to retry after the wire has accepted no more packets. */
    private static final long FULL_WIRE_NANOS = 50_000;
    /** This many calls with little to do take some microseconds: as long as the application takes for a reply. */
    private static final int DELAY_CALLS = 16;
    /** As long as several request-reply exchanges, see {@link AckDelay}; some tens of microseconds. */
    private static final int LONG_DELAY_CALLS = 128;
    /** One in this many calls in a row reads the clock, which costs a tenth of a call that finds nothing. */
    private static final int CLOCK_EVERY = 8;
    /** After this many full batches in a row timers are checked all the same: some milliseconds of packets. */
    private static final int FULL_BATCHES = 64;
    /** If more arrives at once, the sender has filled its window, or soon will. */
    private static final int DELAYED_PACKETS = 2;

    private record Member(Gid group, TransportQueuePair queuePair) {}

    private final Wire wire;
    private final NumberMap<TransportQueuePair> queuePairs = new NumberMap<>();
    private final Timers timers = new Timers();
    private final List<Member> members = new ArrayList<>();
    private final long[] drops = new long[DropReason.values().length];
    private long allDrops;
    private final Packet packet = new Packet();
    private final RoutingHeader routingHeader = new RoutingHeader();
    private final PacketHandler handler = this::received;

    /** Queue pairs with work that neither a packet nor a timer resumes: a ring, with each at most once. */
    private @Nullable TransportQueuePair[] scheduled = new TransportQueuePair[16];
    private int scheduledHead;
    private int scheduledCount;
    /** ACKs are left pending: a later call sends them. */
    private boolean delaying;
    /** Calls since the first of the pending ACKs. */
    private int waits;
    /** ACKs are pending. */
    private boolean delayed;
    /** Calls since the clock was read. */
    private int callsSinceClockRead;
    /** Calls in a row that have received as many packets as their limit. */
    private int fullBatches;

    /** A transport over a wire, which the caller keeps and closes. */
    public Transport(Wire wire) {
        this.wire = wire;
    }

    /** The wire that carries its packets. */
    public Wire wire() {
        return wire;
    }

    /**
     * Makes a queue pair in state RESET.
     *
     * @param number 24 bits, not in use; 1 is for connection management
     * @param type RC, UC, UD, XRC_SEND or XRC_RECV
     * @param sends an empty ring; of capacity 1 for XRC_RECV, which never uses it
     * @throws IllegalArgumentException for another type, or a number that is in use
     */
    public TransportQueuePair create(int number, int type, QueuePairOwner owner, SendRing sends) {
        if (queuePairs.get(number) != null || number < 0 || number >= QueuePair.MULTICAST) {
            throw new IllegalArgumentException("queue pair number 0x" + Integer.toHexString(number)
                    + " is in use, or exceeds 24 bits");
        }
        TransportQueuePair made = switch (type) {
            case QueuePairType.RC, QueuePairType.XRC_SEND, QueuePairType.XRC_RECV -> new ReliableQueuePair(this, number,
                    type, owner, sends);
            case QueuePairType.UC -> new UnreliableQueuePair(this, number, type, owner, sends);
            case QueuePairType.UD -> new DatagramQueuePair(this, number, type, owner, sends);
            default -> throw new IllegalArgumentException("no transport for queue pairs of type "
                    + QueuePairType.toString(type));
        };
        queuePairs.put(number, made);
        return made;
    }

    /** The queue pair with a number; null if there is none. */
    public @Nullable TransportQueuePair find(int number) {
        return queuePairs.get(number);
    }

    /** Datagrams to a group are delivered to this queue pair from now on; attaching twice has no effect. */
    public void attach(TransportQueuePair queuePair, Gid group) {
        Member m = new Member(group, queuePair);
        if (!members.contains(m)) {
            members.add(m);
        }
    }

    /** Undoes {@link #attach}; false if it was not attached. */
    public boolean detach(TransportQueuePair queuePair, Gid group) {
        return members.remove(new Member(group, queuePair));
    }

    /**
     * Makes progress: receives packets, responds to them, runs expired timers, sends, flushes the batch. Timers run
     * after the packets that have arrived: what a timer waits for may be among them if this process was not scheduled
     * for a while.
     *
     * @param limit packets to receive at most
     * @return the number of packets received and timers run; 0 if there was nothing to do
     */
    public int progress(int limit) {
        return progress(limit, false);
    }

    /**
     * As {@link #progress(int)}, for a caller that calls it repeatedly, or else {@link #flushAcks}: an ACK of few packets
     * is sent after {@value #DELAY_CALLS} calls only, so that the reply of the message's receiver leaves before, and
     * one ACK may cover several messages; where both sides take turns, after {@value #LONG_DELAY_CALLS}.
     * {@link #nextDeadline} does not include pending ACKs. Timers are checked in one of {@value #CLOCK_EVERY} calls.
     */
    public int progress(int limit, boolean delayAcks) {
        int done = wire.receive(limit, handler);
        fullBatches = done < limit ? 0 : fullBatches + 1;
        boolean look = fullBatches == 0
                ? !delayAcks || ++callsSinceClockRead >= CLOCK_EVERY
                : fullBatches % FULL_BATCHES == 0;
        if (look && timers.first() != Timers.NEVER) {
            callsSinceClockRead = 0;
            long now = wire.nanoTime();
            if (timers.first() <= now) {
                done += fullBatches == 0 ? wire.receiveAll(FULL_BATCHES * limit, handler) : 0;
                done += expire(now);
            }
        }
        delaying = delayAcks && done <= DELAYED_PACKETS && waits < LONG_DELAY_CALLS;
        work();
        delayed = delaying && scheduledCount > 0;
        waits = delayed ? waits + 1 : 0;
        delaying = false;
        wire.flush();
        return done;
    }

    /** Sends pending ACKs, when no call will follow soon. */
    public void flushAcks() {
        if (delayed) {
            work();
            delayed = false;
            waits = 0;
            wire.flush();
        }
    }

    private void work() {
        for (int n = scheduledCount; n > 0; n--) {
            TransportQueuePair q = takeScheduled();
            if (q.work()) {
                schedule(q);
            }
        }
    }

    /** True if an ACK has to wait, a patient one for longer. */
    boolean delaysAck(boolean longDelay) {
        return delaying && (longDelay || waits < DELAY_CALLS);
    }

    private int expire(long now) {
        int done = 0;
        for (TransportQueuePair q = timers.takeDue(now); q != null; q = timers.takeDue(now)) {
            if (q.deadline() <= now) {
                done++;
                q.expired(now);
            }
            timers.set(q, q.deadline());
        }
        return done;
    }

    /** Sends what {@link TransportQueuePair#post} added to the batch. */
    public void flush() {
        wire.flush();
    }

    /**
     * When {@link #progress} has to be called even if no packet arrives, a time of {@link Wire#nanoTime()}; may be
     * earlier than necessary.
     *
     * @return {@link Long#MAX_VALUE} for never
     */
    public long nextDeadline() {
        if (scheduledCount == 0 || delayed) {
            return timers.first(); // a caller that delays ACKs calls again by itself
        }
        long now = wire.nanoTime();
        return wire.canSend() ? now : Math.min(timers.first(), now + FULL_WIRE_NANOS);
    }

    /** Packets dropped silently, by reason. */
    @SuppressWarnings("EnumOrdinal") // an index of this process only
    public long dropped(DropReason reason) {
        return drops[reason.ordinal()];
    }

    /** All packets dropped silently. */
    public long dropped() {
        return allDrops;
    }

    // ---- for queue pairs

    Timers timers() {
        return timers;
    }

    @SuppressWarnings("EnumOrdinal") // as above
    void drop(DropReason reason) {
        drops[reason.ordinal()]++;
        allDrops++;
    }

    /** Has {@link TransportQueuePair#work} called soon. */
    void schedule(TransportQueuePair q) {
        if (q.scheduled) {
            return;
        }
        if (scheduledCount == scheduled.length) {
            @Nullable TransportQueuePair[] more = new TransportQueuePair[scheduledCount * 2];
            for (int i = 0; i < scheduledCount; i++) {
                more[i] = scheduled[(scheduledHead + i) % scheduledCount];
            }
            scheduled = more;
            scheduledHead = 0;
        }
        q.scheduled = true;
        scheduled[(scheduledHead + scheduledCount++) % scheduled.length] = q;
    }

    private TransportQueuePair takeScheduled() {
        TransportQueuePair q = Objects.requireNonNull(scheduled[scheduledHead]);
        scheduled[scheduledHead] = null;
        scheduledHead = (scheduledHead + 1) % scheduled.length;
        scheduledCount--;
        q.scheduled = false;
        return q;
    }

    void forget(TransportQueuePair q) {
        if (queuePairs.get(q.number()) == q) {
            queuePairs.remove(q.number());
        }
        timers.remove(q);
        members.removeIf(m -> m.queuePair == q);
    }

    /** Address of the header that precedes a datagram in its buffer. */
    long routingHeader(Packet p) {
        return routingHeader.of(p.raw);
    }

    // ---- packets

    private void received(ReceivedPacket raw) {
        Packet p = packet;
        DropReason bad = p.parse(raw);
        if (bad != null) {
            drop(bad);
        } else if (p.destination == QueuePair.MULTICAST) {
            multicast(p);
        } else if (raw.isToGroup()) {
            drop(DropReason.QUEUE_PAIR); // members of a group are addressed by that number only
        } else {
            TransportQueuePair q = queuePairs.get(p.destination);
            if (q == null || !q.state.receives()) {
                drop(DropReason.QUEUE_PAIR);
            } else if (!fits(p, q.type())) {
                drop(DropReason.OPCODE);
            } else {
                deliver(p, q);
            }
        }
    }

    private static void deliver(Packet p, TransportQueuePair q) {
        q.owner.count(SamplePoint.QP_RX_PACKETS, 1);
        q.received(p);
    }

    private static boolean fits(Packet p, int type) {
        return switch (p.transport()) {
            case PacketOpcode.RC -> type == QueuePairType.RC;
            case PacketOpcode.UC -> type == QueuePairType.UC;
            case PacketOpcode.UD -> type == QueuePairType.UD;
            case PacketOpcode.XRC -> type == QueuePairType.XRC_SEND || type == QueuePairType.XRC_RECV;
            default -> p.opcode == PacketOpcode.CNP && type != QueuePairType.UD;
        };
    }

    private void multicast(Packet p) {
        boolean found = false;
        if (p.transport() == PacketOpcode.UD) {
            for (int i = 0; i < members.size(); i++) {
                Member m = members.get(i);
                if (m.group.low() == p.raw.destinationLow && m.group.high() == p.raw.destinationHigh
                        && m.queuePair.state.receives() && !m.queuePair.owner.blocksLoopback(p.raw.sourceHigh,
                                p.raw.sourceLow, Deth.source(p.extended))) {
                    found = true;
                    deliver(p, m.queuePair);
                }
            }
        }
        if (!found) {
            drop(DropReason.QUEUE_PAIR);
        }
    }
}
