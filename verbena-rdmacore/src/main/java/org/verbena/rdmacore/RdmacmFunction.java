// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

/** The functions of librdmacm that are called. */
enum RdmacmFunction {
    CREATE_EVENT_CHANNEL("rdma_create_event_channel"),
    DESTROY_EVENT_CHANNEL("rdma_destroy_event_channel"),
    GET_CM_EVENT("rdma_get_cm_event"),
    ACK_CM_EVENT("rdma_ack_cm_event"),
    CREATE_ID("rdma_create_id"),
    DESTROY_ID("rdma_destroy_id"),
    BIND_ADDR("rdma_bind_addr"),
    LISTEN("rdma_listen"),
    GET_SRC_PORT("rdma_get_src_port"),
    RESOLVE_ADDR("rdma_resolve_addr"),
    RESOLVE_ROUTE("rdma_resolve_route"),
    CONNECT("rdma_connect"),
    ACCEPT("rdma_accept"),
    REJECT("rdma_reject"),
    DISCONNECT("rdma_disconnect"),
    INIT_QP_ATTR("rdma_init_qp_attr"),
    ESTABLISH("rdma_establish");

    final String symbol;

    RdmacmFunction(String symbol) {
        this.symbol = symbol;
    }
}
