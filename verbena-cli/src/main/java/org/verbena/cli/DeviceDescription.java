// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import java.lang.reflect.Field;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;

import org.verbena.linux.Errno;
import org.verbena.verbs.AtomicCapability;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.GidType;
import org.verbena.verbs.NodeType;
import org.verbena.verbs.OdpCapabilities;
import org.verbena.verbs.PacketPacingCapabilities;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.RssCapabilities;
import org.verbena.verbs.SegmentationCapabilities;
import org.verbena.verbs.VerbsException;

/** The attributes of a device, with the names and in the order of {@code ibv_devinfo}. */
final class DeviceDescription {
    /** Key of the map: the ports of a device. */
    static final String PORTS = "ports";
    /** Keys of the map of a port: its GIDs, and lists of the same length with their attributes. */
    static final String GIDS = "gids";
    static final String GID_TYPES = "gid_types";
    static final String GID_NETDEVS = "gid_netdevs";
    /** Key of the map of a port: its partitions. */
    static final String PKEYS = "pkeys";

    private static final int ALL_PORTS = 0;
    private static final String[] ODP = {"SEND", "RECV", "WRITE", "READ", "ATOMIC", "SRQ_RECV", "FLUSH",
        "ATOMIC_WRITE"};
    private static final String[] ODP_GENERAL = {"ODP_SUPPORT", "ODP_SUPPORT_IMPLICIT"};

    private final boolean all;
    private final int port;

    /**
     * Makes one.
     *
     * @param all whether to include everything that is known
     * @param port the only one to describe; 0 for all
     */
    DeviceDescription(boolean all, int port) {
        this.all = all;
        this.port = port;
    }

    /**
     * Queries the device, which is opened for that.
     *
     * @throws VerbsException if it cannot be opened, or has no such port
     */
    Map<String, Object> of(Device d) throws VerbsException {
        try (Context context = d.open()) {
            DeviceAttributes a = context.queryDevice();
            Map<String, Object> m = begin(d);
            m.put("fw_ver", a.firmwareVersion());
            m.put("node_guid", guid(a.nodeGuid()));
            if (all && !d.backEnd().isEmpty()) {
                m.put("back_end", d.backEnd());
            }
            if (all) {
                m.put("node_type", NodeType.toString(d.nodeType()));
                limits(m, a, context);
                offload(m, a);
                m.put("features", features(context));
            }
            m.put("phys_port_cnt", a.physicalPortCount());
            List<Map<String, Object>> ports = new ArrayList<>();
            for (int p = port == ALL_PORTS ? 1 : port; p <= (port == ALL_PORTS ? a.physicalPortCount() : port); p++) {
                ports.add(port(context, p));
            }
            m.put(PORTS, ports);
            return m;
        }
    }

    /** The description of a device that cannot be opened. */
    static Map<String, Object> closed(Device d, String reason) {
        Map<String, Object> m = begin(d);
        m.put("node_guid", guid(d.guid()));
        m.put("not_opened", reason);
        return m;
    }

    /** What the device does that others may not do, by the names of {@link Feature}. */
    private static List<String> features(Context context) {
        List<String> all = new ArrayList<>();
        for (Field f : Feature.class.getFields()) {
            try {
                if (f.getType() == String.class && context.supports((String) f.get(null))) {
                    all.add((String) f.get(null));
                }
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e); // public constants of a public class
            }
        }
        Collections.sort(all);
        return all;
    }

    private static Map<String, Object> begin(Device d) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("hca_id", d.name());
        m.put("provider", d.provider());
        m.put("transport", d.transport());
        return m;
    }

    private static void limits(Map<String, Object> m, DeviceAttributes a, Context context) {
        m.put("sys_image_guid", guid(a.systemImageGuid()));
        m.put("vendor_id", hex(a.vendorId()));
        m.put("vendor_part_id", a.vendorPartId());
        m.put("hw_ver", hex(a.hardwareVersion()));
        m.put("max_mr_size", a.maxMrSize());
        m.put("page_size_cap", hex(a.pageSizeCap()));
        m.put("max_qp", a.maxQp());
        m.put("max_qp_wr", a.maxQpWr());
        m.put("device_cap_flags", hex(a.capabilityFlags()));
        m.put("device_cap_flag_names", a.capabilityFlags() == 0
                ? List.of()
                : List.of(DeviceCapabilityFlags.toString(a.capabilityFlags()).split("\\|", -1)));
        m.put("max_sge", a.maxSge());
        m.put("max_inline_data", a.maxInlineData());
        m.put("max_cq", a.maxCq());
        m.put("max_cqe", a.maxCqe());
        m.put("max_mr", a.maxMr());
        m.put("max_pd", a.maxPd());
        m.put("max_qp_rd_atom", a.maxQpRdAtom());
        m.put("max_qp_init_rd_atom", a.maxQpInitRdAtom());
        m.put("atomic_cap", "ATOMIC_" + AtomicCapability.toString(a.atomicCapability()));
        m.put("max_mw", a.maxMw());
        m.put("max_mcast_grp", a.maxMulticastGroups());
        m.put("max_mcast_qp_attach", a.maxMulticastQueuePairs());
        m.put("max_total_mcast_qp_attach", a.maxMulticastAttachments());
        m.put("max_ah", a.maxAh());
        m.put("max_srq", a.maxSrq());
        m.put("max_srq_wr", a.maxSrqWr());
        m.put("max_srq_sge", a.maxSrqSge());
        m.put("max_pkeys", a.maxPkeys());
        m.put("local_ca_ack_delay", a.localAckDelay());
        m.put("num_comp_vectors", context.completionVectors());
        OdpCapabilities odp = a.odpCapabilities();
        if (odp != null) {
            m.put("general_odp_caps", names(odp.general(), ODP_GENERAL, ""));
            m.put("rc_odp_caps", names(odp.rc(), ODP, "SUPPORT_"));
            m.put("uc_odp_caps", names(odp.uc(), ODP, "SUPPORT_"));
            m.put("ud_odp_caps", names(odp.ud(), ODP, "SUPPORT_"));
            m.put("xrc_odp_caps", names(odp.xrc(), ODP, "SUPPORT_"));
        }
        a.completionTimestampMask().ifPresent(v -> m.put("completion_timestamp_mask", hex(v)));
        a.coreClockKilohertz().ifPresent(v -> m.put("hca_core_clock", v));
        put(m, "max_cq_count", a.maxCqModerationCount());
        put(m, "max_cq_period", a.maxCqModerationPeriodMicros());
        a.maxDeviceMemory().ifPresent(v -> m.put("max_dm_size", v));
    }

    /** The attributes of devices that parse packets, if they report them. */
    private static void offload(Map<String, Object> m, DeviceAttributes a) {
        a.rawPacketCapabilities().ifPresent(v -> m.put("raw_packet_caps", hex(v)));
        put(m, "raw_receive_buffer", a.rawReceiveBuffer());
        put(m, "raw_receive_offset", a.rawReceiveOffset());
        SegmentationCapabilities tso = a.segmentationCapabilities();
        if (tso != null) {
            m.put("max_tso", tso.maxBytes());
            m.put("tso_supported_qp", hex(tso.queuePairTypes()));
        }
        RssCapabilities rss = a.rssCapabilities();
        if (rss != null) {
            m.put("max_rwq_indirection_tables", rss.maxIndirectionTables());
            m.put("max_rwq_indirection_table_size", rss.maxIndirectionTableSize());
            m.put("rx_hash_function", hex(rss.hashFunctions()));
            m.put("rx_hash_fields_mask", hex(rss.hashFields()));
            m.put("rss_supported_qp", hex(rss.queuePairTypes()));
        }
        put(m, "max_wq_type_rq", a.maxWorkQueues());
        PacketPacingCapabilities pacing = a.packetPacingCapabilities();
        if (pacing != null) {
            m.put("qp_rate_limit_min", pacing.minKilobits());
            m.put("qp_rate_limit_max", pacing.maxKilobits());
            m.put("packet_pacing_supported_qp", hex(pacing.queuePairTypes()));
        }
    }

    private Map<String, Object> port(Context context, int number) throws VerbsException {
        PortAttributes p = context.queryPort(number);
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("port", number);
        m.put("state", p.stateName());
        m.put("max_mtu", p.maxMtu());
        m.put("active_mtu", p.activeMtu());
        put(m, "sm_lid", p.smLid());
        put(m, "port_lid", p.lid());
        put(m, "port_lmc", p.lidMaskControl());
        m.put("link_layer", p.linkLayer());
        if (all) {
            m.put("max_msg_sz", p.maxMessageSize());
            p.capabilityFlags().ifPresent(v -> m.put("port_cap_flags", hex(v)));
            p.capabilityFlags2().ifPresent(v -> m.put("port_cap_flags2", hex(v)));
            put(m, "max_vl_num", p.maxVirtualLaneNumber());
            put(m, "bad_pkey_cntr", p.badPkeyCounter());
            put(m, "qkey_viol_cntr", p.qkeyViolationCounter());
            put(m, "sm_sl", p.smServiceLevel());
            m.put("pkey_tbl_len", p.pkeyTableLength());
            m.put("gid_tbl_len", p.gidTableLength());
            put(m, "subnet_timeout", p.subnetTimeout());
            put(m, "init_type_reply", p.initTypeReply());
            put(m, "active_width", p.activeWidth());
            put(m, "active_speed", p.activeSpeed());
            put(m, "phys_state", p.physicalState());
            gids(m, context, number, p);
            pkeys(m, context, number, p);
        }
        return m;
    }

    private static void gids(Map<String, Object> m, Context context, int number, PortAttributes p)
            throws VerbsException {
        boolean ethernet = p.linkLayer().equals("Ethernet");
        List<String> gids = new ArrayList<>();
        List<String> types = new ArrayList<>();
        List<String> netdevs = new ArrayList<>();
        for (int i = 0; i < p.gidTableLength(); i++) {
            GidEntry e = context.queryGidEntry(number, i);
            gids.add(text(e.gid(), e.type()));
            types.add(e.type() == GidType.ROCE_V2 ? "RoCE v2" : ethernet ? "IB/RoCE v1" : "");
            netdevs.add(netdev(e.interfaceIndex()));
        }
        m.put(GIDS, gids);
        if (types.stream().anyMatch(t -> !t.isEmpty())) {
            m.put(GID_TYPES, types);
        }
        if (netdevs.stream().anyMatch(n -> !n.isEmpty())) {
            m.put(GID_NETDEVS, netdevs);
        }
    }

    /** The partitions; none of a provider that has no such table. */
    private static void pkeys(Map<String, Object> m, Context context, int number, PortAttributes p)
            throws VerbsException {
        List<String> pkeys = new ArrayList<>();
        try {
            for (int i = 0; i < p.pkeyTableLength(); i++) {
                pkeys.add(hex(context.queryPkey(number, i) & 0xffff));
            }
        } catch (VerbsException e) {
            if (e.errno() != Errno.EOPNOTSUPP) {
                throw e;
            }
        }
        m.put(PKEYS, pkeys);
    }

    /** With all digits, like {@code ibv_devinfo}; a GID of RoCE v2 is written as an IP address. */
    private static String text(Gid gid, int type) {
        return type == GidType.ROCE_V2 ? gid.toString() : allDigits(gid);
    }

    /** Eight groups of four digits. */
    static String allDigits(Gid gid) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            long half = i < 4 ? gid.high() : gid.low();
            b.append(i == 0 ? "" : ":").append(String.format(Locale.ROOT, "%04x", half >>> 16 * (3 - i % 4) & 0xffff));
        }
        return b.toString();
    }

    /** The name of a network interface; empty if there is none. */
    static String netdev(int index) {
        try {
            NetworkInterface n = index > 0 ? NetworkInterface.getByIndex(index) : null;
            return n == null ? "" : n.getName();
        } catch (SocketException e) {
            return "";
        }
    }

    private static List<String> names(int bits, String[] names, String prefix) {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < Integer.SIZE; i++) {
            if ((bits >>> i & 1) != 0) {
                found.add(i < names.length ? prefix + names[i] : hex(1L << i));
            }
        }
        return found;
    }

    private static void put(Map<String, Object> m, String name, OptionalInt value) {
        value.ifPresent(v -> m.put(name, v));
    }

    private static String guid(long guid) {
        String s = String.format(Locale.ROOT, "%016x", guid);
        return s.substring(0, 4) + ":" + s.substring(4, 8) + ":" + s.substring(8, 12) + ":" + s.substring(12);
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }
}
