// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Set;
import java.util.TreeSet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** {@code verbena devices} in this process. */
class DevicesCommandTest {
    private static final String ROCE = "roce_lo";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine command = Main.commandLine(args);
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute(args);
    }

    @ParameterizedTest
    @ValueSource(strings = {"devices roce_lo", "devices -d roce_lo", "devices --ib-dev=roce_lo -i 1",
        "devices roce_lo -d roce_lo"})
    void namedDeviceIsPrintedAlone(String line) {
        assertThat(run(line.split(" "))).as(err.toString()).isZero();
        assertThat(out.toString()).startsWith("hca_id:\troce_lo\n").contains("PORT_ACTIVE").doesNotContain("shm0");
    }

    @Test
    void listPrintsNamesOnly() throws Exception {
        assertThat(run("devices", "-l")).isZero();
        assertThat(out.toString()).matches("(?s)[0-9]+ HCAs found:\n\tshm0\n.*\troce_lo\n.*\n");
        out.getBuffer().setLength(0);
        assertThat(run("devices", "--list", "--json")).isZero();
        assertThat(new ObjectMapper().readTree(out.toString()).get(0).asText()).isEqualTo("shm0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"devices nix0 | 1 | there is no device 'nix0': shm0, ",
        "devices shm0 -d roce_lo | 2 | one device, or all: shm0 or -d roce_lo",
        "devices shm0 -i 0 | 2 | --ib-port 0: must be 1 to 255", "devices shm0 -i 9 | 1 | port 9"})
    void missingDeviceOrPortIsReported(String line, int code, String sentence) {
        assertThat(run(line.split(" "))).isEqualTo(code);
        assertThat(err.toString()).startsWith("verbena: ").contains(sentence);
        assertThat(out.toString()).isBlank();
    }

    /** The output of ibv_devinfo -v, as far as it applies here. */
    @Test
    void verbosePrintsAllAttributes() throws Exception {
        assertThat(run("devices", "--json")).isZero();
        JsonNode shm = new ObjectMapper().readTree(out.toString()).get(0);
        Set<String> names = new TreeSet<>();
        shm.properties().forEach(e -> names.add(e.getKey()));
        assertThat(names).contains("max_srq", "max_srq_wr", "max_srq_sge", "max_mw", "max_ah", "max_mcast_grp",
                "max_mcast_qp_attach", "max_total_mcast_qp_attach", "device_cap_flags", "general_odp_caps",
                "rc_odp_caps",
                "max_dm_size", "max_cq_count", "max_cq_period", "num_comp_vectors", "sys_image_guid", "max_pkeys");
        assertThat(shm.get("max_srq").asInt()).isPositive();
        assertThat(shm.get("device_cap_flag_names").toString()).contains("XRC", "MEM_WINDOW");
        assertThat(shm.get("rc_odp_caps").toString()).contains("SUPPORT_WRITE");
        assertThat(shm.get("ports").get(0).get("gids").get(0).asText()).matches("fe80(:[0-9a-f]{4}){7}");
        out.getBuffer().setLength(0);
        assertThat(run("devices", "-v", "shm0")).isZero();
        assertThat(names.stream().filter(n -> !n.matches("ports|hca_id|.*_names"))).allSatisfy(
                n -> assertThat(out.toString()).contains("\t" + n + ":").as(n));
        assertThat(out.toString()).contains("\t\t\t\t\tXRC\n");
    }

    @Test
    void roceGidHasTypeAndInterface() throws Exception {
        assertThat(run("devices", "-v", ROCE)).isZero();
        assertThat(out.toString()).containsPattern("GID\\[ {2}0]:\\s+::ffff:127[.0-9]+, RoCE v2, lo\n");
        out.getBuffer().setLength(0);
        assertThat(run("devices", "--json", ROCE)).isZero();
        JsonNode port = new ObjectMapper().readTree(out.toString()).get(0).get("ports").get(0);
        assertThat(port.get("gids").get(0).asText()).matches("::ffff:127[.0-9]+");
        assertThat(port.get("gid_types").get(0).asText()).isEqualTo("RoCE v2");
        assertThat(port.get("gid_netdevs").get(0).asText()).isEqualTo("lo");
    }
}
