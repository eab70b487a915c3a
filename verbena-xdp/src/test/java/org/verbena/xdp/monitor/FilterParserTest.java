// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.testkit.Seeds;

/** What is a filter, and what is said of the rest; {@link MonitorProgramTest} shows what filters mean. */
class FilterParserTest {
    private static Term term(String text) throws FilterException {
        return new FilterParser(text).parse();
    }

    private static void same(String text, String other) throws FilterException {
        assertThat(term(text)).as(text).isEqualTo(term(other));
    }

    @Test
    void wordsMayBeLeftOut() throws Exception {
        same("10.0.0.1", "src or dst host 10.0.0.1");
        same("src 10.0.0.1", "src host 10.0.0.1");
        same("host 10.0.0.1 or 10.0.0.2", "host 10.0.0.1 or host 10.0.0.2");
        same("tcp dst port 80 or 443 or 8080", "tcp dst port 80 or tcp dst port 443 or tcp dst port 8080");
        same("not src host 1.2.3.4 and 1.2.3.5", "(not src host 1.2.3.4) and src host 1.2.3.5");
        same("net 10.1.0.0/16", "net 10.1.0.0 mask 255.255.0.0");
        same("net 2001:db8::/32", "net 2001:db8:: mask ffff:ffff::");
        same("host ::ffff:10.0.0.1", "net ::ffff:a00:1/128");
        same("net ::ffff:0:0/96", "net ::ffff:0.0.0.0/96");
        same("net 1.2.3.4", "net 1.2.3.4/32");
        same("ip proto udp", "ip proto 17");
        same("tcp&&!(vlan 3)||arp", "tcp and not ( vlan 3 ) or arp");
    }

    /** As in pcap: neither of both comes first. */
    @Test
    void andDoesNotBindCloserThanOr() throws Exception {
        same("tcp or udp and vlan", "(tcp or udp) and vlan");
        same("tcp and udp or vlan", "(tcp and udp) or vlan");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "tcp prot 80 | 5 | 'and', 'or' or the end is expected, not 'prot'",
        "prot 80 | 1 | 'prot' is neither an address of IPv4 or IPv6 nor a word of filters",
        "port 80 and | 12 | an address, or a word as host, net, port, tcp, udp, icmp, ip, ip6, vlan is missing",
        "port | 5 | the value of 'port' is missing",
        "port http | 6 | the number of a port is expected, 0 to 65535, not 'http'",
        "port 65536 | 6 | not '65536'",
        "port 99999999999 | 6 | not '99999999999'",
        "portrange 10-9 | 11 | a range of ports is expected",
        "portrange 10-99999 | 11 | a range of ports is expected",
        "icmp port 3 | 6 | icmp has no ports",
        "host 10.0.0.256 | 6 | '10.0.0.256' is neither",
        "host 10.1 | 6 | '10.1' is neither",
        "host fe80::1%lo | 6 | is neither",
        "host example.org | 6 | names of hosts are not looked up",
        "ip6 host 10.0.0.1 | 10 | '10.0.0.1' is an address of IPv4, and ip6 has those of IPv6",
        "ip host ::ffff:10.0.0.1 | 9 | is an address of IPv6, and ip has those of IPv4",
        "arp host 10.0.0.1 | 10 | addresses in ARP are not looked at",
        "net 10.0.0.1/8 | 5 | '10.0.0.1/8' has bits behind its prefix of 8",
        "net 10.0.0.0/33 | 14 | the length of a prefix is 0 to 32, not '33'",
        "net 10.0.0.0/ | 14 | the length of a prefix is 0 to 32, not ''",
        "net 10.0.0.0 mask 255.0.255.0 | 19 | '255.0.255.0' is no mask of a prefix",
        "net 10.0.0.0 mask ffff:: | 19 | 'ffff::' is no mask for that address",
        "(tcp or udp | 12 | a ) is missing for the ( of column 1",
        "tcp ) | 5 | this ) closes nothing",
        "( ) | 3 | is missing",
        "tcp & udp | 5 | 'and', 'or' or the end is expected, not '&'",
        "proto 256 | 7 | the number of a protocol",
        "tcp proto 3 | 11 | 'tcp proto' does not go",
        "vlan 4096 | 6 | the number of a VLAN is expected, 0 to 4095",
        "src and tcp | 5 | 'and' is neither"})
    void whatIsWrongIsNamedWithItsColumn(String text, int column, String what) {
        assertThatThrownBy(() -> term(text)).isInstanceOfSatisfying(FilterException.class, e -> {
            assertThat(e.column()).as(e.getMessage()).isEqualTo(column);
            assertThat(e).hasMessageStartingWith("column " + column + " of the filter: ").hasMessageContaining(what);
        });
    }

    @Test
    void nestingHasABound() throws Exception {
        assertThat(term("(".repeat(99) + "tcp" + ")".repeat(99))).isEqualTo(term("tcp"));
        assertThatThrownBy(() -> term("(".repeat(100_000))).isInstanceOf(FilterException.class).hasMessageContaining(
                "column 101 ", "more than 100");
        assertThatThrownBy(() -> term("not ".repeat(101) + "tcp")).isInstanceOf(FilterException.class);
    }

    @Test
    void lengthHasABound() throws Exception {
        assertThat(term("tcp" + " or udp".repeat(999))).isNotNull();
        assertThatThrownBy(() -> term("tcp" + " or udp".repeat(1000))).isInstanceOf(FilterException.class)
                .hasMessageContaining("there are more than 1000 conditions");
    }

    /** Any text is a filter or says where it is none. */
    @Test
    void anyTextIsAnswered() {
        String[] words = {"host", "net", "port", "portrange", "proto", "src", "dst", "or", "and", "not", "(", ")", "!",
            "&&",
            "||", "&", "vlan", "ip", "ip6", "tcp", "udp", "icmp", "inbound", "10.0.0.1", "10.0.0.0/8", "::1", "1::/x",
            "80", "1-2", "mask", "255.0.0.0", "é", "", "-1", "99999999999999", "%", "/", "[::]", ":", "1.2.3"};
        Seeds.each(20_000, random -> {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(9); i >= 0; i--) {
                text.append(words[random.nextInt(words.length)]).append(random.nextInt(8) == 0 ? "" : " ");
            }
            try {
                assertThat(PacketFilter.of(text.toString())).hasToString(text.toString());
            } catch (FilterException e) {
                assertThat(e.column()).as(text.toString()).isBetween(1, text.length() + 1);
            }
        });
    }
}
