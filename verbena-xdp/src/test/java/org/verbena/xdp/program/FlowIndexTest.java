// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.VerbsException;

/** Flows in Java do with each packet what the model does, and so the program. */
class FlowIndexTest {
    private static final int SEEDS = Thorough.ON ? 300 : 60;
    private static final int ROUNDS = 4;
    private static final int PACKETS = 150;

    /** A flow that remembers what it was given. */
    private static final class Counted implements FlowIndex.Entry {
        private final FlowAction action;
        private long packets;
        private long bytes;

        Counted(FlowAction action) {
            this.action = action;
        }

        @Override
        public FlowAction action() {
            return action;
        }

        @Override
        public void count(int more) {
            packets++;
            bytes += more;
        }

        FlowCount count() {
            return new FlowCount(packets, bytes);
        }
    }

    @Test
    void indexDoesWhatTheModelDoes() throws Exception {
        Seeds.each(SEEDS, FlowIndexTest::compare);
    }

    private static void compare(Random random) throws Exception {
        RandomTraffic traffic = new RandomTraffic(random);
        FlowModel model = new FlowModel();
        FlowIndex index = new FlowIndex();
        Map<FlowModel.Rule, Counted> flows = new LinkedHashMap<>();
        PacketKey key = new PacketKey();
        try (Arena arena = Arena.ofConfined()) {
            for (int round = 0; round < ROUNDS; round++) {
                change(random, traffic, model, index, flows);
                for (int i = 0; i < PACKETS; i++) {
                    byte[] packet = i % 20 == 0 ? traffic.large() : traffic.packet();
                    MemorySegment there = arena.allocate(packet.length); // what is behind it throws
                    MemorySegment.copy(packet, 0, there, ValueLayout.JAVA_BYTE, 0, packet.length);
                    assertThat(key.read(there, 0, packet.length)).isTrue();
                    assertThat(verdict(index.handle(key, packet.length))).as(() -> PacketModel.of(packet) + "\n" + model
                            .rules())
                            .isEqualTo(model.handle(packet, 1));
                }
            }
        }
        flows.forEach((rule, flow) -> {
            assertThat(flow.count()).as(() -> rule + "\n" + model.rules()).isEqualTo(model.count(rule.entry()
                    .counter()));
            index.remove(match(rule), flow);
        });
        assertThat(index.isEmpty()).isTrue();
    }

    private static int verdict(@Nullable FlowAction action) {
        return action == FlowAction.REDIRECT
                ? Bpf.XDP_REDIRECT
                : action == FlowAction.DROP ? Bpf.XDP_DROP : Bpf.XDP_PASS;
    }

    private static FlowMatch match(FlowModel.Rule rule) {
        try {
            return FlowMatch.of(rule.attributes());
        } catch (VerbsException e) {
            throw new AssertionError(e);
        }
    }

    private static void change(Random random, RandomTraffic traffic, FlowModel model, FlowIndex index,
            Map<FlowModel.Rule, Counted> flows) throws IOException {
        for (FlowModel.Rule rule : List.copyOf(flows.keySet())) {
            if (random.nextInt(3) == 0) {
                model.remove(rule);
                index.remove(match(rule), flows.remove(rule));
            }
        }
        for (int i = random.nextInt(12); i >= 0; i--) {
            FlowAttributes attributes = traffic.flow();
            FlowMatch match;
            try {
                match = FlowMatch.of(attributes);
            } catch (VerbsException contradiction) {
                assertThat(contradiction.errno()).isEqualTo(Errno.EINVAL);
                continue;
            }
            FlowAction action = match.watches()
                    ? FlowAction.COUNT
                    : random.nextBoolean() ? FlowAction.DROP : FlowAction.REDIRECT;
            FlowModel.Rule rule = new FlowModel.Rule(attributes, new FlowEntry(action, 0, random.nextInt(1,
                    1 << 30), 0));
            Counted flow = new Counted(action);
            if (!rule.watches() && model.rules().stream().anyMatch(rule::isSame)) {
                assertThatThrownBy(() -> index.add("test", match, flow)).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
            } else if (model.rules().stream().noneMatch(rule::isBeside)) { // which of both comes first is not said
                index.add("test", match, flow);
                flows.put(rule, flow);
                model.add(rule);
            }
        }
    }

    @Test
    void manyFlowsUnderOneMask() throws Exception {
        FlowIndex index = new FlowIndex();
        PacketKey key = new PacketKey();
        byte[] packet = new byte[60];
        packet[12] = 8;
        packet[14] = 0x45;
        packet[17] = 46;
        packet[23] = 17;
        MemorySegment memory = MemorySegment.ofArray(packet);
        int count = 60_000;
        List<Counted> flows = new ArrayList<>();
        for (int port = 0; port < count; port++) {
            flows.add(new Counted(port % 3 == 0 ? FlowAction.DROP : FlowAction.REDIRECT));
            index.add("test", to(port), flows.getLast());
        }
        for (int port = 0; port < count; port += 2) {
            index.remove(to(port), flows.get(port));
        }
        for (int port = 0; port < 1 << 16; port++) {
            packet[36] = (byte) (port >> 8);
            packet[37] = (byte) port;
            assertThat(key.read(memory, 0, packet.length)).isTrue();
            assertThat(index.handle(key, 1)).as("port %d", port).isEqualTo(port >= count || port % 2 == 0
                    ? null
                    : port % 3 == 0 ? FlowAction.DROP : FlowAction.REDIRECT);
        }
    }

    private static FlowMatch to(int port) throws VerbsException {
        return FlowMatch.of(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port))
                .build());
    }
}
