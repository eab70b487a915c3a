// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * What a device can do, bit by bit, {@code enum ibv_device_cap_flags} and the later bits of {@code
 * device_cap_flags_ex}.
 */
public final class DeviceCapabilityFlags {
    /** Queues of a queue pair can be resized. */
    public static final long RESIZE_MAX_WR = 1L;
    /** Wrong partition keys are counted. */
    public static final long BAD_PKEY_CNTR = 1L << 1;
    /** Wrong queue keys are counted. */
    public static final long BAD_QKEY_CNTR = 1L << 2;
    /** Raw multicast. */
    public static final long RAW_MULTI = 1L << 3;
    /** Connections move to an alternate path. */
    public static final long AUTO_PATH_MIG = 1L << 4;
    /** The port can be changed in SQD. */
    public static final long CHANGE_PHY_PORT = 1L << 5;
    /** The port of an address handle is checked. */
    public static final long UD_AV_PORT_ENFORCE = 1L << 6;
    /** {@link QueuePairAttributes#CUR_STATE} is honoured. */
    public static final long CURR_QP_STATE_MOD = 1L << 7;
    /** Ports can be shut down. */
    public static final long SHUTDOWN_PORT = 1L << 8;
    /** The type of initialisation can be set. */
    public static final long INIT_TYPE = 1L << 9;
    /** {@link AsyncEventType#PORT_ACTIVE} is raised. */
    public static final long PORT_ACTIVE_EVENT = 1L << 10;
    /** There is a GUID of the system image. */
    public static final long SYS_IMAGE_GUID = 1L << 11;
    /** A peer without receives answers with an RNR NAK. */
    public static final long RC_RNR_NAK_GEN = 1L << 12;
    /** Shared receive queues can be resized. */
    public static final long SRQ_RESIZE = 1L << 13;
    /** Completion queues can be armed for several completions. */
    public static final long N_NOTIFY_CQ = 1L << 14;
    /** Memory windows. */
    public static final long MEM_WINDOW = 1L << 17;
    /** Checksums of datagrams are computed. */
    public static final long UD_IP_CSUM = 1L << 18;
    /** Extended reliable connections. */
    public static final long XRC = 1L << 20;
    /** Local invalidation, and sends that invalidate. */
    public static final long MEM_MGT_EXTENSIONS = 1L << 21;
    /** Memory windows of type 2A. */
    public static final long MEM_WINDOW_TYPE_2A = 1L << 23;
    /** Memory windows of type 2B. */
    public static final long MEM_WINDOW_TYPE_2B = 1L << 24;
    /** Checksums of connected queue pairs are computed. */
    public static final long RC_IP_CSUM = 1L << 25;
    /** Checksums of raw packets are computed, see {@link SendFlags#IP_CSUM}. */
    public static final long RAW_IP_CSUM = 1L << 26;
    /** Flows. */
    public static final long MANAGED_FLOW_STEERING = 1L << 29;
    /** Raw packets keep their frame check sequence. */
    public static final long RAW_SCATTER_FCS = 1L << 34;
    /** Writes to memory can be padded to whole cache lines. */
    public static final long PCI_WRITE_END_PADDING = 1L << 36;
    /** Memory of confidential guests is reached through bounce buffers. */
    public static final long CC_DMA_BOUNCE = 1L << 41;
    /** Sends that do all but leave, see {@link SendFlags#DUMMY}; Verbena's own bit. */
    public static final long DUMMY_SEND = 1L << 62;

    private DeviceCapabilityFlags() {}

    /** The flags by name; unknown bits as a hexadecimal number. */
    public static String toString(long flags) {
        StringBuilder b = new StringBuilder();
        for (long rest = flags; rest != 0; rest &= rest - 1) {
            b.append(b.isEmpty() ? "" : "|").append(name(Long.lowestOneBit(rest)));
        }
        return b.isEmpty() ? "0" : b.toString();
    }

    private static String name(long bit) {
        return switch (Long.numberOfTrailingZeros(bit)) {
            case 0 -> "RESIZE_MAX_WR";
            case 1 -> "BAD_PKEY_CNTR";
            case 2 -> "BAD_QKEY_CNTR";
            case 3 -> "RAW_MULTI";
            case 4 -> "AUTO_PATH_MIG";
            case 5 -> "CHANGE_PHY_PORT";
            case 6 -> "UD_AV_PORT_ENFORCE";
            case 7 -> "CURR_QP_STATE_MOD";
            case 8 -> "SHUTDOWN_PORT";
            case 9 -> "INIT_TYPE";
            case 10 -> "PORT_ACTIVE_EVENT";
            case 11 -> "SYS_IMAGE_GUID";
            case 12 -> "RC_RNR_NAK_GEN";
            case 13 -> "SRQ_RESIZE";
            case 14 -> "N_NOTIFY_CQ";
            case 17 -> "MEM_WINDOW";
            case 18 -> "UD_IP_CSUM";
            case 20 -> "XRC";
            case 21 -> "MEM_MGT_EXTENSIONS";
            case 23 -> "MEM_WINDOW_TYPE_2A";
            case 24 -> "MEM_WINDOW_TYPE_2B";
            case 25 -> "RC_IP_CSUM";
            case 26 -> "RAW_IP_CSUM";
            case 29 -> "MANAGED_FLOW_STEERING";
            case 34 -> "RAW_SCATTER_FCS";
            case 36 -> "PCI_WRITE_END_PADDING";
            case 41 -> "CC_DMA_BOUNCE";
            case 62 -> "DUMMY_SEND";
            default -> "0x" + Long.toHexString(bit);
        };
    }
}
