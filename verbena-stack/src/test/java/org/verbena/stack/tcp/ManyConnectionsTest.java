// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;
import org.verbena.testkit.Thorough;

final class ManyConnectionsTest {
    private static final int COUNT = Thorough.ON ? 100_000 : 20_000;
    private static final int PORTS = 10;
    private static final int MOST_BYTES = 4096;

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime r = Runtime.getRuntime();
        return r.totalMemory() - r.freeMemory();
    }

    private static void exchange(Network n, Connection from, Connection to) throws IOException {
        assertThat(from.write(ByteBuffer.wrap(new byte[] {1}), n.now)).isEqualTo(1);
        assertThat(n.run(Network.SECOND, () -> to.readable() == 1)).isTrue();
        assertThat(to.read(ByteBuffer.allocate(1), n.now)).isEqualTo(1);
    }

    /** Each has sent a byte both ways, and lies idle then. */
    @Test
    void idleConnectionsTakeLittleMemory() throws Exception {
        Network n = new Network(1, new Host(1), new Host(2));
        List<Listener> listeners = new ArrayList<>();
        for (int i = 0; i < PORTS; i++) {
            listeners.add(Objects.requireNonNull(n.b.tcp.listen(80 + i, 10, TcpSettings.DEFAULT)));
        }
        long before = heap();
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            Listener l = listeners.get(i % PORTS);
            Connection c = Objects.requireNonNull(Host.connect(n.a.tcp, 0, n.b.address, l.port(), TcpSettings.DEFAULT,
                    n.now));
            assertThat(n.run(Network.SECOND, () -> l.ready() == 1)).isTrue();
            Connection d = Objects.requireNonNull(l.accept());
            exchange(n, c, d);
            exchange(n, d, c);
            all.add(c);
            all.add(d);
        }
        n.pass(10 * Network.SECOND);
        assertThat(n.a.tcp.memory()).isZero();
        assertThat(n.b.tcp.memory()).isZero();
        long each = (heap() - before) / all.size();
        assertThat(each).as("bytes of heap of a connection").isLessThan(MOST_BYTES);
        for (Connection c : all) {
            assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
            c.abort(n.now);
        }
        System.out.println(COUNT + " connections: " + each + " bytes each");
    }
}
