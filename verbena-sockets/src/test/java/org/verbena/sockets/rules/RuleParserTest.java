// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The grammar: what is read, what is refused and where, and that no text does anything else. */
class RuleParserTest {
    /** Every construct of libvma's own file, in words of ours. */
    private static final String LIKE_LIBVMA = """
            # a comment alone
            #application-id other *

            application-id * *\t# and one behind
            use os udp_connect *:53
            use vma tcp_client 192.168.1.0/24:*:*:*
            use os  tcp_server *:5001
            application-id tcp_lat B1
            use vma udp_receiver 224.4.4.4:9100-9199
            use os  udp_receiver *:*
            use vma udp_sender 224.4.4.0/24:*
            use os  tcp_client *:22:*:*
            use os  udp_connect 10.0.0.0/8:*:192.168.7.3:*
            application-id prog? 17
            use sdp tcp_server *:*
            use sa tcp_client 127.0.0.1:1-65535
            use * tcp_server 0.0.0.0/0:0
            log min-level 3 destination yfile /tmp/x.log
            log destination ystderr
            log destination syslog
            application-id * *
            use os tcp_client *:1""";

    private static List<Block> parse(String text) {
        return RuleParser.parse("f", text);
    }

    @Test
    void libvmaGrammarIsParsed() {
        List<Block> blocks = parse(LIKE_LIBVMA);
        assertThat(blocks).hasSize(3);
        assertThat(blocks.get(0).rules()).hasSize(4).last()
                .satisfies(r -> assertThat(r.place().line()).isEqualTo(22));
        assertThat(blocks.get(1).rules()).extracting(Rule::transport).containsExactly(Transport.STACK, Transport.OS,
                Transport.STACK, Transport.OS, Transport.OS);
        assertThat(blocks.get(2).rules()).extracting(Rule::transport).containsExactly(Transport.GONE, Transport.GONE,
                Transport.STREAM);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "#", "# only\n#", "\r\n\r\n", "use os tcp_server *:*",
        "use os tcp_server *:*\r\n",
        "use os tcp_server * : 1 - 2 : * : *", "use os tcp_server *:1 # x", "use stream tcp_client [::1]:7",
        "use stream tcp_client [2001:db8::/32]:7", "use stream tcp_client [2001:db8::]/32:7:[::]:*",
        "use stream tcp_client [::ffff:10.0.0.1]:7", "use stack tcp_server *:1 counter a.b-c_1",
        "application-id a b", "application-id [a-z]* *", "application-id [!a]x *", "application-id java 4711",
        "use stream tcp_client 10.0.0.0/8:* device roce_eth0", "use * tcp_server *:1 device roce_eth0.5 counter c # x",
        "use stream tcp_client *:1:*:2 counter c device roce_x", "use * tcp_client *:* at-once",
        "use stream tcp_server *:1 at-once counter c device roce_x # x",
        "use os tcp_server *:0-65535:1.2.3.4/0:5", "log destination stderr min-level 0", "log destination file a",
    })
    void isRead(String text) {
        assertThat(catchThrowable(() -> parse(text))).isNull();
    }

    @ParameterizedTest
    @CsvSource({"use stream tcp_client *:*,false", "use stream tcp_client *:* at-once,true",
        "use stream tcp_server *:1 counter c at-once,true"})
    void ruleSaysWhetherConnectionsTakeRingsAtOnce(String text, boolean atOnce) throws Exception {
        Rule rule = RuleParser.parseLines("f", text).getFirst();
        assertThat(rule.isAtOnce()).isEqualTo(atOnce);
        assertThat(Decision.by(rule).isAtOnce()).isEqualTo(atOnce);
        assertThat(Decision.DEFAULT.isAtOnce()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "USE os tcp_server *:1 | 1 | unknown word 'USE', here must be one of use, application-id, log",
        "use OS tcp_server *:1 | 5 | unknown word 'OS', here must be one of *, os, sa, sdp, stack, stream, vma",
        "use os tcp *:1 | 8 | unknown word 'tcp', here must be one of tcp_client, tcp_server, udp_connect,",
        "use os | 7 | the line ends, here must be one of tcp_client",
        "use os tcp_server | 18 | here must be an address",
        "use os tcp_server localhost:1 | 19 | here must be an address",
        "use os tcp_server 1.2.3:4 | 19 | four numbers",
        "use os tcp_server 1.2.3.256:4 | 25 | '256' is too large",
        "use os tcp_server 010.0.0.1:4 | 19 | '010' begins with a zero",
        "use os tcp_server 10.0.0.0/33:4 | 28 | '33' is too large",
        "use os tcp_server 10.0.0.0 | 27 | here must be ':' and a port, not the end of the line",
        "use os tcp_server *:65536 | 21 | '65536' is too large",
        "use os tcp_server *:99999999999999999999 | 21 | is too large",
        "use os tcp_server *:9-7 | 21 | ports 9-7 are none",
        "use os tcp_server *:- | 21 | here must be a port, or *, not '-'",
        "use os tcp_server *:1:* | 24 | here must be ':' and a port",
        "use os tcp_server *:1 now | 23 | unknown word 'now'",
        "use os tcp_server *:1 count x | 23 | unknown word 'count', here must be one of at-once, counter, device",
        "use os tcp_server *:1 counter | 30 | the line ends, here must be the name of a counter",
        "use os tcp_server *:1 counter 1x | 31 | '1x' is no name of a counter",
        "use os tcp_server *:1 device roce_x | 23 | a device carries 'use stream tcp_client' and",
        "use stream udp_sender *:1 device roce_x | 27 | a device carries",
        "use stream tcp_server *:1 device | 33 | the line ends, here must be the name of a device",
        "use stream tcp_server *:1 device a/b | 34 | 'a/b' is no name of a device",
        "use stream tcp_server *:1 device a device b | 36 | unknown word 'device', here must be one of at-once, counter, device",
        "use os tcp_server *:1 at-once | 23 | 'at-once' is for 'use stream tcp_client' and",
        "use stream udp_sender *:1 at-once | 27 | 'at-once' is for",
        "use stream tcp_server *:1 at-once at-once | 35 | unknown word 'at-once', here must be one of at-once",
        "use os tcp_server [::1:1 | 25 | here must be ']', not the end of the line",
        "use os tcp_server [::1/129]:1 | 24 | '129' is too large",
        "use os tcp_server [1.2.3.4]:1 | 19 | '1.2.3.4' is no IPv6 address",
        "use os tcp_server [fe80::1%eth0]:1 | 27 | here must be ']', not '%'",
        "application-id | 15 | here must be the name of a program",
        "application-id x | 17 | here must be an application's id",
        "application-id [z-a] * | 16 | '[z-a]' is no pattern",
        "log | 4 | the line ends, here must be one of destination, min-level",
        "log destination printer | 17 | unknown word 'printer', here must be one of stderr, syslog, file",
        "log min-level high | 15 | here must be a level",
    })
    void isRefusedAtItsPlace(String text, int column, String why) {
        String before = "# one\n  use os tcp_server *:1 # two\n\n";
        Throwable t = catchThrowable(() -> parse(before + text));
        assertThat(t).isInstanceOf(RuleSyntaxException.class).hasMessageContaining(why);
        RuleSyntaxException e = (RuleSyntaxException) t;
        assertThat(e).hasMessageStartingWith("f, line 4, column " + column + ": ");
        assertThat(List.of(e.line(), e.column())).containsExactly(4, column);
    }

    @Test
    void runtimeRuleIsAUseLine() {
        assertThat(RuleParser.parseRules("r", "use os tcp_client *:22")).hasSize(1);
        assertThatThrownBy(() -> RuleParser.parseRules("r", "application-id * *"))
                .hasMessage("r, line 1, column 1: unknown word 'application-id', here must be one of use");
    }

    /** A rule that was parsed is written as text that is parsed to the same. */
    @Test
    void randomRulesRoundTrip() {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 3000; i++) {
            RandomRule r = RandomRule.next(random);
            List<Block> blocks = parse(r.text());
            assertThat(blocks).as(r.text()).hasSize(1);
            Rule rule = blocks.get(0).rules().get(0);
            assertThat(rule.role()).isEqualTo(r.role());
            for (int k = 0; k < 20; k++) {
                RandomRule.Sockets s = r.sockets(random);
                assertThat(rule.matches(s.local(), s.remote())).as(r.text() + " against " + s).isEqualTo(r.matches(s));
            }
        }
    }

    /** No text does anything but be read, or be refused at a place that is in it. */
    @Test
    void invalidTextsAreRefusedAtTheirFirstError() {
        SplittableRandom random = new SplittableRandom(11);
        String alphabet = "use os vma stream tcp_client *:/[].-0123456789af#\n\t\\counter application-id log \u00e9\0";
        int refused = 0;
        for (int i = 0; i < 20000; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? LIKE_LIBVMA : RandomRule.next(random).text());
            for (int k = random.nextInt(6); k >= 0; k--) {
                int at = random.nextInt(text.length() + 1);
                switch (random.nextInt(3)) {
                    case 0 -> text.insert(at, alphabet.charAt(random.nextInt(alphabet.length())));
                    case 1 -> text.delete(at, Math.min(text.length(), at + random.nextInt(4)));
                    default -> text.insert(at, text.substring(at, Math.min(text.length(), at + random.nextInt(9))));
                }
            }
            String[] lines = text.toString().split("\n", -1);
            try {
                parse(text.toString());
            } catch (RuleSyntaxException e) {
                refused++;
                assertThat(e.line()).isBetween(1, lines.length);
                assertThat(e.column()).isBetween(1, lines[e.line() - 1].length() + 1);
            }
        }
        assertThat(refused).isGreaterThan(1000);
    }
}
