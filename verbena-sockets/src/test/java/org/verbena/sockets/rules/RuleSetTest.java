// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;

import org.junit.jupiter.api.Test;

/** Which block counts, which rule decides, and the warnings of rules that never do. */
class RuleSetTest {
    private static final InetSocketAddress PEER = new InetSocketAddress("10.1.2.3", 443);
    private static final InetSocketAddress LOCAL = new InetSocketAddress("127.0.0.1", 5001);

    private static RuleSet rules(String app, String text) {
        return RuleSet.of(RuleParser.parse("f", text), Application.of(app, "", "VMA_DEFAULT_APPLICATION_ID"));
    }

    private static Transport client(RuleSet rules) {
        return rules.decide(Role.TCP_CLIENT, null, PEER).transport();
    }

    @Test
    void noRuleMeansStream() {
        assertThat(client(rules("A", ""))).isEqualTo(Transport.STREAM);
        assertThat(rules("A", "").block()).isNull();
    }

    @Test
    void firstMatchingRuleOfTheRoleDecides() {
        RuleSet r = rules("A", "use os tcp_server *:*\nuse stream tcp_client 10.0.0.0/8:*\nuse os tcp_client *:*");
        assertThat(client(r)).isEqualTo(Transport.STREAM);
        assertThat(r.decide(Role.TCP_CLIENT, null, new InetSocketAddress("11.0.0.1", 1)).transport())
                .isEqualTo(Transport.OS);
        assertThat(r.decide(Role.TCP_SERVER, LOCAL, null).isKernel()).isTrue();
        assertThat(r.decide(Role.UDP_SENDER, null, PEER)).isSameAs(Decision.DEFAULT);
    }

    @Test
    void firstMatchingBlockDecides() {
        String text = """
                application-id org.x.Other *
                use os tcp_client *:*
                application-id Main *
                use os tcp_client *:1
                application-id * *
                use os tcp_client *:*""";
        assertThat(client(rules("org.x.Main a b", text))).isEqualTo(Transport.STREAM);
        assertThat(client(rules("org.x.Other", text))).isEqualTo(Transport.OS);
        assertThat(client(rules("/opt/app.jar", text))).isEqualTo(Transport.OS);
    }

    @Test
    void rulesBeforeTheFirstBlockApplyToAllPrograms() {
        assertThat(client(rules("A", "use os tcp_client *:443\napplication-id A *\nuse stream tcp_client *:*")))
                .isEqualTo(Transport.OS);
    }

    @Test
    void programMatchesByClassJarAndProperty() {
        assertThat(Application.of("org.x.Main a b", "", "i").names()).containsExactlyInAnyOrder("java", "org.x.Main",
                "Main");
        assertThat(Application.of("m/org.x.Main", "p", "i").names()).containsExactlyInAnyOrder("java", "org.x.Main",
                "Main", "p");
        assertThat(Application.of("/opt/a b/my-app.jar --x", "", "i").names()).containsExactlyInAnyOrder("java",
                "my-app", "my-app.jar");
        assertThat(Application.of("org.x.Main --lib /l/x.jar", "", "i").names()).containsExactlyInAnyOrder("java",
                "org.x.Main", "Main");
        assertThat(Application.of("app.jar --lib x.jar", "", "i").names()).containsExactlyInAnyOrder("java", "app",
                "app.jar");
        assertThat(Application.of("", "", "i").names()).containsExactly("java");
        for (String pattern : List.of("java", "M*", "org.?.Main", "[L-N]ain", "[!a]ain", "*")) {
            assertThat(client(rules("org.x.Main", "application-id " + pattern + " *\nuse os tcp_client *:*")))
                    .as(pattern).isEqualTo(Transport.OS);
        }
        for (String pattern : List.of("Mai", "org.x", "[!M]ain", "org?x?Mai", "\\*")) {
            assertThat(client(rules("org.x.Main", "application-id " + pattern + " *\nuse os tcp_client *:*")))
                    .as(pattern).isEqualTo(Transport.STREAM);
        }
    }

    @Test
    void idMatchesIfEqualOrStar() {
        List<Block> blocks = RuleParser.parse("f", "application-id java B1\nuse os tcp_client *:*");
        assertThat(client(RuleSet.of(blocks, Application.of("A", "", "B1")))).isEqualTo(Transport.OS);
        assertThat(client(RuleSet.of(blocks, Application.of("A", "", "B2")))).isEqualTo(Transport.STREAM);
    }

    @Test
    void otherProgramMatchesAnyNameAndId() {
        List<Block> blocks = RuleParser.parse("f", "application-id tcp_lat B1\nuse os tcp_client *:*");
        assertThat(client(RuleSet.of(blocks, Application.named("tcp_lat", null)))).isEqualTo(Transport.OS);
        assertThat(client(RuleSet.of(blocks, Application.named(null, "B1")))).isEqualTo(Transport.OS);
        assertThat(client(RuleSet.of(blocks, Application.named("tcp_lat", "B1")))).isEqualTo(Transport.OS);
        assertThat(client(RuleSet.of(blocks, Application.named(null, null)))).isEqualTo(Transport.OS);
        assertThat(client(RuleSet.of(blocks, Application.named("B1", null)))).isEqualTo(Transport.STREAM);
        assertThat(client(RuleSet.of(blocks, Application.named("tcp_lat", "B2")))).isEqualTo(Transport.STREAM);
    }

    @Test
    void ruleWithALocalAddressIsUndecidedUntilBound() {
        RuleSet r = rules("A", """
                use os tcp_client 10.0.0.0/8:*:192.0.2.0/24:*
                use os tcp_client 11.0.0.0/8:*:192.0.2.0/24:*
                use os tcp_client 10.0.0.0/8:*:*:0-65535
                use os tcp_client *:*:127.0.0.1:*""");
        assertThat(r.askingForLocal(Role.TCP_CLIENT, PEER)).extracting(x -> x.place().line()).containsExactly(1);
        assertThat(r.askingForLocal(Role.TCP_CLIENT, new InetSocketAddress("12.0.0.1", 1)))
                .extracting(x -> x.place().line()).containsExactly(4);
        assertThat(r.askingForLocal(Role.TCP_SERVER, null)).isEmpty();
    }

    @Test
    void stackRuleUsesTheKernel() {
        Decision d = rules("A", "use vma tcp_client *:*").decide(Role.TCP_CLIENT, null, PEER);
        assertThat(d.isKernel()).isTrue();
        assertThat(d.reason()).contains("stack");
    }

    @Test
    void sdpRuleMatchesNothing() {
        assertThat(client(rules("A", "use sdp tcp_client *:*\nuse os tcp_client *:*"))).isEqualTo(Transport.OS);
    }

    @Test
    void unresolvedNameMatchesStarsOnly() {
        InetSocketAddress name = InetSocketAddress.createUnresolved("x", 443);
        assertThat(rules("A", "use os tcp_client 0.0.0.0/0:443").decide(Role.TCP_CLIENT, null, name).isKernel())
                .isFalse();
        assertThat(rules("A", "use os tcp_client *:443").decide(Role.TCP_CLIENT, null, name).isKernel()).isTrue();
    }

    @Test
    void warningsNameUnusedRules() {
        assertThat(RuleWarnings.of(RuleParser.parse("f", """
                application-id * *
                use os tcp_client 10.0.0.0/8:*
                use stream tcp_client 10.1.0.0/16:80
                use stream tcp_server 10.1.0.0/16:80
                application-id A *
                use sa tcp_client *:*
                use vma tcp_client *:*"""))).satisfiesExactly(
                w -> assertThat(w).startsWith("f:3: ").contains("never used, since line 2"),
                w -> assertThat(w).startsWith("f:5: ").contains("never used, since line 1"),
                w -> assertThat(w).startsWith("f:6: ").contains("matches nothing"),
                w -> assertThat(w).startsWith("f:7: ").contains("no stack"));
        assertThat(RuleWarnings.of(RuleParser.parse("f", "use stream udp_sender *:1\nuse os udp_connect *:*")))
                .satisfiesExactly(w -> assertThat(w).startsWith("f:1: ").endsWith("datagrams are always the kernel's"));
        assertThat(RuleWarnings.of(RuleParser.parse("f", "use os tcp_client *:1\nuse os tcp_client *:2"))).isEmpty();
    }
}
