// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.testkit.Thorough;
import org.verbena.verbs.Context;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.WcOpcode;

/** The largest possible transfers between two processes. */
abstract class LargeTransferConformance extends Conformance {
    private static final long MIB = 1 << 20;

    LargeTransferConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    /** 64 MiB each way, with {@code -Dthorough} one gibibyte, in as few messages as the port allows. */
    @Test
    @Timeout(300)
    void largestTransferIsWrittenAndRead() throws Exception {
        try (Context c = fixture.open()) {
            long wanted = Thorough.ON ? Long.MAX_VALUE : 64 * MIB;
            long n = Math.min(Math.min(wanted, fixture.largestTransfer()), c.queryDevice().maxMrSize());
            PortAttributes port = c.queryPort(1);
            long piece = Math.min(n, port.maxMessageSize());
            Pair p = connected(EndOptions.defaults().bytes(n), EndOptions.defaults().bytes(n));
            p.near.fill(0, n, 77);
            for (long at = 0; at < n; at += piece) {
                long length = Math.min(piece, n - at);
                assertPosted(p.near.post(Op.write(at, p.farAddress, at).on(at, length)));
                assertDone(WcOpcode.RDMA_WRITE, at, p.near.awaitSend());
            }
            assertThat(p.far.mismatch(0, n, 77)).isEqualTo(-1);
            p.far.fill(0, n, 78);
            for (long at = 0; at < n; at += piece) {
                long length = Math.min(piece, n - at);
                assertPosted(p.near.post(Op.read(at, p.farAddress, at).on(at, length)));
                assertDone(WcOpcode.RDMA_READ, at, p.near.awaitSend());
            }
            assertThat(Pattern.mismatch(p.near.at(0, n), 78)).isEqualTo(-1);
            // the memory is there now: sizes in between, which start and end anywhere
            for (long size : new long[] {16 * MIB + 1, 100 * MIB, 512 * MIB - 3, n - 1}) {
                if (size < n && size <= port.maxMessageSize()) {
                    everyOperation(p, 1, size);
                }
            }
        }
    }

    /** Smaller transfers with memory of both kinds: registered memory may use a different path. */
    @ParameterizedTest
    @EnumSource(EndOptions.Memory.class)
    void severalMebibytesOfEachMemoryKindAreTransferred(EndOptions.Memory memory) throws Exception {
        long middle = 33 * MIB + 7;
        long n = Math.min(Thorough.ON ? 64 * MIB : middle + 5, fixture.largestTransfer());
        Pair p = connected(EndOptions.defaults().memory(memory).bytes(n), EndOptions.defaults().memory(memory).bytes(
                n));
        long most = Math.min(n, p.near.context.queryPort(1).maxMessageSize());
        for (long size : Thorough.ON
                ? new long[] {16 * MIB + 1, middle, most - 5}
                : new long[] {16 * MIB + 1, middle}) {
            if (size <= most - 5) {
                everyOperation(p, 5, size);
            }
        }
        everyOperation(p, 0, most);
    }

    private static void everyOperation(Pair p, long at, long size) throws Exception {
        p.near.fill(at, size, size);
        assertPosted(p.near.post(Op.write(1, p.farAddress, at).on(at, size)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        assertThat(p.far.mismatch(at, size, size)).as("WRITE of %d", size).isEqualTo(-1);

        p.near.fill(at, size, size + 1);
        assertPosted(p.far.postReceives(Op.receive(2).on(at, size)));
        assertPosted(p.near.post(Op.send(3).on(at, size)));
        assertDone(WcOpcode.SEND, 3, p.near.awaitSend());
        assertReceived(2, size, p.far.awaitReceive());
        assertThat(p.far.mismatch(at, size, size + 1)).as("SEND of %d", size).isEqualTo(-1);

        p.near.at(at, size).fill((byte) 0);
        assertPosted(p.near.post(Op.read(4, p.farAddress, at).on(at, size)));
        assertDone(WcOpcode.RDMA_READ, 4, p.near.awaitSend());
        assertThat(Pattern.mismatch(p.near.at(at, size), size + 1)).as("READ of %d", size).isEqualTo(-1);
    }
}
