// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Seeds;
import org.verbena.xdp.program.Privileges;
import org.verbena.xdp.program.RandomTraffic;

/** The program in the kernel learns the flows and counts what the model does, under any filter. */
class MonitorProgramTest {
    private static final int SEEDS = 60;
    private static final int PACKETS = 250;
    private static final int SNAPSHOT = 77;
    /** The kernel looks at the network header itself and takes no shorter packet, other than with a tag. */
    private static final int SHORTEST = 14 + 40;

    @BeforeAll
    static void needsBpf() throws IOException {
        Privileges.requireBpf();
    }

    /** Loads it as a type that packets can be given to, and keeps what the verifier says if it refuses. */
    private static Fd load(BpfMap flows, BpfMap totals, @Nullable PacketFilter filter) throws LinuxException {
        long[] program = MonitorProgram.instructions(flows, totals, filter, SNAPSHOT);
        try {
            MonitorProgram.load(Bpf.BPF_PROG_TYPE_SOCKET_FILTER, program).close();
            return MonitorProgram.load(Bpf.BPF_PROG_TYPE_SCHED_CLS, program);
        } catch (LinuxException e) {
            System.out.println(Bpf.verifierLog(Bpf.BPF_PROG_TYPE_SOCKET_FILTER, program, MonitorProgram.LICENSE, 0));
            throw e;
        }
    }

    @Test
    void programCountsWhatTheModelCounts() {
        Seeds.each(SEEDS, random -> compare(random, random.nextInt(5) == 0
                ? Optional.empty()
                : Optional.of(RandomFilter.of(random, random.nextInt(4)))));
    }

    private static void compare(Random random, Optional<RandomFilter> filter) throws Exception {
        RandomTraffic traffic = new RandomTraffic(random);
        Map<MonitoredFlow, MonitorSample.Count> expected = new HashMap<>();
        PacketFilter compiled = filter.isEmpty() ? null : PacketFilter.of(filter.get().text());
        try (BpfMap flows = MonitorProgram.flows(8192);
                BpfMap totals = MonitorProgram.totals();
                Fd program = load(flows, totals, compiled)) {
            for (int i = 0; i < PACKETS; i++) {
                byte[] packet = accepted(traffic.packet());
                MonitoredFlow flow = FlowOf.packet(packet);
                boolean wanted = filter.isEmpty() || filter.get().wants().test(flow);
                assertThat(Bpf.testRun(program, packet)).as(() -> HexFormat.of().formatHex(packet) + " " + flow + " by "
                        + filter).isEqualTo(wanted ? SNAPSHOT : 0);
                if (wanted) {
                    expected.merge(flow, new MonitorSample.Count(1, packet.length), MonitorSample.Count::plus);
                }
            }
            MonitorSample is = FlowMonitor.sample(flows, totals, 0);
            Map<MonitoredFlow, MonitorSample.Count> counted = new HashMap<>();
            is.flows().forEach((flow, count) -> {
                assertThat(count.learned()).isPositive();
                counted.put(flow, new MonitorSample.Count(count.packets(), count.bytes()));
            });
            assertThat(counted).as(() -> "by " + filter).isEqualTo(expected);
            assertThat(is.total()).isEqualTo(expected.values().stream().reduce(MonitorSample.Count.NONE,
                    MonitorSample.Count::plus));
            assertThat(is.outside()).isEqualTo(MonitorSample.Count.NONE);
            assertThat(is.evicted()).isZero();
        }
    }

    private static byte[] accepted(byte[] packet) {
        if (packet.length >= SHORTEST) {
            return packet;
        }
        byte[] tagged = new byte[packet.length + 4];
        System.arraycopy(packet, 0, tagged, 0, 12);
        tagged[12] = (byte) 0x81;
        tagged[15] = 6;
        System.arraycopy(packet, 12, tagged, 16, packet.length - 12);
        return tagged;
    }

    private static byte[] udp(int port) {
        byte[] packet = new byte[60];
        packet[12] = 8;
        packet[14] = 0x45;
        packet[17] = 46;
        packet[23] = 17;
        packet[36] = (byte) (port >> 8);
        packet[37] = (byte) port;
        return packet;
    }

    /** Which is an address of IPv6, whatever it maps to. */
    @Test
    void mappedAddressStaysOneOfIpv6() throws Exception {
        byte[] packet = new byte[62];
        ByteBuffer.wrap(packet).putShort(12, (short) 0x86dd).putInt(14, 6 << 28).putShort(18, (short) 8).putShort(20,
                (short) (17 << 8 | 64)).putInt(30, 0xffff).putInt(34, 0x0a000001).putInt(46, 0xffff).putInt(50,
                        0x0a000002).putShort(54, (short) 53).putShort(56, (short) 54).putShort(58, (short) 8);
        try (BpfMap flows = MonitorProgram.flows(512);
                BpfMap totals = MonitorProgram.totals();
                Fd six = load(flows, totals, PacketFilter.of("src host ::ffff:10.0.0.1 and dst net ::ffff:0:0/96"));
                Fd four = load(flows, totals, PacketFilter.of("host 10.0.0.1"))) {
            assertThat(Bpf.testRun(four, packet)).isZero();
            assertThat(Bpf.testRun(six, packet)).isEqualTo(SNAPSHOT);
            MonitoredFlow flow = FlowMonitor.sample(flows, totals, 0).flows().keySet().iterator().next();
            assertThat(flow).isEqualTo(FlowOf.packet(packet));
            assertThat(MonitoredFlow.text(flow.source().orElseThrow())).isEqualTo("::ffff:10.0.0.1");
            assertThat(MonitoredFlow.text(flow.destination().orElseThrow())).isEqualTo("::ffff:10.0.0.2");
        }
    }

    /** More flows than there is room for: the sums stay exact, and what is missing is named. */
    @Test
    void flowsThatMakeRoomAreCounted() throws Exception {
        int all = 5000;
        try (BpfMap flows = MonitorProgram.flows(512);
                BpfMap totals = MonitorProgram.totals();
                Fd program = load(flows, totals, null)) {
            for (int port = 1; port <= all; port++) {
                Bpf.testRun(program, udp(port), port % 3 + 1);
            }
            MonitorSample is = FlowMonitor.sample(flows, totals, 0);
            MonitorSample.Count there = is.flows().values().stream().reduce(MonitorSample.Count.NONE,
                    MonitorSample.Count::plus);
            long packets = 0;
            for (int port = 1; port <= all; port++) {
                packets += port % 3 + 1;
            }
            assertThat(is.flows()).hasSizeBetween(1, 512);
            assertThat(is.received()).isEqualTo(new MonitorSample.Count(packets, 60 * packets));
            assertThat(is.sent()).isEqualTo(MonitorSample.Count.NONE);
            assertThat(is.evicted()).isEqualTo(all - is.flows().size());
            assertThat(there.plus(is.outside())).isEqualTo(is.received());
        }
    }

    /** What is kept of a flow is what is shown of it, however many processors have counted. */
    @Test
    void sampleKeepsNothingOfTheKernelsValues() throws Exception {
        int n = 20_000;
        try (BpfMap flows = MonitorProgram.flows(4 * n); BpfMap totals = MonitorProgram.totals()) {
            byte[] key = new byte[flows.keyBytes()];
            byte[] value = new byte[flows.valueBytes()];
            for (int at = MonitorProgram.FLOW_PACKETS; at < value.length; at += MonitorProgram.FLOW_VALUE_BYTES) {
                value[at] = 3; // of each processor
            }
            key[Fields.KIND] = Fields.IPV4;
            for (int i = 0; i < n; i++) {
                ByteBuffer.wrap(key).putInt(Fields.SOURCE, i);
                flows.update(key, value);
            }
            long packets = 3L * BpfMap.possibleCpus();
            MonitorSample[] last = new MonitorSample[1];
            long bytes = AllocatedBytes.leastOf(() -> last[0] = FlowMonitor.sample(flows, totals, 0));
            assertThat(last[0].flows()).hasSize(n).allSatisfy((flow, count) -> assertThat(count.packets()).isEqualTo(
                    packets));
            assertThat(bytes / n).as("bytes of a flow").isLessThan(800);
            System.out.println("a sample takes " + bytes / n + " bytes a flow");
        }
    }

    @Test
    void longestFilterFits() throws Exception {
        StringBuilder text = new StringBuilder("host 10.0.0.0");
        for (int i = 1; i < 150; i++) {
            text.append(" or ").append("10.0.0.").append(i);
        }
        try (BpfMap flows = MonitorProgram.flows(512);
                BpfMap totals = MonitorProgram.totals();
                Fd program = load(flows, totals, PacketFilter.of(text.toString()))) {
            System.out.println("a packet that 150 hosts do not want: " + Bpf.testRun(program, udp(1), 10_000)
                    .nanos() + " ns");
        }
        try (BpfMap flows = MonitorProgram.flows(512);
                BpfMap totals = MonitorProgram.totals();
                Fd program = load(flows, totals, null)) {
            System.out.println("a packet of a known flow: " + Bpf.testRun(program, udp(1), 100_000).nanos()
                    + " ns");
        }
    }
}
