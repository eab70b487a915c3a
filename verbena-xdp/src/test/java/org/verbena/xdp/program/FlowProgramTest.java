// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Xsk;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.VerbsException;

/** The program in the kernel does with each packet what the model does, and counts the same. */
class FlowProgramTest {
    private static final int SEEDS = Thorough.ON ? 100 : 10;
    private static final int ROUNDS = 4;
    private static final int PACKETS = 150;
    private static final int ALIVE = 3;
    private static final int COUNTERS = 40;
    private static final int CHUNK = 4096;
    private static final FlowMaps.Capacity SMALL = new FlowMaps.Capacity(64, COUNTERS, 3);

    @BeforeAll
    static void needsBpf() throws IOException {
        Privileges.requireBpf();
    }

    /** Loads, and keeps what the verifier says about a program that it refuses. */
    private static Fd load(FlowMaps maps) throws LinuxException {
        try {
            return FlowProgram.load(maps);
        } catch (LinuxException e) {
            System.out.println(Bpf.verifierLog(Bpf.BPF_PROG_TYPE_XDP, FlowProgram.instructions(maps),
                    FlowProgram.LICENSE, Bpf.BPF_F_XDP_HAS_FRAGS));
            throw e;
        }
    }

    @Test
    void verifierAcceptsTheProgramForAnyNumberOfQueues() throws Exception {
        for (int queues : new int[] {1, 2, 63, 1000}) {
            try (FlowMaps maps = FlowMaps.create(SMALL, queues); Fd program = load(maps)) {
                assertThat(program.value()).isPositive();
                if (queues == 1) {
                    String log = Bpf.verifierLog(Bpf.BPF_PROG_TYPE_XDP, FlowProgram.instructions(maps),
                            FlowProgram.LICENSE, Bpf.BPF_F_XDP_HAS_FRAGS);
                    System.out.println(FlowProgram.instructions(maps).length + " instructions; " + log.lines().filter(
                            l -> l.startsWith("processed")).findFirst().orElse(log));
                }
            }
        }
    }

    @Test
    void programDoesAndCountsWhatTheModelDoes() throws Exception {
        try (Xsk socket = Xsk.open(Mapping.anonymous(CHUNK), CHUNK, 4)) {
            Seeds.each(SEEDS, random -> compare(random, socket));
        }
    }

    private static void compare(Random random, Xsk socket) throws Exception {
        RandomTraffic traffic = new RandomTraffic(random);
        FlowModel model = new FlowModel();
        try (FlowMaps maps = FlowMaps.create(SMALL, 2); Fd program = load(maps); Fd alive = Xsk.socket()) {
            maps.owners().update(FlowMaps.index(ALIVE), FlowMaps.index(alive.value()));
            maps.redirect(0, 0, socket.fd());
            maps.redirect(1, 0, socket.fd());
            FlowTable table = new FlowTable(maps);
            Map<FlowModel.Rule, FlowTable.Entry> flows = new LinkedHashMap<>();
            for (int round = 0; round < ROUNDS; round++) {
                change(random, traffic, model, table, flows);
                for (int i = 0; i < PACKETS; i++) {
                    byte[] packet = i % 20 == 0 ? traffic.large() : traffic.packet();
                    int expected = model.handle(packet, 2);
                    assertThat(Bpf.testRun(program, packet)).as(() -> describe(packet, model)).isEqualTo(expected);
                }
                for (int counter = 1; counter <= COUNTERS; counter++) {
                    int number = counter;
                    assertThat(maps.read(counter)).as(() -> "counter " + number + " of " + model.rules()).isEqualTo(
                            model.count(counter));
                }
            }
        }
    }

    private static String describe(byte[] packet, FlowModel model) {
        return HexFormat.of().formatHex(packet, 0, Math.min(packet.length, 200)) + " of " + packet.length + " bytes: "
                + PacketModel.of(packet) + "\n" + String.join("\n", model.rules().stream().map(Object::toString)
                        .toList());
    }

    private static void change(Random random, RandomTraffic traffic, FlowModel model, FlowTable table,
            Map<FlowModel.Rule, FlowTable.Entry> flows) throws IOException {
        for (FlowModel.Rule rule : List.copyOf(flows.keySet())) {
            if (random.nextInt(3) == 0) {
                flows.remove(rule).close();
                model.remove(rule);
            }
        }
        for (int i = random.nextInt(8); i >= 0; i--) {
            FlowAttributes attributes = traffic.flow();
            FlowModel.Rule rule = rule(random, attributes);
            if (model.rules().stream().anyMatch(rule::isBeside)) { // which of both comes first is not said
                FlowAttributes.Builder other = FlowAttributes.builder().type(attributes.type()).flags(attributes
                        .flags()).priority(4 + random.nextInt(60_000));
                attributes.specs().forEach(other::spec);
                rule = new FlowModel.Rule(other.build(), rule.entry());
            }
            FlowMatch match;
            try {
                match = FlowMatch.of(rule.attributes());
            } catch (VerbsException contradiction) {
                assertThat(contradiction.errno()).isEqualTo(Errno.EINVAL);
                continue;
            }
            if (table.lookups() >= MaskList.MAX - 1) {
                continue;
            }
            FlowModel.Rule added = rule;
            if (!rule.watches() && model.rules().stream().anyMatch(rule::isSame)) {
                assertThatThrownBy(() -> table.add(match, added.entry())).isInstanceOfSatisfying(LinuxException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
                continue;
            }
            flows.put(rule, table.add(match, rule.entry()));
            model.add(rule);
        }
        assertThat(table.size()).isEqualTo(flows.size());
    }

    private static FlowModel.Rule rule(Random random, FlowAttributes attributes) {
        FlowModel.Rule plain = new FlowModel.Rule(attributes, new FlowEntry(FlowAction.COUNT, 0, 0, 0));
        FlowAction action = plain.watches()
                ? FlowAction.COUNT
                : List.of(FlowAction.DROP, FlowAction.REDIRECT, FlowAction.REDIRECT, FlowAction.PASS).get(random
                        .nextInt(4));
        int target = action == FlowAction.REDIRECT ? random.nextInt(3) : 0;
        return new FlowModel.Rule(attributes, new FlowEntry(action, target, random.nextInt(COUNTERS + 1), List.of(
                0, ALIVE, ALIVE, FlowModel.ENDED).get(random.nextInt(4))));
    }

    private static FlowAttributes toPort(int port, int priority) {
        return FlowAttributes.builder().priority(priority).spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port))
                .build();
    }

    private static FlowEntry drop(int counter) {
        return new FlowEntry(FlowAction.DROP, 0, counter, 0);
    }

    @Test
    void secondTableTakesOverTheFlowsInTheMaps() throws Exception {
        try (FlowMaps maps = FlowMaps.create(SMALL, 1)) {
            FlowTable first = new FlowTable(maps);
            first.add(FlowMatch.of(toPort(53, 0)), drop(1));
            first.add(FlowMatch.of(toPort(54, 7)), drop(2));
            FlowTable second = new FlowTable(maps);
            assertThat(second.size()).isEqualTo(2);
            assertThat(second.lookups()).isEqualTo(2);
            assertThatThrownBy(() -> second.add(FlowMatch.of(toPort(53, 0)), drop(1))).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST)).hasMessageContaining(
                            "priority");
        }
    }

    @Test
    void masksWithoutFlowsAreNotLookedUp() throws Exception {
        try (FlowMaps maps = FlowMaps.create(SMALL, 1)) {
            FlowTable table = new FlowTable(maps);
            List<FlowTable.Entry> entries = new ArrayList<>();
            for (int priority = 0; priority < MaskList.MAX; priority++) {
                entries.add(table.add(FlowMatch.of(toPort(53, priority)), drop(0)));
            }
            assertThat(table.lookups()).isEqualTo(MaskList.MAX);
            assertThatThrownBy(() -> table.add(FlowMatch.of(toPort(53, 99)), drop(0))).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM)).hasMessageContaining(
                            "16 combinations");
            for (FlowTable.Entry entry : entries.subList(4, MaskList.MAX)) {
                entry.close();
                entry.close();
            }
            assertThat(table.lookups()).isEqualTo(4);
            entries.get(0).close();
            assertThat(table.lookups()).as("those behind it are still there").isEqualTo(4);
            FlowTable.Entry again = table.add(FlowMatch.of(toPort(54, 3)), drop(0));
            table.add(FlowMatch.of(toPort(53, 99)), drop(0));
            assertThat(table.lookups()).as("a new list has no masks without flows").isEqualTo(4);
            assertThatThrownBy(() -> entries.get(0).update(drop(1))).isInstanceOf(IllegalStateException.class);
            again.update(drop(1));
        }
    }

    @Test
    void fullMapIsEnomem() throws Exception {
        try (FlowMaps maps = FlowMaps.create(new FlowMaps.Capacity(3, 1, 1), 1)) {
            FlowTable table = new FlowTable(maps);
            for (int port = 0; port < 3; port++) {
                table.add(FlowMatch.of(toPort(port, 0)), drop(0));
            }
            assertThatThrownBy(() -> table.add(FlowMatch.of(toPort(3, 0)), drop(0))).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
            assertThat(table.size()).isEqualTo(3);
        }
    }

    /** Two processors run the program while the lists are switched: the flow takes each packet and counts it once. */
    @Test
    void noPacketIsLostWhileMasksChange() throws Exception {
        byte[] packet = new byte[60];
        int times = 500;
        int repeat = 400;
        FlowAttributes last = FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build();
        try (FlowMaps maps = FlowMaps.create(SMALL, 1); Fd program = load(maps)) {
            FlowTable table = new FlowTable(maps);
            table.add(FlowMatch.of(last), drop(1));
            List<CompletableFuture<Integer>> runs = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                CompletableFuture<Integer> run = new CompletableFuture<>();
                runs.add(run);
                Thread.ofPlatform().daemon().start(() -> run(program, packet, times, repeat, run));
            }
            int changes = 0;
            while (!runs.stream().allMatch(CompletableFuture::isDone)) {
                try (FlowTable.Entry one = table.add(FlowMatch.of(toPort(changes, changes % 7)), drop(2));
                        FlowTable.Entry two = table.add(FlowMatch.of(toPort(changes, 8 + changes % 5)), drop(2))) {
                    assertThat(one).isNotSameAs(two);
                }
                changes++;
            }
            for (CompletableFuture<Integer> run : runs) {
                assertThat(run.get()).as("packets that were not dropped, of " + changes + " changes").isZero();
            }
            assertThat(maps.read(1)).isEqualTo(new FlowCount(2L * times * repeat, 2L * times * repeat * packet.length));
            assertThat(maps.read(2)).isEqualTo(new FlowCount(0, 0));
        }
    }

    private static void run(Fd program, byte[] packet, int times, int repeat, CompletableFuture<Integer> other) {
        try {
            int passed = 0;
            for (int i = 0; i < times; i++) {
                passed += Bpf.testRun(program, packet, repeat).result() == Bpf.XDP_DROP ? 0 : 1;
            }
            other.complete(passed);
        } catch (LinuxException e) {
            other.completeExceptionally(e);
        }
    }

    @Test
    void countersAreReadAndReset() throws Exception {
        byte[] packet = new byte[60];
        try (FlowMaps maps = FlowMaps.create(SMALL, 1); Fd program = load(maps)) {
            FlowTable table = new FlowTable(maps);
            try (FlowTable.Entry all = table.add(FlowMatch.of(FlowAttributes.builder().build()), drop(1))) {
                assertThat(Bpf.testRun(program, packet, 1000).result()).as(all.toString()).isEqualTo(Bpf.XDP_DROP);
            }
            assertThat(Bpf.testRun(program, packet)).isEqualTo(Bpf.XDP_PASS);
            assertThat(maps.read(1)).isEqualTo(new FlowCount(1000, 60_000));
            maps.reset(1);
            assertThat(maps.read(1)).isEqualTo(new FlowCount(0, 0));
            assertThatThrownBy(() -> maps.read(COUNTERS + 1)).isInstanceOf(LinuxException.class);
        }
    }
}
