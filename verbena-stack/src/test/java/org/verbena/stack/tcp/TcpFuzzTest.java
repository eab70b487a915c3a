// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;

/** Segments of any kind in any state: nothing throws, what has to hold does, and in the end nothing is left. */
final class TcpFuzzTest {
    private static final List<TcpState> REACHED = List.of(TcpState.ESTABLISHED, TcpState.FIN_WAIT_1,
            TcpState.FIN_WAIT_2,
            TcpState.CLOSE_WAIT, TcpState.CLOSING, TcpState.LAST_ACK);

    private static final int SEGMENTS = Thorough.ON ? 5000 : 400;
    private static final long MEMORY = 4 << 20;

    @Test
    void noSegmentDoesHarm() {
        Seeds.each(150, r -> run(r, SEGMENTS, () -> true));
    }

    /** Segments and calls that {@code r} chooses. */
    static void run(Random r, int most, BooleanSupplier goOn) throws Exception {
        Peer p = new Peer(new Host(1, 1500, 4096, MEMORY));
        p.initial = Peer.someInitial(r);
        TcpSettings s = TransferTest.some(r);
        List<Connection> all = new ArrayList<>();
        Listener l = p.host.tcp.listen(Peer.HOST_PORT + 1, 3, s);
        p.hostPort = Peer.HOST_PORT + 1;
        Connection c = r.nextBoolean() ? p.accepted(l, s) : null;
        if (c == null) {
            p.hostPort = Peer.HOST_PORT;
            c = r.nextInt(3) == 0 ? p.open(s) : p.opened(s);
        }
        all.add(c);
        if (c.state() == TcpState.ESTABLISHED) {
            p.window = r.nextBoolean() ? 0xffff : r.nextInt(5000);
            CloseTest.bring(p, c, REACHED.get(r.nextInt(REACHED.size())));
        }
        for (int i = 0; i < most && goOn.getAsBoolean(); i++) {
            step(p, all.get(r.nextInt(all.size())), r);
            for (Connection d = l.accept(); d != null; d = l.accept()) {
                all.add(d);
            }
            Invariants.check(p.host);
            assertThat(p.host.tcp.memory()).isLessThanOrEqualTo(MEMORY);
            p.seen.clear();
        }
        l.close(p.now());
        for (Connection d : all) {
            p.close(d);
        }
        p.pass(3600 * Peer.SECOND);
        p.nothingIsLeft();
        assertThat(p.host.tcp.timeWaits()).isZero();
    }

    private static void step(Peer p, Connection c, Random r) throws IOException {
        switch (r.nextInt(20)) {
            case 0, 1 -> {
                c.write(ByteBuffer.allocate(r.nextInt(20_000)), p.now());
                p.settle();
            }
            case 2 -> {
                c.read(ByteBuffer.allocate(r.nextInt(20_000)), p.now());
                p.settle();
            }
            case 3 -> p.pass(r.nextLong(1L << r.nextInt(1, 36)));
            case 4 -> {
                switch (r.nextInt(40)) {
                    case 0 -> p.finish(c);
                    case 1 -> p.close(c);
                    case 2 -> c.abort(p.now());
                    case 3, 4 -> c.cork(r.nextBoolean(), p.now());
                    case 5, 6 -> c.noDelay(r.nextBoolean(), p.now());
                    case 7, 8 -> c.writeUrgent((byte) 1, p.now());
                    case 9 -> p.icmp(3, r.nextInt(6), r.nextInt(1600), (r.nextBoolean() ? c.sender.una : r.nextInt())
                            - p.hostInitial);
                    default -> {}
                }
                p.settle();
            }
            default -> segment(p, c, r).send();
        }
    }

    private static int near(int n, int reach, Random r) {
        return switch (r.nextInt(8)) {
            case 0 -> r.nextInt();
            case 1 -> n + r.nextInt(2 * reach + 1) - reach;
            case 2 -> n + r.nextInt(reach + 1);
            case 3 -> n - r.nextInt(3);
            case 4 -> n + r.nextInt(3);
            default -> n;
        };
    }

    private static Peer.Draft segment(Peer p, Connection c, Random r) {
        int flags = r.nextInt(4) == 0 ? r.nextInt(256) : switch (r.nextInt(60)) {
            case 0 -> Peer.RST;
            case 1 -> Peer.SYN;
            case 2 -> Peer.SYN | Peer.ACK;
            case 3 -> Peer.FIN | Peer.ACK;
            default -> Peer.ACK;
        };
        if (r.nextInt(10) > 0) {
            flags &= ~(Peer.RST | Peer.SYN | Peer.FIN);
        }
        p.hostPort = c.port();
        Peer.Draft d = p.draft(flags);
        int window = Math.max(c.receiver.window(), 10);
        d.sequence = near(c.receiver.next, window, r) - p.initial;
        int unacknowledged = c.sender.outstanding();
        d.acknowledgment = (r.nextInt(4) == 0
                ? near(c.sender.una, unacknowledged, r)
                : c.sender.una + r.nextInt(unacknowledged + 1)) - p.hostInitial;
        d.window = r.nextInt(3) == 0 ? r.nextInt(1 << r.nextInt(1, 17)) : 0xffff;
        d.data = r.nextBoolean() ? new byte[0] : new byte[r.nextInt(1400)];
        d.urgent = r.nextInt(0x10000);
        d.ecn = r.nextInt(4);
        d.stamped = c.timestamps ^ r.nextInt(30) == 0;
        d.stamp = near(c.recent, 100, r);
        d.echoed = near(c.timestamp(p.now()), 1000, r);
        if (r.nextInt(3) == 0) {
            int[] blocks = new int[2 * (1 + r.nextInt(2))];
            for (int i = 0; i < blocks.length; i += 2) {
                int left = c.sender.una + r.nextInt(unacknowledged + 1);
                blocks[i] = near(left, 10, r) - p.hostInitial;
                blocks[i + 1] = blocks[i] + near(r.nextInt(unacknowledged + 1), 10, r);
            }
            d.sack(blocks);
        } else if (r.nextInt(10) == 0) {
            for (int i = r.nextInt(25); i > 0; i--) {
                d.option(r.nextInt(256));
            }
        }
        return d;
    }
}
