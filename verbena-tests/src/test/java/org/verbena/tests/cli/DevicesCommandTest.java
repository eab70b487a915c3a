// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.CommandLane;

/** {@code verbena devices} from the command line. */
@CommandLane
class DevicesCommandTest {
    @Test
    void outputMatchesIbvDevinfo() throws IOException {
        CommandProcess.Result r = CommandProcess.run("devices");
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        assertThat(r.out()).startsWith("hca_id:\tshm0").contains("transport:").contains("node_guid:").contains(
                "phys_port_cnt:")
                .contains("state:").contains("PORT_ACTIVE").contains("link_layer:").doesNotContain("max_mr_size")
                .doesNotContain("\033");
    }

    @Test
    void verbose() throws IOException {
        CommandProcess.Result r = CommandProcess.runHosted("devices", "-v");
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.out()).contains("max_mr_size:").contains("max_qp_wr:").contains("atomic_cap:").contains(
                "GID[  0]:")
                .contains("max_msg_sz:");
    }

    @Test
    void json() throws IOException {
        CommandProcess.Result r = CommandProcess.runHosted("devices", "--json");
        assertThat(r.code()).as(r.err()).isZero();
        JsonNode devices = new ObjectMapper().readTree(r.out());
        assertThat(devices.isArray()).isTrue();
        JsonNode shm = devices.get(0);
        assertThat(shm.get("hca_id").asText()).isEqualTo("shm0");
        assertThat(shm.get("max_qp_wr").asInt()).isPositive();
        assertThat(shm.get("ports").get(0).get("state").asText()).isEqualTo("PORT_ACTIVE");
        assertThat(shm.get("ports").get(0).get("gids")).isNotEmpty();
    }

    @Test
    void missingDeviceIsReported() throws IOException {
        try (CommandProcess p = CommandProcess.startWithout(List.of(), "verbena-(shm|roce|xdp)", "devices")) {
            CommandProcess.Result r = p.end();
            if (Files.exists(Path.of("/sys/class/infiniband_verbs"))) {
                System.out.println("SKIPPED: this machine may have RDMA devices, so that there is no lack to be seen");
                return;
            }
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.out()).isEmpty();
            assertThat(r.err()).contains("there is no RDMA device").contains("verbena: provider rdmacore: ");
        }
    }

    /** Other commands do without raw packets. */
    @Test
    void monitorOfAnInterfaceSaysWhichModuleIsMissing() throws IOException {
        try (CommandProcess p = CommandProcess.startWithout(List.of(), "verbena-xdp", "monitor", "lo")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("put the jar of verbena-xdp there");
        }
    }

    /** A broken provider is named and hides no other. */
    @Test
    void brokenProviderIsReported(@TempDir Path dir) throws IOException {
        Path services = Files.createDirectories(dir.resolve("META-INF/services"));
        Files.writeString(services.resolve("org.verbena.verbs.spi.VerbsProvider"), "org.example.NoSuchProvider\n");
        try (CommandProcess p = CommandProcess.startOnClassPath(dir, "devices")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(r.out()).contains("hca_id:\tshm0");
            assertThat(r.err().lines()).hasSize(1);
            assertThat(r.err()).contains("org.example.NoSuchProvider").contains("broken and skipped");
        }
    }

    @Test
    void wrongUsageIsReported() throws IOException {
        CommandProcess.Result r = CommandProcess.runHosted("devices", "--nonsense");
        assertThat(r.code()).isEqualTo(2);
        assertThat(r.err()).contains("--nonsense");
    }
}
