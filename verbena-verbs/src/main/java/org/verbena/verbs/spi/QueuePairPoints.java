// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcStatus;

/** The sample points of queue pairs that more than one provider counts: groups of cells, and the point of a failure. */
public final class QueuePairPoints {
    /** Of whatever sends. */
    public static final long SENDS = PublishedObjects.cells(SamplePoint.QP_TX_SENDS, SamplePoint.QP_TX_SEND_BYTES,
            SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS, SamplePoint.QP_REQ_LOCAL_PROTECTION_ERRORS,
            SamplePoint.QP_REQ_FLUSHED, SamplePoint.QP_REQ_OTHER_ERRORS, SamplePoint.QP_TX_OTHERS);
    /** Of whatever receives. */
    public static final long RECEIVES = PublishedObjects.cells(SamplePoint.QP_RX_RECEIVES,
            SamplePoint.QP_RX_RECEIVE_BYTES,
            SamplePoint.QP_RESP_LOCAL_LENGTH_ERRORS, SamplePoint.QP_RESP_FLUSHED, SamplePoint.QP_RESP_OTHER_ERRORS);
    /** WRITEs of its own. */
    public static final long WRITES = PublishedObjects.cells(SamplePoint.QP_TX_WRITES, SamplePoint.QP_TX_WRITE_BYTES);
    /** WRITEs of the peer. */
    public static final long REMOTE_WRITES = PublishedObjects.cells(SamplePoint.QP_RX_WRITES,
            SamplePoint.QP_RX_WRITE_BYTES);
    /** READs and atomics of its own. */
    public static final long READS = PublishedObjects.cells(SamplePoint.QP_TX_READS, SamplePoint.QP_TX_READ_BYTES,
            SamplePoint.QP_TX_ATOMICS);
    /** READs and atomics of the peer. */
    public static final long REMOTE_READS = PublishedObjects.cells(SamplePoint.QP_RX_READS,
            SamplePoint.QP_RX_READ_BYTES,
            SamplePoint.QP_RX_ATOMICS);
    /** Of a reliable requester: retries, and what the responder refused. */
    public static final long RETRIES = PublishedObjects.cells(SamplePoint.QP_TX_RNR_WAITS, SamplePoint.QP_TX_PEER_WAITS,
            SamplePoint.QP_REQ_REMOTE_INVALID_REQUESTS, SamplePoint.QP_REQ_REMOTE_ACCESS_ERRORS,
            SamplePoint.QP_REQ_REMOTE_OPERATION_ERRORS, SamplePoint.QP_REQ_RETRIES_EXCEEDED,
            SamplePoint.QP_REQ_RNR_RETRIES_EXCEEDED);
    /** Of a reliable responder: RNR NAKs, and what it refused. */
    public static final long REFUSALS = PublishedObjects.cells(SamplePoint.QP_RX_OUT_OF_BUFFER,
            SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS, SamplePoint.QP_RESP_REMOTE_INVALID_REQUESTS);

    private QueuePairPoints() {}

    /** The point of a request that completed with an error. */
    public static int ofFailedRequest(int status) {
        return switch (status) {
            case WcStatus.LOC_LEN_ERR -> SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS;
            case WcStatus.LOC_PROT_ERR -> SamplePoint.QP_REQ_LOCAL_PROTECTION_ERRORS;
            case WcStatus.REM_INV_REQ_ERR -> SamplePoint.QP_REQ_REMOTE_INVALID_REQUESTS;
            case WcStatus.REM_ACCESS_ERR -> SamplePoint.QP_REQ_REMOTE_ACCESS_ERRORS;
            case WcStatus.REM_OP_ERR -> SamplePoint.QP_REQ_REMOTE_OPERATION_ERRORS;
            case WcStatus.RETRY_EXC_ERR -> SamplePoint.QP_REQ_RETRIES_EXCEEDED;
            case WcStatus.RNR_RETRY_EXC_ERR -> SamplePoint.QP_REQ_RNR_RETRIES_EXCEEDED;
            case WcStatus.WR_FLUSH_ERR -> SamplePoint.QP_REQ_FLUSHED;
            default -> SamplePoint.QP_REQ_OTHER_ERRORS;
        };
    }

    /** The point of a receive that completed with an error. */
    public static int ofFailedReceive(int status) {
        return switch (status) {
            case WcStatus.LOC_LEN_ERR -> SamplePoint.QP_RESP_LOCAL_LENGTH_ERRORS;
            case WcStatus.WR_FLUSH_ERR -> SamplePoint.QP_RESP_FLUSHED;
            default -> SamplePoint.QP_RESP_OTHER_ERRORS;
        };
    }

    /** The point of a peer's request that was refused with this event of {@link AsyncEventType}. */
    public static int ofRefusal(int event) {
        return event == AsyncEventType.QP_ACCESS_ERR
                ? SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS
                : SamplePoint.QP_RESP_REMOTE_INVALID_REQUESTS;
    }
}
