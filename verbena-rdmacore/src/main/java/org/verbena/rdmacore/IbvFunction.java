// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

/** The exported verbs that are called. */
enum IbvFunction {
    GET_DEVICE_LIST("ibv_get_device_list"),
    FREE_DEVICE_LIST("ibv_free_device_list"),
    GET_DEVICE_NAME("ibv_get_device_name"),
    GET_DEVICE_GUID("ibv_get_device_guid"),
    OPEN_DEVICE("ibv_open_device"),
    CLOSE_DEVICE("ibv_close_device"),
    GET_ASYNC_EVENT("ibv_get_async_event"),
    ACK_ASYNC_EVENT("ibv_ack_async_event"),
    QUERY_DEVICE("ibv_query_device"),
    QUERY_PORT("ibv_query_port"),
    QUERY_GID("ibv_query_gid"),
    QUERY_PKEY("ibv_query_pkey"),
    ALLOC_PD("ibv_alloc_pd"),
    DEALLOC_PD("ibv_dealloc_pd"),
    REG_MR("ibv_reg_mr"),
    DEREG_MR("ibv_dereg_mr"),
    CREATE_COMP_CHANNEL("ibv_create_comp_channel"),
    DESTROY_COMP_CHANNEL("ibv_destroy_comp_channel"),
    CREATE_CQ("ibv_create_cq"),
    RESIZE_CQ("ibv_resize_cq"),
    DESTROY_CQ("ibv_destroy_cq"),
    GET_CQ_EVENT("ibv_get_cq_event"),
    ACK_CQ_EVENTS("ibv_ack_cq_events"),
    CREATE_SRQ("ibv_create_srq"),
    MODIFY_SRQ("ibv_modify_srq"),
    QUERY_SRQ("ibv_query_srq"),
    DESTROY_SRQ("ibv_destroy_srq"),
    CREATE_QP("ibv_create_qp"),
    MODIFY_QP("ibv_modify_qp"),
    QUERY_QP("ibv_query_qp"),
    DESTROY_QP("ibv_destroy_qp"),
    CREATE_AH("ibv_create_ah"),
    DESTROY_AH("ibv_destroy_ah"),
    ATTACH_MCAST("ibv_attach_mcast"),
    DETACH_MCAST("ibv_detach_mcast"),
    REREG_MR("ibv_rereg_mr", "12"),
    QP_TO_QP_EX("ibv_qp_to_qp_ex", "24"),
    REG_MR_IOVA("ibv_reg_mr_iova", "25"),
    REG_MR_IOVA2("ibv_reg_mr_iova2", "28"),
    QUERY_ECE("ibv_query_ece", "31"),
    SET_ECE("ibv_set_ece", "31"),
    QUERY_GID_EX("_ibv_query_gid_ex", "32"),
    REG_DMABUF_MR("ibv_reg_dmabuf_mr", "34"),
    QUERY_QP_DATA_IN_ORDER("ibv_query_qp_data_in_order", "36");

    final String symbol;
    /** The version of rdma-core that introduced it; empty for those that every library has. */
    final String since;

    IbvFunction(String symbol) {
        this(symbol, "");
    }

    IbvFunction(String symbol, String since) {
        this.symbol = symbol;
        this.since = since;
    }

    /** Whether the library is unusable without it. */
    boolean isRequired() {
        return since.isEmpty();
    }
}
