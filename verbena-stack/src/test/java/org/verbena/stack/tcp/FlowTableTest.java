// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.stack.model.TcpSettings;
import org.verbena.testkit.Seeds;

/** The table against a map. */
final class FlowTableTest {
    @Test
    void doesAsAMapDoes() {
        Seeds.each(100, r -> {
            Connection some = new Peer().accepted(TcpSettings.DEFAULT);
            FlowTable t = new FlowTable(r.nextLong());
            Map<Long, Flow> model = new HashMap<>();
            int keys = 1 << r.nextInt(1, 13);
            for (int i = 0; i < 5000; i++) {
                int n = r.nextInt(keys);
                long key = FlowTable.key(n * 0x0101_0101, n * 7 & 0xffff, 0xffff - (n & 3));
                switch (r.nextInt(3)) {
                    case 0 -> {
                        Flow f = new TimeWait(some, 0);
                        t.put(key, f);
                        model.put(key, f);
                    }
                    case 1 -> {
                        t.remove(key);
                        model.remove(key);
                    }
                    default -> {}
                }
                assertThat(t.get(key)).isSameAs(model.get(key));
                assertThat(t.size()).isEqualTo(model.size());
            }
            model.forEach((k, f) -> assertThat(t.get(k)).isSameAs(f));
            Set<Flow> all = new HashSet<>();
            t.forEach(all::add);
            assertThat(all).isEqualTo(new HashSet<>(model.values()));
        });
    }

    @Test
    void keysAreOneToOne() {
        Seeds.each(100, r -> {
            int remote = r.nextInt();
            int remotePort = r.nextInt(65_536);
            int port = r.nextInt(65_536);
            long k = FlowTable.key(remote, remotePort, port);
            assertThat((int) (k >> 32)).isEqualTo(remote);
            assertThat((int) (k >> 16) & 0xffff).isEqualTo(remotePort);
            assertThat((int) k & 0xffff).isEqualTo(port);
        });
    }
}
