// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

import org.junit.jupiter.api.Test;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.Terminal;

/** The table at the end of a run: what each row is compared with. */
class PerfRatiosTest {
    private static final PerfTable.Frame NOTHING = new PerfTable.Frame(List.of());

    private static PerfResult latency(PerfTest test, long size, double p50) {
        return new PerfResult(test, size, "", PerfEnds.NONE, 1, 1000, List.of(p50, 400.0, 500.0, 600.0, 700.0, 5e6), 0,
                0, 0);
    }

    private static PerfResult bandwidth(PerfTest test, double bytesPerSecond) {
        return new PerfResult(test, 4096, "", PerfEnds.NONE, 1, 1000, List.of(), bytesPerSecond, bytesPerSecond / 4096,
                0.5);
    }

    @Test
    void tableComparesWithTheLimitOfTheSize() {
        StringWriter out = new StringWriter();
        PerfTable.print(List.of(latency(PerfTest.WRITE_LAT, 32, 300), latency(PerfTest.SEND_LAT, 64, 440),
                latency(PerfTest.SEND_LAT, 4096, 900), latency(PerfTest.TCP_LAT_SPIN, 32, 6000),
                latency(PerfTest.LIMIT_CACHELINE, 8, 250), latency(PerfTest.LIMIT_TWOLINE, 64, 400),
                bandwidth(PerfTest.WRITE_BW, 18e9), bandwidth(PerfTest.LIMIT_MEMCPY, 20e9), bandwidth(PerfTest.TCP_BW,
                        2e9)),
                NOTHING, Terminal.UNLIMITED, 3, new PrintWriter(out), Ansi.OFF);
        assertThat(out.toString()).containsPattern(
                "write-lat +32 +1000 +0\\.300 +0\\.400 .* 5000\\.0 +0 +1\\.20x +20\\.0x\n")
                .containsPattern("send-lat +64 .* 1\\.10x *\n").containsPattern("send-lat +4096 .* 0 *\n")
                .containsPattern("tcp-lat-spin +32 .* 24\\.0x *\n")
                .containsPattern("write-bw +4096 +1000 +18\\.000 +144\\.000 +4\\.3945 +0\\.50 +0\\.90x +9\\.00x\n")
                .contains("median of 3 runs").doesNotContain("@|");
    }

    @Test
    void tableGroupsBySizeAndOmitsEmptyColumns() {
        List<PerfResult> all = List.of(bandwidth(PerfTest.TCP_BW, 2e9), latency(PerfTest.TCP_LAT_BLOCK, 8, 9000),
                latency(PerfTest.WRITE_LAT, 4096, 900), bandwidth(PerfTest.WRITE_BW, 18e9),
                latency(PerfTest.LIMIT_CACHELINE, 8, 250), latency(PerfTest.WRITE_LAT, 8, 300));
        assertThat(table(all).lines().map(l -> l.split(" ", 2)[0]).limit(9)).containsExactly("", "test",
                "limit-cacheline", "write-lat", "tcp-lat-block", "", "write-lat", "write-bw", "tcp-bw");
        assertThat(table(all)).contains("#bytes").contains("t_typical").contains("BW average").contains("MsgRate");
        assertThat(table(all).lines().map(String::length).max(Integer::compare)).hasValueSatisfying(
                w -> assertThat(w).isLessThanOrEqualTo(139));
        assertThat(table(all.subList(1, 3))).contains("t_typical").doesNotContain("BW average").doesNotContain("M/s");
        assertThat(table(all.subList(3, 4))).contains("BW average").doesNotContain("t_typical").doesNotContain("p99");
        assertThat(table(List.of())).contains("#bytes");
    }

    /** A channel is compared with the same test over as many connections. */
    @Test
    void tableDistinguishesConnectionCounts() {
        List<PerfResult> all = List.of(channel(PerfEnds.VERBENA, 1, 9e9), channel(PerfEnds.VERBENA, 100, 6e9),
                channel(PerfEnds.PLAIN, 1, 3e9), channel(PerfEnds.PLAIN, 100, 1e9));
        assertThat(table(all)).containsPattern("nio-bw +4096 +1 .* 3\\.00x *\n  by the kernel")
                .containsPattern("nio-bw +4096 +100 .* 6\\.00x *\n  by the kernel").contains("#conns");
        assertThat(table(all.subList(0, 1))).doesNotContain("#conns");
    }

    /** TCP of a stack is compared with the kernel's, towards whatever peer. */
    @Test
    void tableComparesStacks() {
        List<PerfResult> all = List.of(stack(PerfEnds.STACK, 9e9), stack(PerfEnds.STACK_TO_PLAIN, 6e9),
                stack(PerfEnds.PLAIN_TO_STACK, 4.5e9), stack(PerfEnds.PLAIN, 3e9), bandwidth(PerfTest.TCP_BW, 1e9));
        assertThat(table(all)).containsPattern("stack-bw +4096 .* 3\\.00x *\n  to a plain peer +4096 .* 2\\.00x *\n"
                + "  from a plain peer +4096 .* 1\\.50x *\n  by the kernel .*[^x]\n");
        assertThat(all.stream().limit(4).map(r -> r.ends().toString())).containsExactly("stack",
                "stack to a plain peer", "kernel to a stack", "kernel");
        assertThat(all.stream().limit(4).map(r -> PerfEnds.of(r.toJson()))).containsExactly(PerfEnds.STACK,
                PerfEnds.STACK_TO_PLAIN, PerfEnds.PLAIN_TO_STACK, PerfEnds.PLAIN);
    }

    private static PerfResult stack(PerfEnds ends, double bytesPerSecond) {
        return new PerfResult(PerfTest.STACK_BW, 4096, "", ends, 1, 1000, List.of(), bytesPerSecond,
                bytesPerSecond / 4096, 0);
    }

    /** Remote memory is compared with writes and with the plain stream, and its columns appear only for it. */
    @Test
    void tableComparesRemoteMemory() {
        List<PerfResult> all = List.of(remote(PerfTest.ERM_LAT, List.of(330.0, 1.0, 1.0, 1.0, 1.0, 1.0), 0),
                remote(PerfTest.ERM_BW, List.of(), 18e9), latency(PerfTest.WRITE_IMM_LAT, 4096, 300),
                latency(PerfTest.TCP_LAT_SPIN, 4096, 6600), bandwidth(PerfTest.WRITE_BW, 20e9), bandwidth(
                        PerfTest.LIMIT_MEMCPY, 24e9), channel(PerfEnds.VERBENA, 1, 9e9), channel(PerfEnds.PLAIN, 1,
                                3e9),
                bandwidth(PerfTest.TCP_BW, 2e9), remote(PerfTest.ERM_REG, List.of(330.0, 1.0, 1.0, 1.0, 1.0, 2.0), 0));
        assertThat(table(all)).contains("vs write", "vs stream").containsPattern("erm-reg +4096 .* 0\\.002 +0 *\n")
                .containsPattern("erm-lat +4096 .* 20\\.0x +1\\.10x *\n")
                .containsPattern("erm-bw +4096 .* 0\\.75x +9\\.00x +0\\.90x +2\\.00x *\n")
                .containsPattern("write-bw +4096 .* 0\\.83x +10\\.0x *\n");
        assertThat(table(all.subList(2, 5))).doesNotContain("vs write", "vs stream");
        assertThat(all.getFirst().toJson().toString()).contains("\"device\":\"shm0\",\"transport\":\"stream\","
                + "\"peer\":\"verbena\"", "\"connections\":null", "\"bytes_per_second\":null");
    }

    private static PerfResult remote(PerfTest test, List<Double> rtt, double bytesPerSecond) {
        return new PerfResult(test, 4096, "shm0", PerfEnds.VERBENA, 1, 1000, rtt, bytesPerSecond, bytesPerSecond / 4096,
                0);
    }

    /** Channels of Verbena to a plain peer have a separate row between the two. */
    @Test
    void tableDistinguishesPeers() {
        List<PerfResult> all = List.of(channel(PerfEnds.VERBENA, 1, 9e9), channel(PerfEnds.VERBENA_TO_PLAIN, 1, 3.3e9),
                channel(PerfEnds.PLAIN, 1, 3e9));
        assertThat(table(all)).containsPattern(
                "nio-bw .* 3\\.00x *\n  to a plain peer .* 1\\.10x *\n  by the kernel .* 0 *\n");
    }

    private static PerfResult channel(PerfEnds ends, int connections, double bytesPerSecond) {
        return new PerfResult(PerfTest.NIO_BW, 4096, "", ends, connections, 1000, List.of(), bytesPerSecond,
                bytesPerSecond / 4096, 0);
    }

    private static String table(List<PerfResult> results) {
        StringWriter out = new StringWriter();
        PerfTable.print(results, NOTHING, Terminal.UNLIMITED, 1, new PrintWriter(out), Ansi.OFF);
        return out.toString();
    }
}
