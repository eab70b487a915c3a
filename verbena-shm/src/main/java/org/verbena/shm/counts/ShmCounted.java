// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.counts;

import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.ShownObjects;

/** The sample points that shm0 has. */
public final class ShmCounted {
    private static final long SENDS = ShownObjects.cells(SamplePoint.QP_TX_SENDS, SamplePoint.QP_TX_SEND_BYTES,
            SamplePoint.QP_TX_WAKE_UPS, SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS,
            SamplePoint.QP_REQ_LOCAL_PROTECTION_ERRORS, SamplePoint.QP_REQ_FLUSHED, SamplePoint.QP_REQ_OTHER_ERRORS,
            SamplePoint.QP_TX_OTHERS);
    private static final long RECEIVES = ShownObjects.cells(SamplePoint.QP_RX_RECEIVES, SamplePoint.QP_RX_RECEIVE_BYTES,
            SamplePoint.QP_RESP_LOCAL_LENGTH_ERRORS, SamplePoint.QP_RESP_FLUSHED, SamplePoint.QP_RESP_OTHER_ERRORS);
    private static final long WRITES = ShownObjects.cells(SamplePoint.QP_TX_WRITES, SamplePoint.QP_TX_WRITE_BYTES);
    private static final long WRITTEN = ShownObjects.cells(SamplePoint.QP_RX_WRITES, SamplePoint.QP_RX_WRITE_BYTES);
    private static final long READS = ShownObjects.cells(SamplePoint.QP_TX_READS, SamplePoint.QP_TX_READ_BYTES,
            SamplePoint.QP_TX_ATOMICS);
    private static final long READ = ShownObjects.cells(SamplePoint.QP_RX_READS, SamplePoint.QP_RX_READ_BYTES,
            SamplePoint.QP_RX_ATOMICS);
    private static final long LOST = ShownObjects.cells(SamplePoint.QP_TX_LOST);
    private static final long RETRIES = ShownObjects.cells(SamplePoint.QP_TX_RNR_WAITS, SamplePoint.QP_TX_PEER_WAITS,
            SamplePoint.QP_REQ_REMOTE_INVALID_REQUESTS, SamplePoint.QP_REQ_REMOTE_ACCESS_ERRORS,
            SamplePoint.QP_REQ_REMOTE_OPERATION_ERRORS, SamplePoint.QP_REQ_RETRIES_EXCEEDED,
            SamplePoint.QP_REQ_RNR_RETRIES_EXCEEDED);
    private static final long RETRIED = ShownObjects.cells(SamplePoint.QP_RX_OUT_OF_BUFFER,
            SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS, SamplePoint.QP_RESP_REMOTE_INVALID_REQUESTS);

    private static final long RC = SENDS | RECEIVES | WRITES | WRITTEN | READS | READ | RETRIES | RETRIED;
    private static final long UC = SENDS | RECEIVES | WRITES | WRITTEN | LOST;
    private static final long UD = SENDS | RECEIVES | LOST | ShownObjects.cells(SamplePoint.QP_RX_LOST);
    private static final long XRC_SEND = SENDS | WRITES | READS | RETRIES;
    private static final long CQ = ShownObjects.cells(SamplePoint.CQ_COMPLETIONS, SamplePoint.CQ_EMPTY_POLLS,
            SamplePoint.CQ_NOTIFY_REQUESTS, SamplePoint.CQ_EVENTS);
    private static final long SRQ = ShownObjects.cells(SamplePoint.SRQ_POSTED, SamplePoint.SRQ_RECEIVES,
            SamplePoint.SRQ_LIMIT_EVENTS);
    private static final long MR = ShownObjects.cells(SamplePoint.MR_REMOTE_WRITES, SamplePoint.MR_REMOTE_WRITE_BYTES,
            SamplePoint.MR_REMOTE_READS, SamplePoint.MR_REMOTE_READ_BYTES, SamplePoint.MR_REMOTE_ATOMICS,
            SamplePoint.MR_REMOTE_FAULTS);
    private static final long DEVICE = ShownObjects.cells(SamplePoint.DEVICE_PEERS, SamplePoint.DEVICE_PEERS_LOST,
            SamplePoint.DEVICE_CONNECTIONS, SamplePoint.DEVICE_REJECTS, SamplePoint.DEVICE_ASYNC_EVENTS,
            SamplePoint.DEVICE_QP_ERRORS, SamplePoint.DEVICE_WAKE_UPS);

    public static final ShownObjects.Counted ALL = new ShownObjects.Counted(RC, UC, UD, XRC_SEND, 0, CQ, SRQ, MR,
            DEVICE);

    private ShmCounted() {}
}
