package org.verbena.shm;

import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.spi.CounterEntry;
import org.verbena.verbs.spi.CounterFile;
import org.verbena.verbs.spi.CounterLayout;

/** What a context shows of its objects in the process's {@link CounterFile}, and which cells are counted of them. */
final class ShownObjects {
    /** False by {@code -Dverbena.counters=off}, to measure what counting costs: then nothing is counted. */
    static final boolean COUNTING = !"off".equals(System.getProperty("verbena.counters"));

    private static final long SENDS = cells(SamplePoint.QP_TX_SENDS, SamplePoint.QP_TX_SEND_BYTES,
            SamplePoint.QP_TX_WAKE_UPS, SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS,
            SamplePoint.QP_REQ_LOCAL_PROTECTION_ERRORS, SamplePoint.QP_REQ_FLUSHED, SamplePoint.QP_REQ_OTHER_ERRORS,
            SamplePoint.QP_TX_OTHERS);
    private static final long RECEIVES = cells(SamplePoint.QP_RX_RECEIVES, SamplePoint.QP_RX_RECEIVE_BYTES,
            SamplePoint.QP_RESP_LOCAL_LENGTH_ERRORS, SamplePoint.QP_RESP_FLUSHED, SamplePoint.QP_RESP_OTHER_ERRORS);
    private static final long WRITES = cells(SamplePoint.QP_TX_WRITES, SamplePoint.QP_TX_WRITE_BYTES);
    private static final long WRITTEN = cells(SamplePoint.QP_RX_WRITES, SamplePoint.QP_RX_WRITE_BYTES);
    private static final long READS = cells(SamplePoint.QP_TX_READS, SamplePoint.QP_TX_READ_BYTES,
            SamplePoint.QP_TX_ATOMICS);
    private static final long READ = cells(SamplePoint.QP_RX_READS, SamplePoint.QP_RX_READ_BYTES,
            SamplePoint.QP_RX_ATOMICS);
    private static final long LOST = cells(SamplePoint.QP_TX_LOST);
    private static final long RETRIES = cells(SamplePoint.QP_TX_RNR_WAITS, SamplePoint.QP_TX_PEER_WAITS,
            SamplePoint.QP_REQ_REMOTE_INVALID_REQUESTS, SamplePoint.QP_REQ_REMOTE_ACCESS_ERRORS,
            SamplePoint.QP_REQ_REMOTE_OPERATION_ERRORS, SamplePoint.QP_REQ_RETRIES_EXCEEDED,
            SamplePoint.QP_REQ_RNR_RETRIES_EXCEEDED);
    private static final long RETRIED = cells(SamplePoint.QP_RX_OUT_OF_BUFFER,
            SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS, SamplePoint.QP_RESP_REMOTE_INVALID_REQUESTS);

    private static final long RC = SENDS | RECEIVES | WRITES | WRITTEN | READS | READ | RETRIES | RETRIED;
    private static final long UC = SENDS | RECEIVES | WRITES | WRITTEN | LOST;
    private static final long UD = SENDS | RECEIVES | LOST | cells(SamplePoint.QP_RX_LOST);
    private static final long XRC_SEND = SENDS | WRITES | READS | RETRIES;
    private static final long CQ = cells(SamplePoint.CQ_COMPLETIONS, SamplePoint.CQ_EMPTY_POLLS,
            SamplePoint.CQ_NOTIFY_REQUESTS, SamplePoint.CQ_EVENTS);
    private static final long SRQ = cells(SamplePoint.SRQ_POSTED, SamplePoint.SRQ_RECEIVES,
            SamplePoint.SRQ_LIMIT_EVENTS);
    private static final long MR = cells(SamplePoint.MR_REMOTE_WRITES, SamplePoint.MR_REMOTE_WRITE_BYTES,
            SamplePoint.MR_REMOTE_READS, SamplePoint.MR_REMOTE_READ_BYTES, SamplePoint.MR_REMOTE_ATOMICS,
            SamplePoint.MR_REMOTE_FAULTS);
    private static final long DEVICE = cells(SamplePoint.DEVICE_PEERS, SamplePoint.DEVICE_PEERS_LOST,
            SamplePoint.DEVICE_CONNECTIONS, SamplePoint.DEVICE_REJECTS, SamplePoint.DEVICE_ASYNC_EVENTS,
            SamplePoint.DEVICE_QP_ERRORS, SamplePoint.DEVICE_WAKE_UPS);

    private final CounterEntry device;
    private final CounterEntry port;

    ShownObjects() {
        device = CounterFile.own().take(ObjectType.DEVICE, 0, ShmDevice.NAME, 0, CounterLayout.SMALL_CELLS,
                counted(ObjectType.DEVICE));
        port = CounterFile.own().take(ObjectType.PORT, 1, ShmDevice.NAME, device.id(), CounterLayout.LARGE_CELLS,
                counted(ObjectType.PORT));
    }

    private static long cells(int... points) {
        long mask = 0;
        for (int p : points) {
            mask |= 1L << p; // the number's low six bits are the cell
        }
        return mask;
    }

    /** The cell of a sample point that has one of its own. */
    static int cell(int point) {
        return point & CounterLayout.LARGE_CELLS - 1;
    }

    /** What is counted of objects of a kind, of some at least. */
    static long counted(int objectType) {
        return !COUNTING ? 0 : switch (objectType) {
            case ObjectType.QP, ObjectType.PORT -> RC | UC | UD | XRC_SEND;
            case ObjectType.CQ -> CQ;
            case ObjectType.SRQ -> SRQ;
            case ObjectType.MR -> MR;
            case ObjectType.DEVICE -> DEVICE;
            default -> 0;
        };
    }

    /** There will be no such context. */
    void close() {
        CounterFile.own().endContext(device);
        device.close();
    }

    CounterEntry device() {
        return device;
    }

    CounterEntry port() {
        return port;
    }

    CounterEntry queuePair(int number, QueuePairInitAttributes init, long sendCq, long receiveCq, long srq) {
        long counted = switch (init.type()) {
            case QueuePairType.RC -> RC;
            case QueuePairType.UC -> UC;
            case QueuePairType.UD -> UD;
            case QueuePairType.XRC_SEND -> XRC_SEND;
            default -> 0;
        };
        CounterEntry e = take(ObjectType.QP, number, CounterLayout.LARGE_CELLS, counted);
        set(e, init.type(), sendCq, receiveCq, srq, init.maxSendWr(), init.maxReceiveWr());
        return e;
    }

    /** A queue pair has another peer, or none: 0. */
    static void setPeer(CounterEntry queuePair, int number, int pid) {
        queuePair.setAttribute(6, number);
        queuePair.setAttribute(7, pid);
    }

    CounterEntry completionQueue(int number, CompletionQueueAttributes a) {
        CounterEntry e = take(ObjectType.CQ, number, CounterLayout.SMALL_CELLS, CQ);
        set(e, a.cqe());
        return e;
    }

    CounterEntry sharedReceiveQueue(int number, SharedReceiveQueueAttributes a) {
        CounterEntry e = take(ObjectType.SRQ, number, CounterLayout.SMALL_CELLS, SRQ);
        set(e, a.type(), a.maxWr(), a.maxSge());
        return e;
    }

    CounterEntry memoryRegion(Region r, long pd) {
        CounterEntry e = take(ObjectType.MR, r.key, CounterLayout.SMALL_CELLS, MR);
        set(e, pd, r.iova, r.length, r.access, Integer.toUnsignedLong(r.key));
        return e;
    }

    CounterEntry protectionDomain(int index) {
        return take(ObjectType.PD, index, CounterLayout.SMALL_CELLS, 0);
    }

    private CounterEntry take(int type, int number, int cells, long counted) {
        return CounterFile.own().take(type, number, ShmDevice.NAME, device.id(), cells, COUNTING ? counted : 0);
    }

    private static void set(CounterEntry e, long... attributes) {
        for (int i = 0; i < attributes.length; i++) {
            e.setAttribute(i, attributes[i]);
        }
    }
}
