// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.nio.ByteOrder;

import org.verbena.linux.spi.SyscallNumber;

/**
 * Offsets of the fields of the structures of {@code infiniband/verbs.h}, in bytes: an ABI that only ever grows at the
 * ends. {@code pthread_mutex_t} is the one type in it that differs between the architectures: 40 bytes on x86-64, 48 on
 * AArch64.
 */
final class Layout {
    /** Additional offset on AArch64 of the fields after a mutex. */
    static final int SHIFT = SyscallNumber.AARCH64 ? 8 : 0;

    // struct ibv_device
    static final int DEVICE_NODE_TYPE = 16;
    static final int DEVICE_TRANSPORT_TYPE = 20;
    static final int DEVICE_BYTES = 664;

    // struct ibv_context, with the inline verbs of struct ibv_context_ops
    static final int CONTEXT_ALLOC_MW = 64;
    static final int CONTEXT_BIND_MW = 72;
    static final int CONTEXT_DEALLOC_MW = 80;
    static final int CONTEXT_POLL_CQ = 96;
    static final int CONTEXT_REQ_NOTIFY_CQ = 104;
    static final int CONTEXT_POST_SRQ_RECV = 168;
    static final int CONTEXT_POST_SEND = 208;
    static final int CONTEXT_POST_RECV = 216;
    static final int CONTEXT_ASYNC_FD = 268;
    static final int CONTEXT_NUM_COMP_VECTORS = 272;
    static final int CONTEXT_ABI_COMPAT = 320 + SHIFT;
    static final int CONTEXT_BYTES = 328 + SHIFT;
    /** {@code size_t sz} of {@code struct verbs_context}, directly below the context. */
    static final int CONTEXT_SZ = -8;

    // struct ibv_mr, ibv_mw
    static final int MR_LKEY = 36;
    static final int MR_RKEY = 40;
    static final int MW_RKEY = 16;
    static final int MW_BIND_BYTES = 48;
    static final int MW_BIND_SEND_FLAGS = 8;
    static final int MW_BIND_INFO = 16;

    // struct ibv_mw_bind_info
    static final int BIND_INFO_ADDR = 8;
    static final int BIND_INFO_LENGTH = 16;
    static final int BIND_INFO_ACCESS = 24;

    // struct ibv_comp_channel, ibv_cq, ibv_cq_ex
    static final int CHANNEL_FD = 8;
    static final int CQ_HANDLE = 24;
    static final int CQ_CQE = 28;
    static final int CQ_EX_STATUS = 132 + SHIFT;
    static final int CQ_EX_WR_ID = 136 + SHIFT;
    static final int CQ_EX_START_POLL = 144 + SHIFT;
    static final int CQ_EX_NEXT_POLL = 152 + SHIFT;
    static final int CQ_EX_END_POLL = 160 + SHIFT;
    static final int CQ_EX_READ_OPCODE = 168 + SHIFT;
    static final int CQ_EX_READ_VENDOR_ERR = 176 + SHIFT;
    static final int CQ_EX_READ_BYTE_LEN = 184 + SHIFT;
    static final int CQ_EX_READ_IMM_DATA = 192 + SHIFT;
    static final int CQ_EX_READ_QP_NUM = 200 + SHIFT;
    static final int CQ_EX_READ_SRC_QP = 208 + SHIFT;
    static final int CQ_EX_READ_WC_FLAGS = 216 + SHIFT;
    static final int CQ_EX_READ_SLID = 224 + SHIFT;
    static final int CQ_EX_READ_SL = 232 + SHIFT;
    static final int CQ_EX_READ_DLID_PATH_BITS = 240 + SHIFT;
    static final int CQ_EX_READ_COMPLETION_TS = 248 + SHIFT;
    static final int CQ_EX_READ_CVLAN = 256 + SHIFT;
    static final int CQ_EX_READ_FLOW_TAG = 264 + SHIFT;
    static final int CQ_EX_READ_TM_INFO = 272 + SHIFT;
    static final int CQ_EX_READ_WALLCLOCK = 280 + SHIFT;

    // struct ibv_cq_init_attr_ex
    static final int CQ_INIT_CHANNEL = 16;
    static final int CQ_INIT_COMP_VECTOR = 24;
    static final int CQ_INIT_WC_FLAGS = 32;
    static final int CQ_INIT_COMP_MASK = 40;
    static final int CQ_INIT_FLAGS = 44;
    static final int CQ_INIT_PARENT_DOMAIN = 48;
    static final int CQ_INIT_BYTES = 56;

    // struct ibv_wc
    static final int WC_STATUS = 8;
    static final int WC_OPCODE = 12;
    static final int WC_VENDOR_ERR = 16;
    static final int WC_BYTE_LEN = 20;
    static final int WC_IMM_DATA = 24;
    static final int WC_QP_NUM = 28;
    static final int WC_SRC_QP = 32;
    static final int WC_FLAGS = 36;
    static final int WC_SLID = 42;
    static final int WC_SL = 44;
    static final int WC_DLID_PATH_BITS = 45;
    static final int WC_BYTES = 48;

    // struct ibv_sge, ibv_recv_wr, ibv_send_wr
    static final int SGE_LENGTH = 8;
    static final int SGE_LKEY = 12;
    static final int SGE_BYTES = 16;
    static final int RECV_WR_NEXT = 8;
    static final int RECV_WR_SG_LIST = 16;
    static final int RECV_WR_NUM_SGE = 24;
    static final int RECV_WR_BYTES = 32;
    static final int SEND_WR_NEXT = 8;
    static final int SEND_WR_SG_LIST = 16;
    static final int SEND_WR_NUM_SGE = 24;
    static final int SEND_WR_OPCODE = 28;
    static final int SEND_WR_FLAGS = 32;
    static final int SEND_WR_IMM_DATA = 36;
    static final int SEND_WR_RDMA_ADDR = 40;
    static final int SEND_WR_RDMA_RKEY = 48;
    static final int SEND_WR_ATOMIC_ADDR = 40;
    static final int SEND_WR_ATOMIC_COMPARE_ADD = 48;
    static final int SEND_WR_ATOMIC_SWAP = 56;
    static final int SEND_WR_ATOMIC_RKEY = 64;
    static final int SEND_WR_UD_AH = 40;
    static final int SEND_WR_UD_QPN = 48;
    static final int SEND_WR_UD_QKEY = 52;
    static final int SEND_WR_XRC_SRQN = 72;
    static final int SEND_WR_BIND_MW = 80;
    static final int SEND_WR_BIND_RKEY = 88;
    static final int SEND_WR_BIND_INFO = 96;
    static final int SEND_WR_TSO_HDR = 80;
    static final int SEND_WR_TSO_HDR_SZ = 88;
    static final int SEND_WR_TSO_MSS = 90;
    static final int SEND_WR_BYTES = 128;

    // struct ibv_qp, ibv_qp_ex
    static final int QP_NUM = 52;
    static final int QP_STATE = 56;
    static final int QP_EX_WR_ID = 168 + SHIFT;
    static final int QP_EX_WR_FLAGS = 176 + SHIFT;
    static final int QP_EX_ATOMIC_CMP_SWP = 184 + SHIFT;
    static final int QP_EX_ATOMIC_FETCH_ADD = 192 + SHIFT;
    static final int QP_EX_BIND_MW = 200 + SHIFT;
    static final int QP_EX_LOCAL_INV = 208 + SHIFT;
    static final int QP_EX_RDMA_READ = 216 + SHIFT;
    static final int QP_EX_RDMA_WRITE = 224 + SHIFT;
    static final int QP_EX_RDMA_WRITE_IMM = 232 + SHIFT;
    static final int QP_EX_SEND = 240 + SHIFT;
    static final int QP_EX_SEND_IMM = 248 + SHIFT;
    static final int QP_EX_SEND_INV = 256 + SHIFT;
    static final int QP_EX_SEND_TSO = 264 + SHIFT;
    static final int QP_EX_SET_UD_ADDR = 272 + SHIFT;
    static final int QP_EX_SET_XRC_SRQN = 280 + SHIFT;
    static final int QP_EX_SET_INLINE_DATA = 288 + SHIFT;
    static final int QP_EX_SET_SGE_LIST = 312 + SHIFT;
    static final int QP_EX_START = 320 + SHIFT;
    static final int QP_EX_COMPLETE = 328 + SHIFT;
    static final int QP_EX_ABORT = 336 + SHIFT;
    static final int QP_EX_ATOMIC_WRITE = 344 + SHIFT;
    static final int QP_EX_FLUSH = 352 + SHIFT;

    // struct ibv_qp_init_attr, ibv_qp_init_attr_ex
    static final int QP_INIT_SEND_CQ = 8;
    static final int QP_INIT_RECV_CQ = 16;
    static final int QP_INIT_SRQ = 24;
    static final int QP_INIT_CAP = 32;
    static final int QP_INIT_TYPE = 52;
    static final int QP_INIT_SQ_SIG_ALL = 56;
    static final int QP_INIT_COMP_MASK = 60;
    static final int QP_INIT_PD = 64;
    static final int QP_INIT_XRCD = 72;
    static final int QP_INIT_CREATE_FLAGS = 80;
    static final int QP_INIT_MAX_TSO_HEADER = 84;
    static final int QP_INIT_RWQ_IND_TBL = 88;
    static final int QP_INIT_RX_HASH_FUNCTION = 96;
    static final int QP_INIT_RX_HASH_KEY_LEN = 97;
    static final int QP_INIT_RX_HASH_KEY = 104;
    static final int QP_INIT_RX_HASH_FIELDS = 112;
    static final int QP_INIT_SOURCE_QPN = 120;
    static final int QP_INIT_SEND_OPS = 128;
    static final int QP_INIT_BYTES = 136;

    // struct ibv_qp_cap
    static final int CAP_SEND_WR = 0;
    static final int CAP_RECV_WR = 4;
    static final int CAP_SEND_SGE = 8;
    static final int CAP_RECV_SGE = 12;
    static final int CAP_INLINE = 16;

    // struct ibv_qp_attr
    static final int QP_ATTR_STATE = 0;
    static final int QP_ATTR_CUR_STATE = 4;
    static final int QP_ATTR_PATH_MTU = 8;
    static final int QP_ATTR_PATH_MIG_STATE = 12;
    static final int QP_ATTR_QKEY = 16;
    static final int QP_ATTR_RQ_PSN = 20;
    static final int QP_ATTR_SQ_PSN = 24;
    static final int QP_ATTR_DEST_QP_NUM = 28;
    static final int QP_ATTR_ACCESS_FLAGS = 32;
    static final int QP_ATTR_CAP = 36;
    static final int QP_ATTR_AH = 56;
    static final int QP_ATTR_ALT_AH = 88;
    static final int QP_ATTR_PKEY_INDEX = 120;
    static final int QP_ATTR_ALT_PKEY_INDEX = 122;
    static final int QP_ATTR_EN_SQD_ASYNC_NOTIFY = 124;
    static final int QP_ATTR_SQ_DRAINING = 125;
    static final int QP_ATTR_MAX_RD_ATOMIC = 126;
    static final int QP_ATTR_MAX_DEST_RD_ATOMIC = 127;
    static final int QP_ATTR_MIN_RNR_TIMER = 128;
    static final int QP_ATTR_PORT_NUM = 129;
    static final int QP_ATTR_TIMEOUT = 130;
    static final int QP_ATTR_RETRY_CNT = 131;
    static final int QP_ATTR_RNR_RETRY = 132;
    static final int QP_ATTR_ALT_PORT_NUM = 133;
    static final int QP_ATTR_ALT_TIMEOUT = 134;
    static final int QP_ATTR_RATE_LIMIT = 136;
    static final int QP_ATTR_BYTES = 144;

    // struct ibv_ah_attr
    static final int AH_FLOW_LABEL = 16;
    static final int AH_SGID_INDEX = 20;
    static final int AH_HOP_LIMIT = 21;
    static final int AH_TRAFFIC_CLASS = 22;
    static final int AH_DLID = 24;
    static final int AH_SL = 26;
    static final int AH_SRC_PATH_BITS = 27;
    static final int AH_STATIC_RATE = 28;
    static final int AH_IS_GLOBAL = 29;
    static final int AH_PORT_NUM = 30;
    static final int AH_BYTES = 32;

    // struct ibv_srq, ibv_srq_init_attr, ibv_srq_init_attr_ex, ibv_srq_attr
    static final int SRQ_HANDLE = 24;
    static final int SRQ_INIT_ATTR = 8;
    static final int SRQ_INIT_COMP_MASK = 20;
    static final int SRQ_INIT_TYPE = 24;
    static final int SRQ_INIT_PD = 32;
    static final int SRQ_INIT_XRCD = 40;
    static final int SRQ_INIT_CQ = 48;
    static final int SRQ_INIT_BYTES = 64;
    static final int SRQ_ATTR_MAX_SGE = 4;
    static final int SRQ_ATTR_LIMIT = 8;
    static final int SRQ_ATTR_BYTES = 12;

    // struct ibv_xrcd_init_attr, ibv_qp_open_attr
    static final int XRCD_INIT_FD = 4;
    static final int XRCD_INIT_OFLAGS = 8;
    static final int XRCD_INIT_BYTES = 12;
    static final int QP_OPEN_NUM = 4;
    static final int QP_OPEN_XRCD = 8;
    static final int QP_OPEN_TYPE = 24;
    static final int QP_OPEN_BYTES = 32;

    // struct ibv_wq_init_attr, ibv_wq_attr, ibv_wq, ibv_rwq_ind_table, ibv_rwq_ind_table_init_attr
    static final int WQ_INIT_TYPE = 8;
    static final int WQ_INIT_MAX_WR = 12;
    static final int WQ_INIT_MAX_SGE = 16;
    static final int WQ_INIT_PD = 24;
    static final int WQ_INIT_CQ = 32;
    static final int WQ_INIT_COMP_MASK = 40;
    static final int WQ_INIT_CREATE_FLAGS = 44;
    static final int WQ_INIT_BYTES = 48;
    static final int WQ_ATTR_STATE = 4;
    static final int WQ_ATTR_CURR_STATE = 8;
    static final int WQ_ATTR_FLAGS = 12;
    static final int WQ_ATTR_FLAGS_MASK = 16;
    static final int WQ_ATTR_BYTES = 20;
    static final int WQ_NUM = 32;
    static final int WQ_STATE = 40;
    static final int WQ_POST_RECV = 48;
    static final int WQ_MUTEX = 56;
    static final int WQ_COND = 96 + SHIFT;
    static final int WQ_EVENTS_COMPLETED = 144 + SHIFT;
    static final int IND_TABLE_NUM = 12;
    static final int IND_TABLE_INIT_TBL = 8;
    static final int IND_TABLE_INIT_BYTES = 24;

    // struct ibv_async_event, ibv_gid_entry, ibv_values_ex
    static final int EVENT_TYPE = 8;
    static final int EVENT_BYTES = 16;
    static final int GID_ENTRY_TYPE = 24;
    static final int GID_ENTRY_IFINDEX = 28;
    static final int GID_ENTRY_BYTES = 32;
    static final int VALUES_RAW_CLOCK = 8;
    static final int VALUES_BYTES = 24;

    // struct ibv_parent_domain_init_attr, ibv_td_init_attr, ibv_modify_cq_attr, ibv_qp_rate_limit_attr, ibv_ece
    static final int PARENT_TD = 8;
    static final int PARENT_BYTES = 48;
    static final int TD_INIT_BYTES = 4;
    static final int MODIFY_CQ_COUNT = 4;
    static final int MODIFY_CQ_PERIOD = 6;
    static final int MODIFY_CQ_BYTES = 8;
    static final int RATE_LIMIT_MAX_BURST = 4;
    static final int RATE_LIMIT_TYPICAL_PKT = 8;
    static final int RATE_LIMIT_BYTES = 16;
    static final int ECE_OPTIONS = 4;
    static final int ECE_BYTES = 12;

    // struct ibv_dm, ibv_alloc_dm_attr, ibv_counter_attach_attr
    static final int DM_MEMCPY_TO = 8;
    static final int DM_MEMCPY_FROM = 16;
    static final int DM_INIT_LOG_ALIGN = 8;
    static final int DM_INIT_BYTES = 16;
    static final int COUNTERS_INIT_BYTES = 4;
    static final int COUNTER_ATTACH_INDEX = 4;
    static final int COUNTER_ATTACH_BYTES = 12;

    private Layout() {}

    /** Converts an integer between network order and native order, either way. */
    static int networkOrder(int v) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? v : Integer.reverseBytes(v);
    }

    /** As {@link #networkOrder(int)}. */
    static long networkOrder(long v) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? v : Long.reverseBytes(v);
    }
}
