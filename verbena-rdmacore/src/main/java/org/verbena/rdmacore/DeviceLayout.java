// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

/**
 * Offsets of the attributes of a device and its ports, in bytes: as in {@link Layout}, the same on all architectures.
 */
final class DeviceLayout {
    // struct ibv_device_attr
    static final int ATTR_FW_VER = 0;
    static final int ATTR_NODE_GUID = 64;
    static final int ATTR_SYS_IMAGE_GUID = 72;
    static final int ATTR_MAX_MR_SIZE = 80;
    static final int ATTR_PAGE_SIZE_CAP = 88;
    static final int ATTR_VENDOR_ID = 96;
    static final int ATTR_VENDOR_PART_ID = 100;
    static final int ATTR_HW_VER = 104;
    static final int ATTR_MAX_QP = 108;
    static final int ATTR_MAX_QP_WR = 112;
    static final int ATTR_DEVICE_CAP_FLAGS = 116;
    static final int ATTR_MAX_SGE = 120;
    static final int ATTR_MAX_CQ = 128;
    static final int ATTR_MAX_CQE = 132;
    static final int ATTR_MAX_MR = 136;
    static final int ATTR_MAX_PD = 140;
    static final int ATTR_MAX_QP_RD_ATOM = 144;
    static final int ATTR_MAX_QP_INIT_RD_ATOM = 156;
    static final int ATTR_ATOMIC_CAP = 164;
    static final int ATTR_MAX_MW = 176;
    static final int ATTR_MAX_MCAST_GRP = 188;
    static final int ATTR_MAX_MCAST_QP_ATTACH = 192;
    static final int ATTR_MAX_TOTAL_MCAST_QP_ATTACH = 196;
    static final int ATTR_MAX_AH = 200;
    static final int ATTR_MAX_SRQ = 212;
    static final int ATTR_MAX_SRQ_WR = 216;
    static final int ATTR_MAX_SRQ_SGE = 220;
    static final int ATTR_MAX_PKEYS = 224;
    static final int ATTR_LOCAL_CA_ACK_DELAY = 226;
    static final int ATTR_PHYS_PORT_CNT = 227;
    static final int FW_VER_BYTES = 64;

    // struct ibv_device_attr_ex, which begins with that
    static final int EX_ODP_GENERAL = 240;
    static final int EX_ODP_RC = 248;
    static final int EX_ODP_UC = 252;
    static final int EX_ODP_UD = 256;
    static final int EX_COMPLETION_TIMESTAMP_MASK = 264;
    static final int EX_HCA_CORE_CLOCK = 272;
    static final int EX_DEVICE_CAP_FLAGS_EX = 280;
    static final int EX_TSO_MAX = 288;
    static final int EX_TSO_QPTS = 292;
    static final int EX_RSS_QPTS = 296;
    static final int EX_RSS_MAX_TABLES = 300;
    static final int EX_RSS_MAX_TABLE_SIZE = 304;
    static final int EX_RSS_HASH_FIELDS = 312;
    static final int EX_RSS_HASH_FUNCTION = 320;
    static final int EX_MAX_WQ_TYPE_RQ = 328;
    static final int EX_PACING_MIN = 332;
    static final int EX_PACING_MAX = 336;
    static final int EX_PACING_QPTS = 340;
    static final int EX_RAW_PACKET_CAPS = 344;
    static final int EX_CQ_MAX_COUNT = 368;
    static final int EX_CQ_MAX_PERIOD = 370;
    static final int EX_MAX_DM_SIZE = 376;
    static final int EX_XRC_ODP_CAPS = 392;
    static final int EX_PHYS_PORT_CNT_EX = 396;
    /** As of rdma-core 65; an older library fills less of it, and the rest stays zero. */
    static final int EX_BYTES = 400;

    // struct ibv_port_attr
    static final int PORT_STATE = 0;
    static final int PORT_MAX_MTU = 4;
    static final int PORT_ACTIVE_MTU = 8;
    static final int PORT_GID_TBL_LEN = 12;
    static final int PORT_PORT_CAP_FLAGS = 16;
    static final int PORT_MAX_MSG_SZ = 20;
    static final int PORT_BAD_PKEY_CNTR = 24;
    static final int PORT_QKEY_VIOL_CNTR = 28;
    static final int PORT_PKEY_TBL_LEN = 32;
    static final int PORT_LID = 34;
    static final int PORT_SM_LID = 36;
    static final int PORT_LMC = 38;
    static final int PORT_MAX_VL_NUM = 39;
    static final int PORT_SM_SL = 40;
    static final int PORT_SUBNET_TIMEOUT = 41;
    static final int PORT_INIT_TYPE_REPLY = 42;
    static final int PORT_ACTIVE_WIDTH = 43;
    static final int PORT_ACTIVE_SPEED = 44;
    static final int PORT_PHYS_STATE = 45;
    static final int PORT_LINK_LAYER = 46;
    static final int PORT_PORT_CAP_FLAGS2 = 48;
    static final int PORT_ACTIVE_SPEED_EX = 52;
    /** With {@code active_speed_ex}, which older headers do not have. */
    static final int PORT_BYTES = 56;

    private DeviceLayout() {}
}
