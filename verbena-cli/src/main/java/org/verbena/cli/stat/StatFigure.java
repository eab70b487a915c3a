// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.Arrays;
import java.util.Locale;

import org.verbena.erm.RemoteMemorySamplePoint;
import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.stack.model.StackObjectType;
import org.verbena.stack.model.StackSamplePoint;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/**
 * The six figures that {@code verbena stat} shows of every object: each is a sum of sample points, which depend on the
 * kind of object.
 */
enum StatFigure {
    /** Requests carried out; of a memory region, READs of peers. */
    TX,
    /** Bytes sent. */
    TX_BYTES,
    /** Receives completed and requests of the peer; of a completion queue, its completions. */
    RX,
    /** Bytes received. */
    RX_BYTES,
    /** Requests that failed, were refused or were lost; not flushed ones, since every connection ends with some. */
    ERRORS,
    /**
     * Times a request had to wait for the peer; of a connection, writes that found the ring full; of remote memory,
     * copies refused because events were not taken.
     */
    WAITS;

    private static final int[] NONE = {};
    private static final int[] QP_TX = {SamplePoint.QP_TX_SENDS, SamplePoint.QP_TX_WRITES, SamplePoint.QP_TX_READS,
        SamplePoint.QP_TX_ATOMICS, SamplePoint.QP_TX_OTHERS};
    private static final int[] QP_TX_BYTES = {SamplePoint.QP_TX_SEND_BYTES, SamplePoint.QP_TX_WRITE_BYTES,
        SamplePoint.QP_RX_READ_BYTES};
    private static final int[] QP_RX = {SamplePoint.QP_RX_RECEIVES, SamplePoint.QP_RX_WRITES, SamplePoint.QP_RX_READS,
        SamplePoint.QP_RX_ATOMICS};
    private static final int[] QP_RX_BYTES = {SamplePoint.QP_RX_RECEIVE_BYTES, SamplePoint.QP_RX_WRITE_BYTES,
        SamplePoint.QP_TX_READ_BYTES};
    private static final int[] QP_ERRORS = {SamplePoint.QP_TX_LOST, SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS,
        SamplePoint.QP_REQ_LOCAL_PROTECTION_ERRORS, SamplePoint.QP_REQ_REMOTE_INVALID_REQUESTS,
        SamplePoint.QP_REQ_REMOTE_ACCESS_ERRORS, SamplePoint.QP_REQ_REMOTE_OPERATION_ERRORS,
        SamplePoint.QP_REQ_RETRIES_EXCEEDED, SamplePoint.QP_REQ_RNR_RETRIES_EXCEEDED,
        SamplePoint.QP_REQ_OTHER_ERRORS, SamplePoint.QP_RX_LOST, SamplePoint.QP_RESP_LOCAL_LENGTH_ERRORS,
        SamplePoint.QP_RESP_OTHER_ERRORS, SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS,
        SamplePoint.QP_RESP_REMOTE_INVALID_REQUESTS};
    private static final int[] CONNECTION_TX_BYTES = {SocketSamplePoint.CONNECTION_TX_RING_BYTES,
        SocketSamplePoint.CONNECTION_TX_TCP_BYTES};
    private static final int[] CONNECTION_RX_BYTES = {SocketSamplePoint.CONNECTION_RX_RING_BYTES,
        SocketSamplePoint.CONNECTION_RX_TCP_BYTES};
    private static final int[] CONNECTION_WAITS = {SocketSamplePoint.CONNECTION_STALLS};
    private static final int[] QP_WAITS = {SamplePoint.QP_TX_RNR_WAITS, SamplePoint.QP_TX_PEER_WAITS};

    /** Its name in options, keys and JSON, for instance {@code "tx-bytes"}. */
    String title() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** True if it counts bytes. */
    boolean isBytes() {
        return this == TX_BYTES || this == RX_BYTES;
    }

    /** The sample points that it is the sum of, as far as an object has them. */
    int[] points(int objectType) {
        return switch (objectType) {
            case ObjectType.QP -> ofQueuePair();
            case ObjectType.PORT -> moved(ofQueuePair(), SamplePoint.PORT);
            case ObjectType.CQ -> switch (this) {
                case RX -> new int[] {SamplePoint.CQ_COMPLETIONS};
                case ERRORS -> new int[] {SamplePoint.CQ_OVERRUNS};
                default -> NONE;
            };
            case ObjectType.SRQ -> this == RX ? new int[] {SamplePoint.SRQ_RECEIVES} : NONE;
            case ObjectType.WQ -> switch (this) {
                case RX -> new int[] {SamplePoint.WQ_RX_RECEIVES};
                case RX_BYTES -> new int[] {SamplePoint.WQ_RX_RECEIVE_BYTES};
                default -> NONE;
            };
            case ObjectType.MR -> ofMemory();
            case SocketObjectType.CONNECTION -> ofConnection();
            case SocketObjectType.SOCKETS -> moved(ofConnection(), SocketSamplePoint.SOCKETS_TX_RING_BYTES
                    - SocketSamplePoint.CONNECTION_TX_RING_BYTES);
            case RemoteMemorySamplePoint.OBJECT_TYPE -> ofRemoteMemory();
            case SocketObjectType.LISTENER -> this == RX ? new int[] {SocketSamplePoint.LISTENER_ACCEPTED} : NONE;
            case StackObjectType.STACK -> switch (this) {
                case TX -> new int[] {StackSamplePoint.STACK_FRAMES_OUT};
                case RX -> new int[] {StackSamplePoint.STACK_FRAMES_IN};
                default -> NONE;
            };
            case StackObjectType.UDP -> this == ERRORS ? new int[] {StackSamplePoint.UDP_DROPPED} : NONE;
            case ObjectType.DEVICE -> this == ERRORS
                    ? new int[] {SamplePoint.DEVICE_PEERS_LOST, SamplePoint.DEVICE_REJECTS,
                        SamplePoint.DEVICE_QP_ERRORS}
                    : NONE;
            case ObjectType.FLOW -> switch (this) {
                case RX -> new int[] {SamplePoint.PACKETS};
                case RX_BYTES -> new int[] {SamplePoint.BYTES};
                default -> NONE;
            };
            default -> NONE;
        };
    }

    private int[] ofQueuePair() {
        return switch (this) {
            case TX -> QP_TX;
            case TX_BYTES -> QP_TX_BYTES;
            case RX -> QP_RX;
            case RX_BYTES -> QP_RX_BYTES;
            case ERRORS -> QP_ERRORS;
            case WAITS -> QP_WAITS;
        };
    }

    private int[] ofConnection() {
        return switch (this) {
            case TX_BYTES -> CONNECTION_TX_BYTES;
            case RX_BYTES -> CONNECTION_RX_BYTES;
            case WAITS -> CONNECTION_WAITS;
            default -> NONE;
        };
    }

    private static int[] moved(int[] points, int by) {
        return Arrays.stream(points).map(p -> p + by).toArray();
    }

    private int[] ofRemoteMemory() {
        return switch (this) {
            case TX -> new int[] {RemoteMemorySamplePoint.REMOTE_MEMORY_COPIES};
            case TX_BYTES -> new int[] {RemoteMemorySamplePoint.REMOTE_MEMORY_WRITE_BYTES};
            case RX -> new int[] {RemoteMemorySamplePoint.REMOTE_MEMORY_EVENTS};
            case RX_BYTES -> new int[] {RemoteMemorySamplePoint.REMOTE_MEMORY_READ_BYTES};
            case ERRORS -> new int[] {RemoteMemorySamplePoint.REMOTE_MEMORY_FAILED};
            case WAITS -> new int[] {RemoteMemorySamplePoint.REMOTE_MEMORY_STALLS};
        };
    }

    private int[] ofMemory() {
        return switch (this) {
            case TX -> new int[] {SamplePoint.MR_REMOTE_READS};
            case TX_BYTES -> new int[] {SamplePoint.MR_REMOTE_READ_BYTES};
            case RX -> new int[] {SamplePoint.MR_REMOTE_WRITES, SamplePoint.MR_REMOTE_ATOMICS};
            case RX_BYTES -> new int[] {SamplePoint.MR_REMOTE_WRITE_BYTES};
            case ERRORS -> new int[] {SamplePoint.MR_REMOTE_FAULTS};
            case WAITS -> NONE;
        };
    }
}
