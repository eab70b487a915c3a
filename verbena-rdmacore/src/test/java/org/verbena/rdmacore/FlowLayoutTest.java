// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.FlowType;

/**
 * Compares a flow with one that a C program builds from the headers of rdma-core (Debian: libibverbs-dev), byte by
 * byte: attributes, every field of every specification in value and mask, inner ones, actions.
 */
class FlowLayoutTest {
    private static final String INCLUDE = System.getProperty("verbena.test.include", "/usr/include");

    /** A field: the C member of the specification and of the filter, its number of bits, and the name of the type. */
    private record Field(FlowSpec of, int field, String spec, String member, int bits, String type) {}

    private static final List<Field> FIELDS = List.of(
            new Field(FlowSpec.ethernet(), FlowField.ETH_DESTINATION, "eth", "dst_mac", 48, "ETH"),
            new Field(FlowSpec.ethernet(), FlowField.ETH_SOURCE, "eth", "src_mac", 48, "ETH"),
            new Field(FlowSpec.ethernet(), FlowField.ETH_TYPE, "eth", "ether_type", 16, "ETH"),
            new Field(FlowSpec.ethernet(), FlowField.ETH_VLAN, "eth", "vlan_tag", 16, "ETH"),
            new Field(FlowSpec.ipv4(), FlowField.IPV4_SOURCE, "ipv4", "src_ip", 32, "IPV4"),
            new Field(FlowSpec.ipv4(), FlowField.IPV4_DESTINATION, "ipv4", "dst_ip", 32, "IPV4"),
            new Field(extended(), FlowField.IPV4_SOURCE, "ipv4_ext", "src_ip", 32, "IPV4_EXT"),
            new Field(extended(), FlowField.IPV4_DESTINATION, "ipv4_ext", "dst_ip", 32, "IPV4_EXT"),
            new Field(extended(), FlowField.IPV4_PROTOCOL, "ipv4_ext", "proto", 8, "IPV4_EXT"),
            new Field(extended(), FlowField.IPV4_TOS, "ipv4_ext", "tos", 8, "IPV4_EXT"),
            new Field(extended(), FlowField.IPV4_TTL, "ipv4_ext", "ttl", 8, "IPV4_EXT"),
            new Field(extended(), FlowField.IPV4_FLAGS, "ipv4_ext", "flags", 8, "IPV4_EXT"),
            new Field(FlowSpec.ipv6(), FlowField.IPV6_SOURCE, "ipv6", "src_ip", 128, "IPV6"),
            new Field(FlowSpec.ipv6(), FlowField.IPV6_DESTINATION, "ipv6", "dst_ip", 128, "IPV6"),
            new Field(FlowSpec.ipv6(), FlowField.IPV6_FLOW_LABEL, "ipv6", "flow_label", 20, "IPV6"),
            new Field(FlowSpec.ipv6(), FlowField.IPV6_NEXT_HEADER, "ipv6", "next_hdr", 8, "IPV6"),
            new Field(FlowSpec.ipv6(), FlowField.IPV6_TRAFFIC_CLASS, "ipv6", "traffic_class", 8, "IPV6"),
            new Field(FlowSpec.ipv6(), FlowField.IPV6_HOP_LIMIT, "ipv6", "hop_limit", 8, "IPV6"),
            new Field(FlowSpec.tcp(), FlowField.DESTINATION_PORT, "tcp_udp", "dst_port", 16, "TCP"),
            new Field(FlowSpec.tcp(), FlowField.SOURCE_PORT, "tcp_udp", "src_port", 16, "TCP"),
            new Field(FlowSpec.udp(), FlowField.DESTINATION_PORT, "tcp_udp", "dst_port", 16, "UDP"),
            new Field(FlowSpec.udp(), FlowField.SOURCE_PORT, "tcp_udp", "src_port", 16, "UDP"),
            new Field(FlowSpec.vxlan(), FlowField.TUNNEL_ID, "tunnel", "tunnel_id", 24, "VXLAN_TUNNEL"),
            new Field(FlowSpec.gre(), FlowField.GRE_FLAGS, "gre", "c_ks_res0_ver", 16, "GRE"),
            new Field(FlowSpec.gre(), FlowField.GRE_PROTOCOL, "gre", "protocol", 16, "GRE"),
            new Field(FlowSpec.gre(), FlowField.GRE_KEY, "gre", "key", 32, "GRE"),
            new Field(FlowSpec.mpls(), FlowField.MPLS_LABEL, "mpls", "label", 32, "MPLS"),
            new Field(FlowSpec.esp(), FlowField.ESP_SPI, "esp", "spi", 32, "ESP"),
            new Field(FlowSpec.esp(), FlowField.ESP_SEQUENCE, "esp", "seq", 32, "ESP"));

    /** IPv4 of the extended type, without a match yet. */
    private static FlowSpec extended() {
        return FlowSpec.ipv4().matchMasked(FlowField.IPV4_TTL, 0, 0);
    }

    private static byte[] number(Random random, int bits) {
        byte[] all = new byte[(bits + 7) / 8];
        random.nextBytes(all);
        all[0] = (byte) ((all[0] | 1) & 0xff >>> all.length * 8 - bits); // not 0
        return all;
    }

    private static String bytes(byte[] all) {
        return IntStream.range(0, all.length).mapToObj(i -> "" + (all[i] & 0xff)).collect(Collectors.joining(",",
                "(uint8_t[]) {", "}, " + all.length));
    }

    private static String put(String member, byte[] value) {
        return "put(&" + member + ", sizeof " + member + ", " + bytes(value) + ");\n";
    }

    /** C code that builds a specification and prints it. */
    private static String spec(String type, String member, String body) {
        return "{ union { struct ibv_flow_spec any; uint8_t bytes[sizeof(struct ibv_flow_spec)]; } u = {0};\n"
                + "struct ibv_flow_spec *s = &u.any;\ns->hdr.type = " + type + ";\ns->hdr.size = sizeof s->" + member
                + ";\n" + body + "print(u.bytes, sizeof s->" + member + "); }\n";
    }

    @Test
    void flowsMatchHeaders(@TempDir Path folder) throws Exception {
        if (!Files.exists(Path.of(INCLUDE, "infiniband/verbs.h"))) {
            System.out.println("SKIPPED: " + INCLUDE + "/infiniband/verbs.h is not there (libibverbs-dev)");
            Assumptions.abort("no headers");
        }
        MockLibrary.needsGcc("compiles the comparison");
        Random random = new Random(6);
        FlowAttributes.Builder flow = FlowAttributes.builder().type(FlowType.SNIFFER).priority(0x1234).port(7).flags(
                FlowFlags.DONT_TRAP);
        List<String> c = new ArrayList<>();
        for (Field f : FIELDS) {
            byte[] value = number(random, f.bits);
            byte[] mask = number(random, f.bits);
            String body = put("s->" + f.spec + ".val." + f.member, value) + put("s->" + f.spec + ".mask." + f.member,
                    mask);
            FlowSpec spec = f.of.match(f.field, value, mask);
            flow.spec(spec).spec(spec.inner());
            c.add(spec("IBV_FLOW_SPEC_" + f.type, f.spec, body));
            c.add(spec("IBV_FLOW_SPEC_" + f.type + " | IBV_FLOW_SPEC_INNER", f.spec, body));
        }
        assertThat(FIELDS.stream().map(Field::field).distinct()).as("all known types").hasSize(
                FlowField.ESP_SEQUENCE + 1);
        flow.spec(FlowSpec.tag(0x12345678)).spec(FlowSpec.drop());
        c.add(spec("IBV_FLOW_SPEC_ACTION_TAG", "flow_tag", "s->flow_tag.tag_id = 0x12345678;\n"));
        c.add(spec("IBV_FLOW_SPEC_ACTION_DROP", "drop", ""));
        assertThat(java(flow.build())).isEqualTo(c(folder, c));
    }

    private static String java(FlowAttributes a) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            return HexFormat.of().formatHex(FlowBytes.of("test", arena, a).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private static String c(Path folder, List<String> specs) throws Exception {
        String body = String.join("", specs);
        String program = """
                #include <stddef.h>
                #include <stdint.h>
                #include <stdio.h>
                #include <string.h>
                #include <infiniband/verbs.h>
                _Static_assert(sizeof(struct ibv_flow_spec_counter_action) == %d, "size of a counting action");
                _Static_assert(offsetof(struct ibv_flow_spec_counter_action, counters) == %d, "its counters");
                _Static_assert(IBV_FLOW_SPEC_ACTION_COUNT == %d, "its type");
                static int total = sizeof(struct ibv_flow_attr), printing;
                /* A number in network order, with the member's width. */
                static void put(void *to, size_t size, const uint8_t *number, size_t bytes) {
                    memcpy((char *) to + size - bytes, number, bytes);
                }
                static void print(const uint8_t *s, size_t bytes) {
                    total += printing ? 0 : bytes;
                    for (size_t i = 0; printing && i < bytes; i++) printf("%%02x", s[i]);
                }
                static void all(void) {
                %s}
                int main(void) {
                    all();
                    struct ibv_flow_attr a = {.type = IBV_FLOW_ATTR_SNIFFER, .size = total, .priority = 0x1234,
                        .num_of_specs = %d, .port = 7, .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP};
                    printing = 1;
                    print((uint8_t *) &a, sizeof a);
                    all();
                }
                """.formatted(FlowBytes.COUNT_BYTES, FlowBytes.ACTION, FlowSpecType.ACTION_COUNT, body, specs.size());
        Path source = Files.writeString(folder.resolve("flow.c"), program);
        Path binary = folder.resolve("flow");
        Finished gcc = MockLibrary.run(List.of("gcc", "-I" + INCLUDE, "-o", binary.toString(), source.toString()), Map
                .of());
        assertThat(gcc.code()).as(gcc.output()).isZero();
        return MockLibrary.run(List.of(binary.toString()), Map.of()).output();
    }
}
