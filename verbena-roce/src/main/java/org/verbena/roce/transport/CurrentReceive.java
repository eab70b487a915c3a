// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.QueuePairPoints;

/** The receive work request that the current message is written to. */
final class CurrentReceive {
    private final QueuePairOwner owner;
    private @Nullable ReceiveSource source;
    private @Nullable ReceiveWqe wqe;
    private long room;
    private long offset;
    /** The status of its completion if the queue pair fails. */
    private int failureStatus = WcStatus.WR_FLUSH_ERR;

    CurrentReceive(QueuePairOwner owner) {
        this.owner = owner;
    }

    /** Bytes received so far. */
    long offset() {
        return offset;
    }

    /** Takes the oldest posted receive; false if there is none. */
    boolean take(ReceiveSource from) {
        ReceiveWqe w = from.take();
        if (w == null) {
            return false;
        }
        source = from;
        wqe = w;
        failureStatus = WcStatus.WR_FLUSH_ERR;
        room = ScatterGather.room(w.sgeCount, w.lengths);
        offset = 0;
        return true;
    }

    /** True also for lengths that no memory has, which {@link #put} rejects. */
    boolean hasRoom(int bytes) {
        return room < 0 || bytes <= room - offset;
    }

    /**
     * Appends bytes.
     *
     * @return SUCCESS, LOC_LEN_ERR if they do not fit, LOC_PROT_ERR if the memory may not be written
     */
    int put(long from, int bytes) {
        ReceiveWqe w = wqe;
        ReceiveSource s = source;
        if (w == null || s == null) {
            return WcStatus.GENERAL_ERR;
        }
        if (room < 0) {
            return WcStatus.LOC_PROT_ERR; // lengths that no memory has
        }
        if (!hasRoom(bytes)) {
            return WcStatus.LOC_LEN_ERR;
        }
        if (bytes > 0 && !ScatterGather.scatter(s.memory(), w.sgeCount, w.lkeys, w.addresses, w.lengths, offset, bytes,
                from)) {
            return WcStatus.LOC_PROT_ERR;
        }
        offset += bytes;
        return WcStatus.SUCCESS;
    }

    /** Completes the receive with success. */
    void complete(int opcode, long bytes, int immediate, int wcFlags, int sourceQueuePair, boolean solicited) {
        ReceiveWqe w = wqe;
        if (w != null) {
            w.opcode = opcode;
            w.byteLength = bytes;
            w.immediate = immediate;
            w.wcFlags = wcFlags;
            w.sourceQueuePair = sourceQueuePair;
            w.solicited = solicited;
            owner.count(SamplePoint.QP_RX_RECEIVES, 1);
            if (opcode == WcOpcode.RECV) {
                owner.count(SamplePoint.QP_RX_RECEIVE_BYTES,
                        (wcFlags & WcFlags.GRH) != 0 ? bytes - GlobalRoutingHeader.BYTES : bytes);
            }
            finish(w, WcStatus.SUCCESS);
        }
    }

    /**
     * The queue pair is about to fail because of this receive: the state has to be changed before its completion can be
     * polled.
     */
    void setFailureStatus(int status) {
        failureStatus = status;
    }

    /**
     * The queue pair has failed: completes the receive, if there is one, with the status that was set, or flushes it.
     */
    void fail() {
        ReceiveWqe w = wqe;
        if (w != null) {
            describeFailure(w);
            owner.count(QueuePairPoints.ofFailedReceive(failureStatus), 1);
            finish(w, failureStatus);
        }
    }

    private void finish(ReceiveWqe w, int status) {
        ReceiveSource s = source;
        wqe = null;
        source = null;
        w.status = status;
        if (s != null) {
            owner.received(s, w);
        }
    }

    /** Returns the receive to its queue, as if it had not been taken. */
    void putBack() {
        ReceiveWqe w = wqe;
        ReceiveSource s = source;
        wqe = null;
        source = null;
        if (w != null && s != null) {
            s.putBack(w);
        }
    }

    /** Flushes a receive that no data were written to. */
    static void flush(QueuePairOwner owner, ReceiveSource source, ReceiveWqe w) {
        describeFailure(w);
        w.status = WcStatus.WR_FLUSH_ERR;
        owner.count(SamplePoint.QP_RESP_FLUSHED, 1);
        owner.received(source, w);
    }

    private static void describeFailure(ReceiveWqe w) {
        w.opcode = WcOpcode.RECV;
        w.byteLength = 0;
        w.immediate = 0;
        w.wcFlags = 0;
        w.sourceQueuePair = 0;
        w.solicited = true; // errors always are (11.4.2.2)
    }
}
