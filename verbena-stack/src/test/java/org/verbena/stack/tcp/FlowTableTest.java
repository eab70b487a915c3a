// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.Host;
import org.verbena.stack.ip.Path;
import org.verbena.stack.model.TcpSettings;
import org.verbena.testkit.Seeds;

/** The table against a map. */
final class FlowTableTest {
    private static final TcpPorts PORTS = new Host(1).tcp;

    /** Ends that differ in one part each, too. */
    private static Connection flow(int n) {
        Path p = new Path();
        p.set(n & 1, 7, (n >>> 1 & 1) == 0 ? 0xfe80L << 48 : n >>> 4, n >>> 2 & 3);
        return new Connection(PORTS, TcpSettings.DEFAULT, n, p, n * 7 & 0xffff, 0xffff - (n & 3));
    }

    @Test
    void doesAsAMapDoes() {
        Seeds.each(100, r -> {
            FlowTable t = new FlowTable(r);
            Map<String, Flow> model = new HashMap<>();
            int keys = 1 << r.nextInt(1, 13);
            for (int i = 0; i < 5000; i++) {
                Connection f = flow(r.nextInt(keys));
                String key = f.path + " " + f.remotePort + " " + f.port;
                switch (r.nextInt(3)) {
                    case 0 -> {
                        t.put(f.path, f.remotePort, f.port, f);
                        model.put(key, f);
                    }
                    case 1 -> {
                        t.remove(f.path, f.remotePort, f.port);
                        model.remove(key);
                    }
                    default -> {}
                }
                assertThat(t.get(f.path, f.remotePort, f.port)).isSameAs(model.get(key));
                assertThat(t.size()).isEqualTo(model.size());
            }
            for (int n = 0; n < keys; n++) {
                Connection f = flow(n);
                assertThat(t.get(f.path, f.remotePort, f.port)).isSameAs(model.get(f.path + " " + f.remotePort + " "
                        + f.port));
            }
        });
    }
}
