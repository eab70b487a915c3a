// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.testkit.Capabilities;

/** {@code verbena perf} of raw packets, and of the stack over them. */
class RawPerfTest {
    private static final Path INTERFACES = Path.of("/sys/class/net");

    /** Beside the kernel, over the same veth pair, which is gone afterwards. */
    @Test
    void rawPacketsAreMeasuredBesideTheKernel() throws Exception {
        Capabilities.requireNetworkAndBpf();
        List<String> rows = new ArrayList<>();
        try (CommandProcess p = CommandProcess.start("perf", "raw-lat", "raw-rate", "raw-bw", "stack-udp-lat",
                "udp-lat-spin", "udp-rate", "tcp-bw", "--duration=30ms", "--warm-up=10ms", "--json")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            for (JsonNode row : new ObjectMapper().readTree(r.out())) {
                rows.add(row.get("test").asText() + " " + row.get("size") + " " + row.get("device").asText());
            }
        }
        assertThat(rows).containsExactly("raw-lat 64 xdp_perf0", "raw-rate 64 xdp_perf0", "raw-bw 32768 xdp_perf0",
                "stack-udp-lat 64 xdp_perf1", "udp-lat-spin 64 udp", "udp-rate 64 udp", "tcp-bw 32768 tcp");
        assertThat(INTERFACES.resolve("perf0")).doesNotExist();
    }

    /** A datagram of one byte, one in many fragments, and a rate; the table has the factor to the kernel's UDP. */
    @Test
    void stackIsMeasuredAtEachSize() throws Exception {
        Capabilities.requireNetworkAndBpf();
        try (CommandProcess p = CommandProcess.start("perf", "stack-udp-lat", "udp-lat-spin", "--size=1,1473,65507",
                "--duration=30ms", "--warm-up=10ms")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(r.out()).contains("vs udp").containsPattern("stack-udp-lat +65507 .*[0-9]x");
        }
        try (CommandProcess p = CommandProcess.start("perf", "stack-udp-lat", "--rate=1k", "--duration=50ms",
                "--warm-up=10ms")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
        }
        try (CommandProcess p = CommandProcess.start("perf", "stack-udp-lat", "--size=65508")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("a datagram has 65507 bytes at most");
        }
    }

    /** Between two stacks, to and from the kernel, and by the kernel alone: messages of one byte, of many segments, and at a rate. */
    @Test
    void tcpOfTheStackIsMeasuredBesideTheKernel() throws Exception {
        Capabilities.requireNetworkAndBpf();
        List<String> rows = new ArrayList<>();
        try (CommandProcess p = CommandProcess.start("perf", "stack-lat", "stack-bw", "stack-connect",
                "--size=1,100000", "--iterations=200", "--warm-up=10ms", "--json")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            for (JsonNode row : new ObjectMapper().readTree(r.out())) {
                rows.add(row.path("test").asText() + " " + row.path("size").asText() + " " + row.path("transport")
                        .asText() + " " + row.path("peer").asText() + " " + row.path("device").asText());
            }
        }
        List<String> expected = new ArrayList<>();
        for (String size : List.of("1", "100000")) {
            expected.addAll(rows("stack-lat " + size, false));
            expected.addAll(rows("stack-bw " + size, true));
        }
        expected.addAll(rows("stack-connect 1", false));
        assertThat(rows).containsExactlyInAnyOrderElementsOf(expected);
        try (CommandProcess p = CommandProcess.start("perf", "stack-lat", "--rate=1k", "--duration=50ms",
                "--warm-up=10ms")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(r.out()).containsPattern("  to a plain peer +64 ").containsPattern("  by the kernel +64 ");
        }
    }

    private static List<String> rows(String test, boolean bothWays) {
        List<String> rows = new ArrayList<>(List.of(test + " stack stack xdp_perf1", test + " stack plain xdp_perf1",
                test + " kernel plain tcp"));
        if (bothWays) {
            rows.add(test + " kernel stack xdp_perf1");
        }
        return rows;
    }

    /** The stack would take the packets of the connection between the two processes. */
    @Test
    void stackNeedsAnInterfaceOfItsOwn() throws Exception {
        Capabilities.requireNetworkAndBpf();
        RoceNamespaces.with(() -> CommandProcess.start("perf", "--listen=" + RoceNamespaces.ADDRESS_B + ":0",
                "--device=xdp_vcable1"), listener -> {
                    CommandProcess.Result r = CommandProcess.run("perf", "stack-udp-lat", "--device=xdp_vcable0",
                            "--connect=" + RoceNamespaces.ADDRESS_B + ":" + RoceCommandTest.port(listener));
                    assertThat(r.code()).isEqualTo(1);
                    assertThat(r.err()).contains("a stack takes all packets of vcable0");
                });
    }

    /** The longest message of one frame, one byte more, and a rate. */
    @Test
    void sizesEndAtTheFrame() throws Exception {
        Capabilities.requireNetworkAndBpf();
        try (CommandProcess p = CommandProcess.start("perf", "raw-lat", "--size=1472", "--rate=1k", "--duration=50ms",
                "--warm-up=10ms")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
        }
        try (CommandProcess p = CommandProcess.start("perf", "raw-lat", "--size=1473")) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains(
                    "raw-lat has messages of 1472 bytes at most, what one frame of xdp_perf0 holds");
        }
        assertThat(Files.exists(INTERFACES.resolve("perf1"))).isFalse();
    }

    /** Between two hosts, each frame longer than a buffer for receives. */
    @Test
    void framesOfJumboMtuAreMeasured() throws Exception {
        Capabilities.requireNetworkAndBpf();
        RoceNamespaces.with(() -> {
            jumbo("vcable1");
            return CommandProcess.start("perf", "--listen=" + RoceNamespaces.ADDRESS_B + ":0", "--device=xdp_vcable1");
        }, listener -> {
            jumbo("vcable0");
            CommandProcess.Result r = CommandProcess.run("perf", "raw-lat", "raw-rate", "--device=xdp_vcable0",
                    "--connect=" + RoceNamespaces.ADDRESS_B + ":" + RoceCommandTest.port(listener), "--size=8972",
                    "--duration=30ms", "--warm-up=10ms", "--json");
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(new ObjectMapper().readTree(r.out())).hasSize(2);
        });
    }

    private static void jumbo(String name) throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            NetworkLinks.setMtu(netlink, NetworkLinks.index(netlink, name), 9000);
        }
    }
}
