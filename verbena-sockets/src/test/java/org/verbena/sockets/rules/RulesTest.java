// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.Verbena;

/** The rules of this process: added ones, counters, threads. */
class RulesTest {
    private static InetSocketAddress peer(int port) {
        return new InetSocketAddress("192.0.2.1", port);
    }

    private static Transport client(int port) {
        return Rules.decide(Role.TCP_CLIENT, null, peer(port)).transport();
    }

    @AfterEach
    void on() {
        Verbena.offload(true);
    }

    @Test
    void addedRuleComesFirst() {
        assertThat(client(7001)).isEqualTo(Transport.STREAM);
        Verbena.addRule("use os tcp_client *:7001-7002 counter added");
        assertThat(client(7001)).isEqualTo(Transport.OS);
        Verbena.addRule("use stream tcp_client *:7001 counter added");
        assertThat(client(7001)).isEqualTo(Transport.STREAM);
        assertThat(client(7002)).isEqualTo(Transport.OS);
        assertThat(client(7003)).isEqualTo(Transport.STREAM);
        assertThat(Verbena.ruleCounters()).containsEntry("added", 3L);
        assertThat(Rules.check().rules(Role.TCP_CLIENT)).element(0).satisfies(r -> assertThat(r.hits()).isEqualTo(1));
    }

    @Test
    void invalidRuleChangesNothing() {
        assertThatThrownBy(() -> Verbena.addRule("use os tcp_client *:8001\nuse os tcp_cleint *:8002"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("rule, line 2, column 8: unknown word 'tcp_cleint'");
        assertThat(client(8001)).isEqualTo(Transport.STREAM);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "mlx5_0 | device 'mlx5_0' is not one that reaches other hosts",
        "shm0 | device 'shm0' is not one that reaches other hosts",
        "roce_nosuch0 | there is no device 'roce_nosuch0', for there is no such network interface; there are ",
        "roce_lo | device 'roce_lo' reaches this host alone"})
    void unusableDeviceIsRefused(String device, String why) {
        assertThatThrownBy(() -> Verbena.addRule("use stream tcp_client *:8201 device " + device))
                .isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith("rule, line 1: " + why);
        assertThat(Rules.decide(Role.TCP_CLIENT, null, peer(8201)).rule()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"'', none", "' \n', none", "# use os tcp_client *:8101, none",
        "'use os tcp_client *:8101\nuse os tcp_client *:8102', 2"})
    void onlyOneRuleIsAddedAtATime(String line, String has) {
        assertThatThrownBy(() -> Verbena.addRule(line)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("exactly one 'use' line can be added at a time, and '" + line + "' has " + has);
        assertThat(client(8101)).isEqualTo(Transport.STREAM);
    }

    @Test
    void stackRulesAreCounted() {
        Verbena.addRule("use vma tcp_client *:9001");
        long before = Verbena.ruleCounters().getOrDefault(Rules.NO_STACK, 0L);
        assertThat(client(9001)).isEqualTo(Transport.OS);
        assertThat(Verbena.ruleCounters()).containsEntry(Rules.NO_STACK, before + 1);
    }

    private static boolean isOffloadedIn(Thread.Builder kind, boolean process, Boolean own) throws Exception {
        AtomicReference<Boolean> seen = new AtomicReference<>();
        Thread t = kind.unstarted(() -> seen.set(Rules.isOffloaded()));
        Verbena.offload(process);
        if (own != null) {
            Verbena.offload(t, own);
        }
        t.start();
        t.join();
        return seen.get();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void threadSettingOverridesTheProcess(boolean virtual) throws Exception {
        Thread.Builder kind = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
        assertThat(isOffloadedIn(kind, true, null)).isTrue();
        assertThat(isOffloadedIn(kind, false, null)).isFalse();
        assertThat(isOffloadedIn(kind, true, false)).isFalse();
        assertThat(isOffloadedIn(kind, false, true)).isTrue();
        assertThat(isOffloadedIn(kind, true, null)).as("another thread").isTrue();
    }

    @Test
    void disabledOffloadIgnoresRules() {
        Verbena.addRule("use stream tcp_client *:6001 counter unasked");
        Verbena.offload(false);
        assertThat(client(6001)).isEqualTo(Transport.OS);
        assertThat(Verbena.ruleCounters()).doesNotContainKey("unasked");
        assertThat(Rules.decide(Role.TCP_CLIENT, null, peer(6001), true).transport()).isEqualTo(Transport.STREAM);
    }
}
