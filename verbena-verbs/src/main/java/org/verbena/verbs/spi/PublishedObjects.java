// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;
import org.verbena.telemetry.SamplePoints;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.WorkQueueInitAttributes;

/** What a context publishes of its objects in the process's {@link CounterFile}, and which cells are counted of them. */
public final class PublishedObjects {
    /** False by {@code -Dverbena.counters=off}, to measure what counting costs: then nothing is counted. */
    public static final boolean COUNTING = !"off".equals(System.getProperty("verbena.counters"));

    /**
     * Which cells a provider counts of objects of a kind, a bit each.
     *
     * @param ud of queue pairs of type UD or RAW_PACKET, of which a provider has one
     * @param xrcReceive of queue pairs of type XRC_RECV
     */
    public record Counted(long rc, long uc, long ud, long xrcSend, long xrcReceive, long cq, long srq, long mr,
            long device) {
        /** What is counted of objects of a kind, of some at least. */
        public long of(int objectType) {
            return !COUNTING ? 0 : switch (objectType) {
                case ObjectType.QP, ObjectType.PORT -> rc | uc | ud | xrcSend | xrcReceive;
                case ObjectType.CQ -> cq;
                case ObjectType.SRQ -> srq;
                case ObjectType.MR -> mr;
                case ObjectType.DEVICE -> device;
                default -> 0;
            };
        }

        private long ofQueuePair(int type) {
            return switch (type) {
                case QueuePairType.RC -> rc;
                case QueuePairType.UC -> uc;
                case QueuePairType.UD, QueuePairType.RAW_PACKET -> ud;
                case QueuePairType.XRC_SEND -> xrcSend;
                case QueuePairType.XRC_RECV -> xrcReceive;
                default -> 0;
            };
        }
    }

    private final String name;
    private final Counted counted;
    private final CounterEntry device;
    private final CounterEntry port;

    /** What a context of the device of that name publishes from now on. */
    public PublishedObjects(String name, Counted counted) {
        this.name = name;
        this.counted = counted;
        device = CounterFile.own().take(ObjectType.DEVICE, 0, name, 0, CounterLayout.SMALL_CELLS,
                counted.of(ObjectType.DEVICE));
        port = CounterFile.own().take(ObjectType.PORT, 1, name, device.id(), CounterLayout.LARGE_CELLS,
                counted.of(ObjectType.PORT));
    }

    /** Cells of sample points that have one of their own, a bit each. */
    public static long cells(int... points) {
        return SamplePoints.bits(points);
    }

    /** The cell of a sample point that has one of its own. */
    public static int cell(int point) {
        return point & CounterLayout.LARGE_CELLS - 1;
    }

    /** There will be no such context. */
    public void close() {
        CounterFile.own().endContext(device);
        device.close();
    }

    /** Of the context itself. */
    public CounterEntry device() {
        return device;
    }

    /** Of its port. */
    public CounterEntry port() {
        return port;
    }

    /** Shows a queue pair; {@code sendCq}, {@code receiveCq} and {@code srq} are entries, or 0. */
    public CounterEntry queuePair(int number, QueuePairInitAttributes init, long sendCq, long receiveCq, long srq) {
        CounterEntry e = take(ObjectType.QP, number, CounterLayout.LARGE_CELLS, counted.ofQueuePair(init.type()));
        e.addUpIn(port);
        set(e, init.type(), sendCq, receiveCq, srq, init.maxSendWr(), init.maxReceiveWr());
        return e;
    }

    /** A queue pair has another peer, or none: 0. */
    public static void setPeer(CounterEntry queuePair, int number, int pid) {
        queuePair.setAttribute(6, number);
        queuePair.setAttribute(7, pid);
    }

    /** Shows a completion queue. */
    public CounterEntry completionQueue(int number, CompletionQueueAttributes a) {
        CounterEntry e = take(ObjectType.CQ, number, CounterLayout.SMALL_CELLS, counted.cq);
        set(e, a.cqe());
        return e;
    }

    /** Shows a shared receive queue. */
    public CounterEntry sharedReceiveQueue(int number, SharedReceiveQueueAttributes a) {
        CounterEntry e = take(ObjectType.SRQ, number, CounterLayout.SMALL_CELLS, counted.srq);
        set(e, a.type(), a.maxWr(), a.maxSge());
        return e;
    }

    /** Shows a work queue; {@code cq} is an entry, or 0, and {@code cells} are those that are counted of it. */
    public CounterEntry workQueue(int number, WorkQueueInitAttributes init, long cq, long cells) {
        CounterEntry e = take(ObjectType.WQ, number, CounterLayout.LARGE_CELLS, cells);
        e.addUpIn(port);
        set(e, cq, init.maxWr());
        return e;
    }

    /** Shows a memory region; {@code pd} is an entry, or 0. */
    public CounterEntry memoryRegion(int key, long pd, long address, long length, int access) {
        CounterEntry e = take(ObjectType.MR, key, CounterLayout.SMALL_CELLS, counted.mr);
        set(e, pd, address, length, access, Integer.toUnsignedLong(key));
        return e;
    }

    /** Shows a flow; {@code qp} is an entry, and {@code cells} are those that are counted of the flow. */
    public CounterEntry flow(int number, FlowAttributes a, long qp, long cells) {
        CounterEntry e = take(ObjectType.FLOW, number, CounterLayout.SMALL_CELLS, cells);
        set(e, qp, a.type(), a.priority(), a.flags());
        return e;
    }

    /** Shows a protection domain. */
    public CounterEntry protectionDomain(int index) {
        return take(ObjectType.PD, index, CounterLayout.SMALL_CELLS, 0);
    }

    private CounterEntry take(int type, int number, int cells, long points) {
        return CounterFile.own().take(type, number, name, device.id(), cells, COUNTING ? points : 0);
    }

    private static void set(CounterEntry e, long... attributes) {
        for (int i = 0; i < attributes.length; i++) {
            e.setAttribute(i, attributes[i]);
        }
    }
}
