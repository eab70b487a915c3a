// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

/**
 * The extended verbs: slots of {@code struct verbs_context}, which grows downwards from {@code struct ibv_context}. A
 * slot's distance below the context is the same in every version; the structure's {@code sz} shows whether it exists.
 */
enum Slot {
    CLOSE_XRCD(24),
    OPEN_XRCD(32),
    CREATE_SRQ_EX(40),
    GET_SRQ_NUM(48),
    CREATE_QP_EX(56),
    OPEN_QP(64),
    CREATE_FLOW(80),
    DESTROY_FLOW(96),
    QUERY_DEVICE_EX(104),
    CREATE_CQ_EX(120),
    QUERY_RT_VALUES(128),
    CREATE_WQ(136),
    MODIFY_WQ(144),
    DESTROY_WQ(152),
    CREATE_RWQ_IND_TABLE(160),
    DESTROY_RWQ_IND_TABLE(168),
    MODIFY_CQ(184),
    ALLOC_TD(192),
    DEALLOC_TD(200),
    ALLOC_PARENT_DOMAIN(208),
    MODIFY_QP_RATE_LIMIT(216),
    FREE_DM(248),
    ALLOC_DM(256),
    REG_DM_MR(264),
    DESTROY_COUNTERS(272),
    CREATE_COUNTERS(280),
    ATTACH_COUNTERS_POINT_FLOW(288),
    READ_COUNTERS(296),
    ALLOC_NULL_MR(304),
    ADVISE_MR(312),
    QUERY_PORT(320);

    /** Bytes below the context. */
    final int distance;

    Slot(int distance) {
        this.distance = distance;
    }
}
