// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;

/**
 * Compares every offset with gcc's, from the headers of rdma-core (Debian: libibverbs-dev), which may be in another
 * folder: {@code -Dverbena.test.args=-Dverbena.test.include=FOLDER}.
 */
class LayoutTest {
    private static final String INCLUDE = System.getProperty("verbena.test.include", "/usr/include");

    /** Constants whose names differ from the member's: prefix of the constant, structure, and the differing members. */
    private static final Map<String, String> STRUCTS = structs();
    /** Members that some headers do not have yet. */
    private static final List<String> NEW = List.of("QP_EX_FLUSH", "PORT_ACTIVE_SPEED_EX");
    /** Constants that are not offsets of members, or are compared otherwise. */
    private static final List<String> OTHER = List.of("SHIFT", "CONTEXT_SZ", "FW_VER_BYTES", "PORT_BYTES");
    private static final List<Class<?>> TABLES = List.of(Layout.class, DeviceLayout.class);
    /** First members, which are accessed at 0 without a constant. */
    private static final List<String> FIRST = List.of("ibv_async_event, element", "ibv_td_init_attr, comp_mask",
            "ibv_parent_domain_init_attr, pd", "ibv_qp_open_attr, comp_mask", "ibv_cq_init_attr_ex, cqe",
            "ibv_modify_cq_attr, attr_mask", "ibv_counter_attach_attr, counter_desc", "ibv_alloc_dm_attr, length",
            "ibv_rwq_ind_table_init_attr, log_ind_tbl_size", "ibv_ece, vendor_id", "ibv_qp_rate_limit_attr, rate_limit",
            "ibv_srq_attr, max_wr", "ibv_wq_attr, attr_mask", "ibv_xrcd_init_attr, comp_mask", "ibv_gid_entry, gid",
            "ibv_values_ex, comp_mask", "ibv_ah_attr, grh.dgid", "ibv_mw_bind, wr_id", "ibv_mw_bind_info, mr",
            "ibv_wc, wr_id", "ibv_sge, addr", "ibv_recv_wr, wr_id", "ibv_send_wr, wr_id",
            "ibv_qp_init_attr_ex, qp_context",
            "ibv_srq_init_attr_ex, srq_context", "ibv_wq_init_attr, wq_context", "ibv_counters_init_attr, comp_mask",
            "ibv_device_attr_ex, orig_attr");

    private static Map<String, String> structs() {
        Map<String, String> m = new LinkedHashMap<>();
        String all = """
                DEVICE ibv_device
                CONTEXT ibv_context ALLOC_MW=ops.alloc_mw BIND_MW=ops.bind_mw DEALLOC_MW=ops.dealloc_mw POLL_CQ=ops.poll_cq \
                REQ_NOTIFY_CQ=ops.req_notify_cq POST_SRQ_RECV=ops.post_srq_recv POST_SEND=ops.post_send \
                POST_RECV=ops.post_recv
                MR ibv_mr
                MW ibv_mw
                MW_BIND ibv_mw_bind INFO=bind_info
                BIND_INFO ibv_mw_bind_info ACCESS=mw_access_flags
                CHANNEL ibv_comp_channel
                CQ ibv_cq
                CQ_EX ibv_cq_ex READ_WALLCLOCK=read_completion_wallclock_ns
                CQ_INIT ibv_cq_init_attr_ex
                WC ibv_wc FLAGS=wc_flags
                SGE ibv_sge
                RECV_WR ibv_recv_wr
                SEND_WR ibv_send_wr FLAGS=send_flags RDMA_ADDR=wr.rdma.remote_addr RDMA_RKEY=wr.rdma.rkey \
                ATOMIC_ADDR=wr.atomic.remote_addr ATOMIC_COMPARE_ADD=wr.atomic.compare_add ATOMIC_SWAP=wr.atomic.swap \
                ATOMIC_RKEY=wr.atomic.rkey UD_AH=wr.ud.ah UD_QPN=wr.ud.remote_qpn UD_QKEY=wr.ud.remote_qkey \
                XRC_SRQN=qp_type.xrc.remote_srqn BIND_MW=bind_mw.mw BIND_RKEY=bind_mw.rkey BIND_INFO=bind_mw.bind_info \
                TSO_HDR=tso.hdr TSO_HDR_SZ=tso.hdr_sz TSO_MSS=tso.mss
                QP ibv_qp NUM=qp_num
                QP_EX ibv_qp_ex ATOMIC_CMP_SWP=wr_atomic_cmp_swp ATOMIC_FETCH_ADD=wr_atomic_fetch_add BIND_MW=wr_bind_mw \
                LOCAL_INV=wr_local_inv RDMA_READ=wr_rdma_read RDMA_WRITE=wr_rdma_write RDMA_WRITE_IMM=wr_rdma_write_imm \
                SEND=wr_send SEND_IMM=wr_send_imm SEND_INV=wr_send_inv SEND_TSO=wr_send_tso SET_UD_ADDR=wr_set_ud_addr \
                SET_XRC_SRQN=wr_set_xrc_srqn SET_INLINE_DATA=wr_set_inline_data SET_SGE_LIST=wr_set_sge_list \
                START=wr_start COMPLETE=wr_complete ABORT=wr_abort ATOMIC_WRITE=wr_atomic_write FLUSH=wr_flush
                QP_INIT ibv_qp_init_attr_ex TYPE=qp_type RX_HASH_FUNCTION=rx_hash_conf.rx_hash_function \
                RX_HASH_KEY_LEN=rx_hash_conf.rx_hash_key_len RX_HASH_KEY=rx_hash_conf.rx_hash_key \
                RX_HASH_FIELDS=rx_hash_conf.rx_hash_fields_mask SEND_OPS=send_ops_flags
                CAP ibv_qp_cap SEND_WR=max_send_wr RECV_WR=max_recv_wr SEND_SGE=max_send_sge RECV_SGE=max_recv_sge \
                INLINE=max_inline_data
                QP_ATTR ibv_qp_attr STATE=qp_state CUR_STATE=cur_qp_state ACCESS_FLAGS=qp_access_flags AH=ah_attr \
                ALT_AH=alt_ah_attr MAX_DEST_RD_ATOMIC=max_dest_rd_atomic PATH_MIG_STATE=path_mig_state
                AH ibv_ah_attr FLOW_LABEL=grh.flow_label SGID_INDEX=grh.sgid_index HOP_LIMIT=grh.hop_limit \
                TRAFFIC_CLASS=grh.traffic_class
                SRQ ibv_srq
                SRQ_INIT ibv_srq_init_attr_ex TYPE=srq_type
                SRQ_ATTR ibv_srq_attr LIMIT=srq_limit
                XRCD_INIT ibv_xrcd_init_attr
                QP_OPEN ibv_qp_open_attr NUM=qp_num TYPE=qp_type
                WQ ibv_wq NUM=wq_num
                WQ_INIT ibv_wq_init_attr TYPE=wq_type
                WQ_ATTR ibv_wq_attr STATE=wq_state CURR_STATE=curr_wq_state
                IND_TABLE ibv_rwq_ind_table NUM=ind_tbl_num
                IND_TABLE_INIT ibv_rwq_ind_table_init_attr TBL=ind_tbl
                EVENT ibv_async_event TYPE=event_type
                GID_ENTRY ibv_gid_entry TYPE=gid_type IFINDEX=ndev_ifindex
                VALUES ibv_values_ex
                PARENT ibv_parent_domain_init_attr
                TD_INIT ibv_td_init_attr
                MODIFY_CQ ibv_modify_cq_attr COUNT=moderate.cq_count PERIOD=moderate.cq_period
                RATE_LIMIT ibv_qp_rate_limit_attr MAX_BURST=max_burst_sz TYPICAL_PKT=typical_pkt_sz
                ECE ibv_ece
                DM ibv_dm MEMCPY_TO=memcpy_to_dm MEMCPY_FROM=memcpy_from_dm
                DM_INIT ibv_alloc_dm_attr LOG_ALIGN=log_align_req
                COUNTERS_INIT ibv_counters_init_attr
                COUNTER_ATTACH ibv_counter_attach_attr
                ATTR ibv_device_attr
                EX ibv_device_attr_ex ODP_GENERAL=odp_caps.general_caps ODP_RC=odp_caps.per_transport_caps.rc_odp_caps \
                ODP_UC=odp_caps.per_transport_caps.uc_odp_caps ODP_UD=odp_caps.per_transport_caps.ud_odp_caps \
                TSO_MAX=tso_caps.max_tso TSO_QPTS=tso_caps.supported_qpts RSS_QPTS=rss_caps.supported_qpts \
                RSS_MAX_TABLES=rss_caps.max_rwq_indirection_tables \
                RSS_MAX_TABLE_SIZE=rss_caps.max_rwq_indirection_table_size RSS_HASH_FIELDS=rss_caps.rx_hash_fields_mask \
                RSS_HASH_FUNCTION=rss_caps.rx_hash_function PACING_MIN=packet_pacing_caps.qp_rate_limit_min \
                PACING_MAX=packet_pacing_caps.qp_rate_limit_max PACING_QPTS=packet_pacing_caps.supported_qpts \
                CQ_MAX_COUNT=cq_mod_caps.max_cq_count CQ_MAX_PERIOD=cq_mod_caps.max_cq_period
                PORT ibv_port_attr
                """;
        all.lines().forEach(l -> m.put(l.substring(0, l.indexOf(' ')), l.substring(l.indexOf(' ') + 1)));
        return m;
    }

    /** The C expression of a constant. */
    private static String expression(String constant) {
        String prefix = STRUCTS.keySet().stream().filter(p -> constant.startsWith(p + "_")).reduce("", (a, b) -> b
                .length() > a.length() ? b : a);
        assertThat(prefix).as("the structure of " + constant).isNotEmpty();
        String[] struct = STRUCTS.get(prefix).split(" ", -1);
        String member = constant.substring(prefix.length() + 1);
        if (member.equals("BYTES")) {
            return "sizeof(struct " + struct[0] + ")";
        }
        for (int i = 1; i < struct.length; i++) {
            if (struct[i].startsWith(member + "=")) {
                return "offsetof(struct " + struct[0] + ", " + struct[i].substring(member.length() + 1) + ")";
            }
        }
        return "offsetof(struct " + struct[0] + ", " + member.toLowerCase(Locale.ROOT) + ")";
    }

    @Test
    void offsetsMatchHeaders(@TempDir Path folder) throws Exception {
        if (!Files.exists(Path.of(INCLUDE, "infiniband/verbs.h"))) {
            System.out.println("SKIPPED: " + INCLUDE
                    + "/infiniband/verbs.h is not there (libibverbs-dev), which offsets "
                    + "are compared with");
            Assumptions.abort("no headers");
        }
        MockLibrary.needsGcc("compiles the comparison");
        Map<String, Long> expected = new LinkedHashMap<>();
        Map<String, Long> newer = new LinkedHashMap<>();
        for (Class<?> table : TABLES) {
            for (Field f : table.getDeclaredFields()) {
                if (f.getType() == int.class && !OTHER.contains(f.getName())) {
                    (NEW.contains(f.getName()) ? newer : expected).put(expression(f.getName()), (long) f.getInt(null));
                }
            }
        }
        FIRST.forEach(f -> expected.put("offsetof(struct " + f + ")", 0L));
        expected.put("sizeof((struct ibv_device_attr){}.fw_ver)", (long) DeviceLayout.FW_VER_BYTES);
        expected.put("sizeof(struct ibv_port_attr) <= " + DeviceLayout.PORT_BYTES, 1L); // older headers have less
        for (Slot s : Slot.values()) {
            String name = s == Slot.CREATE_FLOW || s == Slot.DESTROY_FLOW ? "ibv_" + s.name() : s.name();
            expected.put("offsetof(struct verbs_context, context) - offsetof(struct verbs_context, " + name.toLowerCase(
                    Locale.ROOT) + ")", (long) s.distance);
        }
        expected.put("offsetof(struct verbs_context, sz) - offsetof(struct verbs_context, context)",
                (long) Layout.CONTEXT_SZ);
        assertThat(expected).hasSizeGreaterThan(330);
        Map<String, Long> actual = ask(folder, new ArrayList<>(expected.keySet()));
        assertThat(actual).isNotNull();
        expected.forEach((e, value) -> assertThat(actual.get(e)).as(e).isEqualTo(value));
        assertThat(newer).hasSameSizeAs(NEW);
        for (Map.Entry<String, Long> n : newer.entrySet()) {
            Map<String, Long> answer = ask(folder, List.of(n.getKey()));
            if (answer == null) {
                System.out.println("NOT COMPARED: these headers are older than " + n.getKey());
            } else {
                assertThat(answer).as(n.getKey()).containsEntry(n.getKey(), n.getValue());
            }
        }
        System.out.println("compared with " + INCLUDE + ": " + expected.size() + " offsets and sizes");
    }

    /** The values of expressions from gcc; null for an expression that it does not know. */
    private static Map<String, Long> ask(Path folder, List<String> expressions) throws Exception {
        StringBuilder c = new StringBuilder("""
                #include <stddef.h>
                #include <stdio.h>
                #include <infiniband/verbs.h>
                int main(void) {
                """);
        expressions.forEach(e -> c.append("    printf(\"%s\\t%ld\\n\", \"").append(e).append("\", (long) (").append(e)
                .append("));\n"));
        c.append("}\n");
        Path source = Files.writeString(folder.resolve("probe.c"), c);
        Path program = folder.resolve("probe");
        Finished gcc = MockLibrary.run(List.of("gcc", "-w", "-I" + INCLUDE, "-o", program.toString(), source
                .toString()),
                Map.of());
        if (gcc.code() != 0) {
            System.out.println(gcc.output().lines().filter(l -> l.contains("error")).findFirst().orElse(""));
            return null;
        }
        Map<String, Long> answers = new LinkedHashMap<>();
        MockLibrary.run(List.of(program.toString()), Map.of()).output().lines().forEach(l -> answers.put(l.substring(0,
                l
                        .indexOf('\t')), Long.parseLong(l.substring(l.indexOf('\t') + 1))));
        return answers;
    }
}
