// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.OdpCapabilities;
import org.verbena.verbs.PacketPacingCapabilities;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.RssCapabilities;
import org.verbena.verbs.SegmentationCapabilities;

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
    void backEndOfRawPacketsIsSaid() throws Exception {
        assertThat(run("devices", "-v", "xdp_lo")).as(err.toString()).isZero();
        assertThat(out.toString()).containsPattern("back_end:\\s+AF_XDP in generic mode, .* loopback interface");
        out.getBuffer().setLength(0);
        assertThat(run("devices", "xdp_lo")).isZero();
        assertThat(out.toString()).contains("PORT_ACTIVE").doesNotContain("back_end");
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

    /** The columns of show_gids. */
    @Test
    void gidTableIsPrinted() throws Exception {
        assertThat(run("devices", "--gids", ROCE)).as(err.toString()).isZero();
        List<String> lines = out.toString().lines().toList();
        assertThat(lines.get(0)).matches("DEV +PORT INDEX GID +IPv4 +VER DEV");
        assertThat(lines.get(1)).matches("[- ]+");
        assertThat(lines.get(2)).matches(
                "roce_lo +1 +0 +0000:0000:0000:0000:0000:ffff:7f[0-9a-f]{2}:[0-9a-f]{4} +127[.0-9]+ +v2 +lo");
        assertThat(lines.getLast()).isEqualTo("n_gids_found=" + (lines.size() - 3));
        out.getBuffer().setLength(0);
        assertThat(run("devices", "-g", "--json", "-i", "1")).isZero();
        Map<String, JsonNode> first = new TreeMap<>();
        new ObjectMapper().readTree(out.toString()).forEach(n -> first.putIfAbsent(n.get("device").asText(), n));
        assertThat(first.get("shm0").get("gid").asText()).matches("fe80(:[0-9a-f]{4}){7}");
        assertThat(first.get("shm0").get("type").asText() + first.get("shm0").get("netdev").asText()).isEmpty();
        JsonNode roce = first.get(ROCE);
        assertThat(roce.get("type").asText() + roce.get("ipv4").asText() + roce.get("netdev").asText()).matches(
                "RoCE v2127[.0-9]+lo");
    }

    @ParameterizedTest
    @CsvSource({"2, Ethernet, RoCE v2", "1, Ethernet, RoCE v1", "0, Ethernet, RoCE v1", "0, InfiniBand, IB",
        "0, shared memory, ''", "7, Ethernet, 7"})
    void gidTypesHaveNames(int type, String linkLayer, String name) {
        assertThat(GidTable.type(type, linkLayer)).isEqualTo(name);
    }

    @Test
    void gidsOfNoDeviceAreRefused() {
        assertThat(run("devices", "--gids", "-l")).isEqualTo(2);
        assertThat(run("devices", "--gids", "nix0")).isEqualTo(1);
        assertThat(run("devices", "--gids", "shm0", "-i", "9")).isEqualTo(1);
        assertThat(err.toString()).contains("there is no device 'nix0'", "port 9");
    }

    @Test
    void featuresAndPartitionsAreShown() throws Exception {
        assertThat(run("devices", "--json", ROCE)).isZero();
        JsonNode roce = new ObjectMapper().readTree(out.toString()).get(0);
        assertThat(roce.get("features").toString()).contains("\"qp.rc\"", "\"cm\"");
        assertThat(roce.get("ports").get(0).get("pkeys").get(0).asText()).isEqualTo("0xffff");
        out.getBuffer().setLength(0);
        assertThat(run("devices", "-v", ROCE)).isZero();
        assertThat(out.toString()).contains("\tfeatures:\n\t\t\t\t\t", "PKEY[  0]:", "0xffff", "node_type:");
    }

    /** Each accessor of the attributes that the API has is called: what is added to it is to be shown, too. */
    @ParameterizedTest
    @ValueSource(classes = {DeviceAttributes.class, PortAttributes.class, OdpCapabilities.class,
        SegmentationCapabilities.class, RssCapabilities.class, PacketPacingCapabilities.class, Device.class})
    void everyAttributeOfTheApiIsShown(Class<?> attributes) throws Exception {
        Set<String> called = new TreeSet<>();
        byte[] bytes;
        try (InputStream in = Objects.requireNonNull(DeviceDescription.class.getResourceAsStream(
                "DeviceDescription.class"))) {
            bytes = in.readAllBytes();
        }
        for (PoolEntry e : ClassFile.of().parse(bytes).constantPool()) {
            if (e instanceof MemberRefEntry m && m.owner().name().equalsString(attributes.getName().replace('.',
                    '/'))) {
                called.add(m.name().stringValue());
            }
        }
        assertThat(Arrays.stream(attributes.getDeclaredMethods()).filter(m -> Modifier.isPublic(m.getModifiers())
                && !Modifier.isStatic(m.getModifiers()) && m.getParameterCount() == 0).map(Method::getName)
                .filter(n -> !Set.of("toString", "hashCode", "state").contains(n))) // stateName names it
                .isNotEmpty().allSatisfy(n -> assertThat(called).contains(n));
    }
}
