// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

/** Offsets of the fields of the structures of {@code rdma/rdma_cma.h}, in bytes: the same on all 64-bit Linux. */
final class CmLayout {
    // struct rdma_event_channel
    static final int CHANNEL_FD = 0;

    // struct rdma_cm_id
    static final int ID_VERBS = 0;
    static final int ID_CONTEXT = 16;
    static final int ID_SRC_ADDR = 32;
    static final int ID_DST_ADDR = 160;
    static final int ID_SGID = 288;
    static final int ID_DGID = 304;

    // struct rdma_cm_event
    static final int EVENT_ID = 0;
    static final int EVENT_LISTEN_ID = 8;
    static final int EVENT_EVENT = 16;
    static final int EVENT_STATUS = 20;
    static final int EVENT_CONN = 24;

    // struct rdma_conn_param
    static final int CONN_PRIVATE_DATA = 0;
    static final int CONN_PRIVATE_DATA_LEN = 8;
    static final int CONN_RESPONDER_RESOURCES = 9;
    static final int CONN_INITIATOR_DEPTH = 10;
    static final int CONN_RETRY_COUNT = 12;
    static final int CONN_RNR_RETRY_COUNT = 13;
    static final int CONN_SRQ = 14;
    static final int CONN_QP_NUM = 16;
    static final int CONN_BYTES = 24;

    // struct sockaddr_in, sockaddr_in6
    static final int SOCKADDR_PORT = 2;
    static final int SOCKADDR_IN_ADDR = 4;
    static final int SOCKADDR_IN6_ADDR = 8;
    static final int SOCKADDR_IN6_SCOPE_ID = 24;
    static final int SOCKADDR_IN6_BYTES = 28;

    private CmLayout() {}
}
