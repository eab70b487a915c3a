// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.sockets.SocketSamplePoint;
import org.verbena.verbs.SamplePoint;

class WhyAdviceTest {
    private static final String UNKNOWN = WhyAdvice.ofReason("of the next version", null, null, 0).meaning();

    /** As the statistics name them: there is a sample point for each. */
    static Stream<String> reasons() {
        return IntStream.rangeClosed(SocketSamplePoint.SOCKETS_BY_TCP_REMOTE_PEER,
                SocketSamplePoint.SOCKETS_BY_TCP_NOT_EARNED).mapToObj(p -> SamplePoint.toString(p).replace(
                        "SOCKETS_BY_TCP_", "").toLowerCase(Locale.ROOT));
    }

    @ParameterizedTest
    @MethodSource("reasons")
    void everyReasonHasAMeaningAndARemedy(String reason) {
        WhyAdvice a = WhyAdvice.ofReason(reason, null, null, 5);
        assertThat(a.meaning()).isNotEqualTo(UNKNOWN).matches("[A-Z].*[.]");
        assertThat(a.remedy()).matches("[A-Z].*[.)]");
    }

    @Test
    void pointsAreReasons() {
        assertThat(reasons()).contains("remote_peer", "foreign_selector", "not_earned").doesNotContain("growths");
        assertThat(UNKNOWN).contains("does not know");
    }

    @ParameterizedTest
    @CsvSource({"true, false, verbena attach 77", "true, true, verbena why 77", "false, false, ''"})
    void adviceForAPlainPeerDependsOnIt(boolean java, boolean verbena, String remedy) {
        WhyAdvice a = WhyAdvice.ofReason("plain_peer", new WhyPeer(77, 0, "x", java, verbena), null, 0);
        assertThat(a.remedy()).contains(remedy);
        assertThat(a.remedy().isEmpty()).isEqualTo(!java);
    }

    /** Rings need neither the IPC namespace nor the mount namespace of the peer; a process that reads its counter file needs its /dev/shm. */
    @Test
    void containersAreToldToShareWhatIsNeeded() {
        assertThat(reasons().map(r -> WhyAdvice.ofReason(r, null, null, 0).remedy())).noneMatch(r -> r.contains(
                "--ipc"));
        assertThat(WhyAdvice.ofReason("remote_peer", null, null, 0).remedy()).contains("--network container:NAME");
        assertThat(WhyAdvice.ofReason("other_namespace", null, null, 0).remedy()).contains("--pid container:NAME",
                "--userns", "docs/guides/containers.md");
        assertThat(WhyPresence.byState("active: channels", 77).remedy()).contains("/dev/shm", "--ipc container:NAME",
                "process 77").doesNotContain("mount namespace");
    }

    @Test
    void otherUserIsNamed() {
        WhyPeer peer = new WhyPeer(0, 1001, "", false, false);
        assertThat(WhyAdvice.ofReason("other_user", peer, null, 0).meaning()).contains("a process of user 1001");
        assertThat(WhyAdvice.ofReason("plain_peer", peer, null, 0).meaning()).contains("a process of user 1001");
    }

    @Test
    void ruleAndProgramDiffer() {
        assertThat(WhyAdvice.ofReason("rule", null, null, 0).remedy()).isEqualTo(
                "Leave that out. A connection that is made after that has rings.");
        assertThat(WhyAdvice.ofReason("rule", null, new WhyRule("use os tcp_client *:*", "/etc/x.conf", 3, ""), 0)
                .remedy()).contains("Change the rule");
    }

    @Test
    void bytesThatWereEarnedAreSaid() {
        assertThat(WhyAdvice.ofReason("not_earned", null, null, 2048).meaning()).contains("(2.0 KiB)");
        assertThat(WhyAdvice.ofReason("not_earned", null, null, -1).meaning()).doesNotContain("(");
    }
}
