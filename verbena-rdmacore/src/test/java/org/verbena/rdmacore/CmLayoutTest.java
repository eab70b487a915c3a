// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;

/** Compares every offset of {@link CmLayout} with gcc's, from the headers of librdmacm (Debian: librdmacm-dev). */
class CmLayoutTest {
    private static final String INCLUDE = System.getProperty("verbena.test.include", "/usr/include");
    /** Longer prefixes first. */
    private static final String[][] STRUCTS = {{"SOCKADDR_IN6_", "sockaddr_in6", "sin6_"}, {"SOCKADDR_IN_",
        "sockaddr_in", "sin_"}, {"SOCKADDR_", "sockaddr_in", "sin_"}, {"CHANNEL_", "rdma_event_channel", ""}, {
            "ID_", "rdma_cm_id", ""}, {"EVENT_", "rdma_cm_event", ""}, {"CONN_", "rdma_conn_param", ""}};
    private static final Map<String, String> MEMBERS = Map.of("ID_SRC_ADDR", "route.addr.src_addr", "ID_DST_ADDR",
            "route.addr.dst_addr", "ID_SGID", "route.addr.addr.ibaddr.sgid", "ID_DGID", "route.addr.addr.ibaddr.dgid",
            "EVENT_CONN", "param.conn");

    private static String expression(String constant) {
        for (String[] s : STRUCTS) {
            if (constant.startsWith(s[0])) {
                String member = constant.substring(s[0].length()).toLowerCase(Locale.ROOT);
                return member.equals("bytes")
                        ? "sizeof(struct " + s[1] + ")"
                        : "offsetof(struct " + s[1] + ", " + MEMBERS.getOrDefault(constant, s[2] + member) + ")";
            }
        }
        throw new AssertionError("the structure of " + constant);
    }

    @Test
    void offsetsMatchHeaders(@TempDir Path folder) throws Exception {
        MockLibrary.needsGcc("says where the fields of C's structures are");
        if (!Files.exists(Path.of(INCLUDE, "rdma/rdma_cma.h"))) {
            System.out.println("SKIPPED: librdmacm-dev is not installed, whose headers the offsets are compared with");
            Assumptions.abort("no headers");
        }
        StringBuilder c = new StringBuilder("""
                #include <stddef.h>
                #include <netinet/in.h>
                #include <rdma/rdma_cma.h>
                """);
        int n = 0;
        for (Field f : CmLayout.class.getDeclaredFields()) {
            c.append("_Static_assert(").append(expression(f.getName())).append(" == ").append(f.getInt(null)).append(
                    ", \"").append(f.getName()).append("\");\n");
            n++;
        }
        c.append("_Static_assert(RDMA_PS_TCP == ").append(CmIdentifier.PS_TCP).append(", \"PS_TCP\");\n");
        c.append("_Static_assert(RDMA_CM_EVENT_CONNECT_REQUEST == ").append(CmEvent.CONNECT_REQUEST).append(
                " && RDMA_CM_EVENT_TIMEWAIT_EXIT == ").append(CmEvent.TIMEWAIT_EXIT).append(", \"events\");\n");
        Path source = Files.writeString(folder.resolve("probe.c"), c);
        Finished gcc = MockLibrary.run(java.util.List.of("gcc", "-w", "-fsyntax-only", "-I" + INCLUDE, source
                .toString()),
                Map.of());
        assertThat(gcc.code()).as(gcc.output()).isZero();
        assertThat(n).isGreaterThan(20);
        System.out.println("compared with " + INCLUDE + ": " + n + " offsets and sizes");
    }
}
