package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.verbs.Context;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.WcOpcode;

/** A transfer as large as a test can be, between two processes. */
abstract class LargeTransferConformance extends Conformance {
    LargeTransferConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    /** One gibibyte each way, in as few messages as the port allows. */
    @Test
    @Timeout(300)
    void aGibibyteIsWrittenAndRead() throws Exception {
        try (Context c = fixture.open()) {
            long n = Math.min(fixture.largestTransfer(), c.queryDevice().maxMrSize());
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
        }
    }
}
