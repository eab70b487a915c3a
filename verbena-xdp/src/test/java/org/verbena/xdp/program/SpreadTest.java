// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Xsk;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;

/** The program in the kernel hashes each packet as the model does, and chooses the target by that. */
class SpreadTest {
    private static final int CHUNK = 4096;
    private static final int PACKETS = 60;
    private static final int BITS = 8;
    /** Targets: the flow's, one without a socket, one with it. */
    private static final int FLOW = 2;
    private static final int EMPTY = 0;
    private static final int SOCKET = 1;
    private static final FlowMaps.Capacity SMALL = new FlowMaps.Capacity(8, 8, 3);

    @BeforeAll
    static void needsBpf() throws IOException {
        Privileges.requireBpf();
    }

    private static int fields(Random random) {
        int network = random.nextBoolean()
                ? RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4
                : RxHashFields.SRC_IPV6 | RxHashFields.DST_IPV6;
        int transport = random.nextBoolean()
                ? RxHashFields.SRC_PORT_TCP | RxHashFields.DST_PORT_TCP
                : RxHashFields.SRC_PORT_UDP | RxHashFields.DST_PORT_UDP;
        return (network | transport) & (random.nextInt(3) == 0 ? random.nextInt(256) : 255);
    }

    private static FlowMatch everything() throws Exception {
        return FlowMatch.of(FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build());
    }

    @Test
    void programHashesAsTheModelDoes() throws Exception {
        try (Xsk socket = Xsk.open(Mapping.anonymous(CHUNK), CHUNK, 4)) {
            Seeds.each(40, random -> {
                try (FlowMaps maps = FlowMaps.create(SMALL, 2); Fd program = FlowProgram.load(maps)) {
                    maps.redirect(SOCKET, 0, socket.fd());
                    new FlowTable(maps).add(everything(), new FlowEntry(FlowAction.SPREAD, FLOW, 1, 0));
                    RandomTraffic traffic = new RandomTraffic(random);
                    byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
                    random.nextBytes(key);
                    RxHashConfiguration hash = RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, key, fields(
                            random));
                    byte[][] packets = IntStream.range(0, PACKETS).mapToObj(i -> i % 20 == 0
                            ? traffic.large()
                            : traffic.packet()).toArray(byte[][]::new);
                    int[] found = new int[PACKETS];
                    for (int b = 0; b < BITS; b++) { // which of both targets says one bit of the hash
                        int bit = b;
                        maps.spread(FLOW, new Spread(hash, IntStream.range(0, Spread.MAX_ENTRIES).mapToObj(
                                i -> (i >> bit & 1) == 0 ? EMPTY : SOCKET).toList()));
                        for (int i = 0; i < PACKETS; i++) {
                            found[i] |= Bpf.testRun(program, packets[i]) == Bpf.XDP_REDIRECT ? 1 << bit : 0;
                        }
                    }
                    for (int i = 0; i < PACKETS; i++) {
                        PacketModel p = PacketModel.of(packets[i]);
                        assertThat(found[i]).as(hash + " " + p).isEqualTo(SpreadModel.hash(hash, p) & 0xff);
                    }
                }
            });
        }
    }

    @Test
    void sizeOfTheTableLimitsTheTarget() throws Exception {
        try (Xsk socket = Xsk.open(Mapping.anonymous(CHUNK), CHUNK, 4);
                FlowMaps maps = FlowMaps.create(SMALL, 1);
                Fd program = FlowProgram.load(maps)) {
            maps.redirect(SOCKET, 0, socket.fd());
            new FlowTable(maps).add(everything(), new FlowEntry(FlowAction.SPREAD, FLOW, 0, 0));
            byte[] packet = new byte[60]; // of no IP: its hash is 0
            assertThat(Bpf.testRun(program, packet)).as("nothing says how").isEqualTo(Bpf.XDP_PASS);
            RxHashConfiguration hash = RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, new byte[40], 255);
            for (int log = 0; log <= BITS; log++) {
                List<Integer> targets = new ArrayList<>(Collections.nCopies(1 << log, EMPTY));
                maps.spread(FLOW, new Spread(hash, targets));
                assertThat(Bpf.testRun(program, packet)).isEqualTo(Bpf.XDP_PASS);
                targets.set(0, SOCKET);
                maps.spread(FLOW, new Spread(hash, targets));
                assertThat(Bpf.testRun(program, packet)).isEqualTo(Bpf.XDP_REDIRECT);
            }
            maps.unspread(FLOW);
            assertThat(Bpf.testRun(program, packet)).isEqualTo(Bpf.XDP_PASS);
        }
    }

    @Test
    void wrongTablesAreRefused() {
        RxHashConfiguration hash = RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, new byte[40], 0);
        for (List<Integer> wrong : List.of(List.<Integer>of(), List.of(0, 1, 2), List.of(-1), List.of(1 << 16),
                Collections.nCopies(2 * Spread.MAX_ENTRIES, 0))) {
            assertThatThrownBy(() -> new Spread(hash, wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void asManyAsTargets() throws Exception {
        try (FlowMaps maps = FlowMaps.create(SMALL, 1)) {
            Spread way = new Spread(RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, new byte[40], 0), List.of(0));
            for (int target = 0; target < 3; target++) {
                maps.spread(target, way);
            }
            assertThatThrownBy(() -> maps.spread(3, way)).isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e
                    .errno()).isIn(Errno.ENOMEM, Errno.E2BIG));
        }
    }
}
