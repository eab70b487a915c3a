// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;

/**
 * {@code struct rdma_conn_param}.
 *
 * @param data at most 56 bytes
 * @param responderResources limit of outstanding reads and atomics of the peer
 * @param initiatorDepth limit of outstanding own ones
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ConnectionValues(byte[] data, int responderResources, int initiatorDepth, int retryCount, int rnrRetry,
        boolean sharedReceives, int queuePair) {
    Struct in(Arena arena) {
        Struct s = new Struct(arena, CmLayout.CONN_BYTES);
        s.putLong(CmLayout.CONN_PRIVATE_DATA, data.length == 0 ? 0 : bytes(arena, data).address());
        s.putByte(CmLayout.CONN_PRIVATE_DATA_LEN, data.length);
        s.putByte(CmLayout.CONN_RESPONDER_RESOURCES, responderResources);
        s.putByte(CmLayout.CONN_INITIATOR_DEPTH, initiatorDepth);
        s.putByte(CmLayout.CONN_RETRY_COUNT, retryCount);
        s.putByte(CmLayout.CONN_RNR_RETRY_COUNT, rnrRetry);
        s.putByte(CmLayout.CONN_SRQ, sharedReceives ? 1 : 0);
        s.putInt(CmLayout.CONN_QP_NUM, queuePair);
        return s;
    }

    static Struct bytes(Arena arena, byte... data) {
        Struct s = new Struct(arena, Math.max(Long.BYTES, data.length));
        for (int i = 0; i < data.length; i++) {
            s.putByte(i, data[i]);
        }
        return s;
    }
}
