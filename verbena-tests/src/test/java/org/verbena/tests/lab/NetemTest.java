// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NetemTest {
    @Test
    void countsComeFromNetemOnly() {
        String output = """
                qdisc ingress ffff: parent ffff:fff1 ----------------
                 Sent 9 bytes 7 pkt (dropped 5, overlimits 0 requeues 0)
                 backlog 0b 0p requeues 0
                qdisc netem 8001: root refcnt 2 limit 1000 delay 1ms loss 3%
                 Sent 54336 bytes 652 pkt (dropped 13, overlimits 0 requeues 0)
                 backlog 0b 0p requeues 0
                """;
        assertThat(Netem.counts(output)).isEqualTo(new Netem.Counts(652, 13));
    }

    @Test
    void outputWithoutNetemIsReported() {
        assertThatThrownBy(() -> Netem.counts("qdisc noqueue 0: root refcnt 2")).isInstanceOf(
                IllegalArgumentException.class).hasMessageContaining("no counts of netem");
    }

    @Test
    void everyLossyLinkMustLosePackets() {
        Netem in = new Netem("a", true, "loss 2% delay 1ms");
        assertThat(in.judge(new Netem.Counts(300, 0))).isEqualTo(
                "netem: a receives: loss 2% delay 1ms: lost none of 300 packets, so nothing was seen: send more of them");
        assertThat(in.judge(new Netem.Counts(300, 1))).isEmpty();
        assertThat(new Netem("a", true, "delay 1ms").judge(new Netem.Counts(300, 0))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"loss 3%,true", "delay 1ms loss 2%,true", "duplicate 5% delay 1ms,false"})
    void lossyLinksAreIdentified(String effect, boolean loses) {
        assertThat(new Netem("a", true, effect).loses()).isEqualTo(loses);
    }
}
