// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.VerbsException;

/** Flows in Java do with each packet what the model does, and so the program. */
class FlowIndexTest {
    private static final int SEEDS = 300;
    private static final int ROUNDS = 4;
    private static final int PACKETS = 150;

    @Test
    void indexDoesWhatTheModelDoes() throws Exception {
        Seeds.each(SEEDS, FlowIndexTest::compare);
    }

    private static void compare(Random random) throws Exception {
        RandomTraffic traffic = new RandomTraffic(random);
        FlowModel model = new FlowModel();
        FlowIndex index = new FlowIndex();
        List<FlowModel.Rule> rules = new ArrayList<>();
        PacketKey key = new PacketKey();
        try (Arena arena = Arena.ofConfined()) {
            for (int round = 0; round < ROUNDS; round++) {
                change(random, traffic, model, index, rules);
                for (int i = 0; i < PACKETS; i++) {
                    byte[] packet = i % 20 == 0 ? traffic.large() : traffic.packet();
                    MemorySegment there = arena.allocate(packet.length); // what is behind it throws
                    MemorySegment.copy(packet, 0, there, ValueLayout.JAVA_BYTE, 0, packet.length);
                    assertThat(key.read(there, 0, packet.length)).isTrue();
                    assertThat(verdict(index.find(key))).as(() -> PacketModel.of(packet) + "\n" + model.rules())
                            .isEqualTo(model.handle(packet, 1));
                }
            }
        }
        rules.forEach(r -> index.remove(match(r)));
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
            List<FlowModel.Rule> rules) throws IOException {
        for (FlowModel.Rule rule : List.copyOf(rules)) {
            if (random.nextInt(3) == 0) {
                rules.remove(rule);
                model.remove(rule);
                index.remove(match(rule));
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
            FlowModel.Rule rule = new FlowModel.Rule(attributes, new FlowEntry(action, 0, 0, 0));
            if (rule.watches()) {
                index.add("test", match, action); // counts nothing here, and takes nothing
            } else if (model.rules().stream().anyMatch(rule::isSame)) {
                assertThatThrownBy(() -> index.add("test", match, action)).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
            } else if (model.rules().stream().noneMatch(rule::isBeside)) { // which of both comes first is not said
                index.add("test", match, action);
                rules.add(rule);
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
        for (int port = 0; port < count; port++) {
            index.add("test", to(port), port % 3 == 0 ? FlowAction.DROP : FlowAction.REDIRECT);
        }
        for (int port = 0; port < count; port += 2) {
            index.remove(to(port));
        }
        for (int port = 0; port < 1 << 16; port++) {
            packet[36] = (byte) (port >> 8);
            packet[37] = (byte) port;
            assertThat(key.read(memory, 0, packet.length)).isTrue();
            assertThat(index.find(key)).as("port %d", port).isEqualTo(port >= count || port % 2 == 0
                    ? null
                    : port % 3 == 0 ? FlowAction.DROP : FlowAction.REDIRECT);
        }
    }

    private static FlowMatch to(int port) throws VerbsException {
        return FlowMatch.of(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port))
                .build());
    }
}
